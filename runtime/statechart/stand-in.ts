/**
 * Stand-ins for children that act by themselves: promises, callbacks, observables.
 *
 * A stand-in holds the child's place in its parent's snapshot and never runs anything. Being
 * started, told or stopped becomes an effect; the result of the real one arrives as an `Outcome`,
 * which no machine can make or forward, so results cannot be forged.
 */

import type { EventObject } from 'xstate';
import type { ChildLogic, ChildSeat, Effect, StartChildEffect } from './effect.ts';
import { type PendingRef, takeRefs } from './xstate-refs.ts';

/**
 * Outcome of a promise, callback or observable. `event` is what a callback sent back, `stopFailed` what one
 * threw while it was stopped: that error is for its parent, since it is gone itself.
 */
export type ChildResult =
  | { readonly type: 'done'; readonly output: unknown }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'next'; readonly context: unknown }
  | { readonly type: 'event'; readonly event: EventObject }
  | { readonly type: 'stopFailed'; readonly id: string; readonly error: unknown };

/** The event that carries a result to its stand-in. A copy of one is not one. */
export class Outcome {
  readonly type = 'escapement.outcome';
  readonly result: ChildResult;

  constructor(result: ChildResult) {
    this.result = result;
  }
}

/** The actor in which a stand-in lives. */
interface Seat extends ChildSeat {
  getSnapshot(): { readonly input?: unknown };
}

export interface StandIn {
  /** The effect that runs the real one. */
  startEffect(seat: Seat): StartChildEffect;
}

interface StandInScope {
  readonly self: Seat;
  readonly system: {
    readonly effects: Effect[];
    readonly children: {
      readonly restoring: object | undefined;
      readonly pendingRefs: PendingRef[];
    };
  };
}

interface StandInSnapshot {
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly output: unknown;
  readonly error: unknown;
  readonly input?: unknown;
  readonly context?: unknown;
}

/** XState actor logic in the place of `logic`; one serves all children of that logic. */
export function standInFor(logic: ChildLogic): StandIn {
  const startEffect = (seat: Seat): StartChildEffect => ({
    type: 'startChild',
    session: Number(seat.sessionId),
    id: seat.id,
    logic,
    input: seat.getSnapshot().input,
    seat,
  });
  return {
    startEffect,
    getInitialSnapshot: (_: StandInScope, input: unknown): StandInSnapshot => ({
      status: 'active',
      output: undefined,
      error: undefined,
      input,
    }),
    start(_: StandInSnapshot, { self, system }: StandInScope): void {
      if (system.children.restoring === undefined) system.effects.push(startEffect(self));
    },
    transition(
      snapshot: StandInSnapshot,
      event: EventObject | Outcome,
      { self, system }: StandInScope,
    ): StandInSnapshot {
      if (event instanceof Outcome) return withResult(snapshot, event.result);
      const session = Number(self.sessionId);
      if (event.type === 'xstate.stop') {
        system.effects.push({ type: 'stopChild', session });
        return { ...snapshot, status: 'stopped', input: undefined };
      }
      system.effects.push({ type: 'tellChild', session, event });
      return snapshot;
    },
    getPersistedSnapshot: (snapshot: StandInSnapshot) => snapshot,
    restoreSnapshot(snapshot: StandInSnapshot, { system }: StandInScope): StandInSnapshot {
      takeRefs(snapshot, {}, system.children.pendingRefs);
      return snapshot;
    },
  } as StandIn;
}

function withResult(snapshot: StandInSnapshot, result: ChildResult): StandInSnapshot {
  switch (result.type) {
    case 'done':
      return { ...snapshot, status: 'done', output: result.output, input: undefined };
    case 'error':
      return { ...snapshot, status: 'error', error: result.error, input: undefined };
    case 'next':
      return { ...snapshot, context: result.context };
    case 'event':
    case 'stopFailed':
      return snapshot;
  }
}
