/**
 * Arming of deadlines that the states of an actor wait for and its record lacks.
 *
 * XState arms a deadline when its state is entered, and never again: what a fault has taken out of the record
 * would never come. One that counts from a moment in the context is due when it would have been; one of a
 * fixed length begins again. A deadline that is there is left as it is.
 */

import type { Actor } from '../actor.ts';
import type { Tree } from '../statechart.ts';
import { activeDelays, delayMsOf, liveMachines } from '../statechart.ts';

export function rearm({ tree, timers }: Actor, at: number): void {
  for (const { session, snapshot } of liveMachines((tree as Tree).snapshot))
    for (const { id, delay } of activeDelays(snapshot)) {
      if (timers.rows.some((row) => row.id === id && row.session === session)) continue;
      const event = { type: id };
      const delayMs = delayMsOf(snapshot, delay, { ...event, at });
      if (delayMs === undefined) continue;
      const where = { session, target: session, to: undefined, isHint: false };
      timers.apply({ type: 'arm', id, event, delayMs, ...where }, at);
    }
}
