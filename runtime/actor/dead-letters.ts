/**
 * Dead letters, or undelivered messages: events that nobody could take, kept for people to look at,
 * to deliver again or to drop. They are written in the same commit as the turn that gave them up,
 * so none is lost between the two.
 */

import { type ErrorShape, messageOf } from '../base/errors.ts';
import type { Random } from '../ports/random.ts';
import type { PendingEffect } from './actor.ts';
import type { TimerRow } from './timer-table.ts';

export interface Undelivered {
  /** Begins with when it was made; two of one millisecond are in the order of the list. */
  readonly id: string;
  readonly at: number;
  readonly to: string;
  readonly event: { readonly type: string };
  /** The sending actor, where there was one. */
  readonly from: string | undefined;
  readonly error: ErrorShape;
  /** The stack of what was thrown, where something was. */
  readonly cause?: string | undefined;
  /** Child that it was for, by its session number; undefined for the actor itself. */
  readonly session?: number;
  /** The deadline that it was, so that it can come again as one. */
  readonly timer?: TimerRow;
  /** The durable effect that it was, so that it can be tried again as one. */
  readonly effect?: PendingEffect;
}

/** Builds a dead letter as stores take it. */
export function newUndelivered(
  what: Omit<Undelivered, 'id' | 'at'>,
  at: number,
  random: Random,
): readonly [id: string, row: string] {
  const id = `${at.toString(36).padStart(9, '0')}-${random.id().slice(0, 8)}`;
  const undelivered: Undelivered = { id, at, ...what };
  return [id, textOf(undelivered)];
}

/** An event that code of this process sent may hold what JSON cannot; then its type is kept. */
function textOf(undelivered: Undelivered): string {
  try {
    return JSON.stringify(undelivered);
  } catch (thrown) {
    const event = { type: undelivered.event.type, notKept: messageOf(thrown) };
    return JSON.stringify({ ...undelivered, event });
  }
}

export function parseUndelivered(row: string): Undelivered {
  return JSON.parse(row) as Undelivered;
}
