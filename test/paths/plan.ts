/**
 * Plan of a machine, from which its paths can be found: who is spawned, what may be said to it, which of
 * its messages may be refused, and what of its context matters.
 */

import type { AnyStateMachine, EventObject } from 'xstate';
import type { ErrorCode } from '../../runtime/base/errors.ts';

/** An event that is taken late: time has passed while it waited, and no deadline has been taken yet. */
export interface LateEvent {
  readonly event: EventObject;
  readonly lateMs: number;
}

export interface PathPlan {
  readonly machine: AnyStateMachine;
  /** Whose paths are looked for, by a name of one's own. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /**
   * Every event that is worth a try in this situation, of each type enough to take every guard both
   * ways. Deadlines, restarts and refusals are not among them.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the context is that of the machine.
  readonly events: (context: any, at: number) => readonly EventObject[];
  /** Events that a process takes late because it was held up. */
  // biome-ignore lint/suspicious/noExplicitAny: the context is that of the machine.
  readonly late?: (context: any, at: number) => readonly LateEvent[];
  /** Messages of the machine that their receivers may refuse for good: the type, and why. */
  readonly refusals?: ReadonlyArray<readonly [eventType: string, code: ErrorCode]>;
  /**
   * The part of the context that guards look at, as data without times and without counters that
   * only rise: situations with the same key, state and order of deadlines count as one.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the context is that of the machine.
  readonly key: (context: any, at: number) => unknown;
  /**
   * What no path can reach, and why: a state with all that would begin in it, an event type with all
   * that it would set off, a transition or a pair by its name.
   */
  readonly unreachable?: Readonly<Record<string, string>>;
  /** Steps of a path, at most. Default 12. */
  readonly stepsMax?: number;
  /** Situations looked at for one input, at most. Default 3,000. */
  readonly situationsMax?: number;
}

export type PathStep =
  /** Somebody says something; `lateMs` as in `LateEvent`. */
  | { readonly type: 'send'; readonly event: EventObject; readonly lateMs: number }
  /** Time passes until the next deadline, and whatever is due then fires. */
  | { readonly type: 'wait' }
  /** The process dies and comes back. */
  | { readonly type: 'restart' }
  /** The last message of that type that nobody has answered is refused for good. */
  | { readonly type: 'refuse'; readonly eventType: string; readonly code: ErrorCode };

/** A step in words. */
export function wordsOf(step: PathStep): string {
  switch (step.type) {
    case 'send': {
      const late = step.lateMs > 0 ? `, taken ${step.lateMs} ms late` : '';
      return `send ${JSON.stringify(step.event)}${late}`;
    }
    case 'wait':
      return 'wait for the next deadline';
    case 'restart':
      return 'restart';
    case 'refuse':
      return `refuse its ${step.eventType} with ${step.code}`;
  }
}
