/**
 * Undelivered messages: events that nobody could take, kept for people to look at,
 * to deliver again or to drop. They are written in the same commit as the turn that
 * gave them up, so none is lost between the two.
 */

import type { ErrorShape } from './errors.ts';

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

export function undeliveredRow(undelivered: Undelivered): string {
  return JSON.stringify(undelivered);
}

export function parseUndelivered(row: string): Undelivered {
  return JSON.parse(row) as Undelivered;
}
