/**
 * Undelivered messages: events that nobody could take, kept for people to look at,
 * to deliver again or to drop. They are written in the same commit as the turn that
 * gave them up, so none is lost between the two.
 */

import type { ErrorShape } from './errors.ts';
import type { Random } from './random.ts';

export interface Undelivered {
  /** Rises with time, so that the list is in order. */
  readonly id: string;
  readonly at: number;
  readonly to: string;
  readonly event: { readonly type: string };
  /** The sending actor, where there was one. */
  readonly from: string | undefined;
  readonly error: ErrorShape;
}

/** As stores take it. */
export function newUndelivered(
  what: Omit<Undelivered, 'id' | 'at'>,
  at: number,
  random: Random,
): readonly [id: string, row: string] {
  const id = `${at.toString(36).padStart(9, '0')}-${random.id().slice(0, 8)}`;
  const undelivered: Undelivered = { id, at, ...what };
  return [id, JSON.stringify(undelivered)];
}

export function parseUndelivered(row: string): Undelivered {
  return JSON.parse(row) as Undelivered;
}
