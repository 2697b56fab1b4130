/**
 * Retries of promises, callbacks and observables whose end no turn could take: one that
 * rejects where no `onError` is, one whose `onDone` throws.
 *
 * Such a child still runs by the record, so it is run again: after a pause that doubles, and
 * `attemptsMax` times in all; then its actor is stopped. The pause is a deadline of the actor and
 * the count is in its record, so neither a crash nor a takeover runs anything sooner or more often.
 */

import { messageOf, type RuntimeError } from '../base/errors.ts';
import type { Effect, StartChildEffect, Tree } from '../statechart.ts';
import type { Actor } from './actor.ts';
import type { Item } from './mailbox.ts';
import type { Supervision } from './supervision-options.ts';

/** The deadline at which a child is run again. */
export const RUN_AGAIN = 'escapement.runAgain';

/** A child that is run again: which, how often it has failed, and when. */
export interface ChildRetry {
  readonly child: string;
  readonly attempt: number;
  readonly dueAt: number;
}

/** The session of the child whose end the item brings. */
export function endedSession(item: Item): number | undefined {
  const isEnd =
    item.type === 'childSettled' && (item.result.type === 'done' || item.result.type === 'error');
  return isEnd ? item.session : undefined;
}

/** True if the child may be run once more after this failure. */
export function hasAttemptsLeft({ tries, kind }: Actor, session: number): boolean {
  return (tries.get(session) ?? 0) + 1 < kind.supervision.attemptsMax;
}

/** Plans another run of a child that has failed; undefined when it does not run by the record. */
export function planRetry(
  actor: Actor,
  session: number,
  failed: number,
  at: number,
  failure: RuntimeError,
): ChildRetry | undefined {
  const running = (actor.tree as Tree).runningChildren().find((each) => each.session === session);
  if (running === undefined) return undefined;
  actor.tries.set(session, failed);
  const delayMs = pauseMs(failed, actor.kind.supervision);
  const event = { type: RUN_AGAIN, child: running.id, error: messageOf(failure.cause ?? failure) };
  actor.timers.apply(
    {
      type: 'arm',
      session,
      id: RUN_AGAIN,
      event,
      delayMs,
      target: session,
      to: undefined,
      isHint: false,
    },
    at,
  );
  return { child: running.id, attempt: failed, dueAt: at + delayMs };
}

/** A child that was stopped, or whose end was taken, is owed no other run. */
export function dropRetry({ tries, timers }: Actor, session: number): void {
  if (tries.delete(session)) timers.apply({ type: 'cancel', session, id: RUN_AGAIN }, 0);
}

/** Runs a child again whose pause is over; false when nothing of it runs by the record. */
export function runAgain(tree: Tree, session: number, effects: Effect[]): boolean {
  const running = tree.runningChildren().find((each) => each.session === session);
  if (running !== undefined) effects.push(running);
  return running !== undefined;
}

/** The promises, callbacks and observables that should run now: all but those that pause. */
export function childrenToRun({ tree, timers, status }: Actor): StartChildEffect[] {
  if (status !== 'active') return [];
  const pausing = new Set(
    timers.rows.filter(({ id }) => id === RUN_AGAIN).map(({ session }) => session),
  );
  return (tree?.runningChildren() ?? []).filter(({ session }) => !pausing.has(session));
}

function pauseMs(failed: number, { pauseMinMs, pauseMaxMs }: Supervision): number {
  return Math.min(pauseMaxMs, pauseMinMs * 2 ** Math.min(failed - 1, 20));
}
