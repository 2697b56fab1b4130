/** Result of one turn, which its commit releases. */

import type { AnyMachineSnapshot } from 'xstate';
import type { RuntimeError } from '../base/errors.ts';
import type { Effect, SendEffect } from '../statechart.ts';
import type { Actor, PendingEffect } from './actor.ts';
import type { ChildRetry } from './child-tries.ts';
import { LEADERSHIP_ACQUIRED } from './event-names.ts';
import type { Item } from './mailbox.ts';
import type { OutboxRow } from './outbox.ts';
import type { TimerRow } from './timer-table.ts';

export interface Turn {
  readonly actor: Actor;
  readonly item: Item;
  readonly at: number;
  /** Type of the event that was taken. */
  readonly event: string;
  /** Number of this turn of the actor, and its state and status afterwards. */
  readonly number: number;
  readonly state: string;
  readonly status: Actor['status'];
  /** The deadlines afterwards; copied only while somebody inspects. */
  readonly timers: readonly TimerRow[];
  /** Undefined when no event reached the machine: a duplicate, or a spawn of what is alive already. */
  readonly snapshot: AnyMachineSnapshot | undefined;
  /** Effects that leave the node beside the outbox, in the machine's order. */
  readonly effects: readonly Effect[];
  readonly sent: readonly OutboxRow[];
  readonly pending: readonly PendingEffect[];
  readonly failure: RuntimeError | undefined;
  /** Set when the item only asks: the performer that answers it. */
  readonly question?: string | undefined;
  /** The child that is run again because its end could not be taken. */
  readonly retry?: ChildRetry | undefined;
}

/** Requests of a turn beside deadlines; undefined where there is nothing. */
export interface Asked {
  readonly leaving: readonly Effect[] | undefined;
  readonly sent: readonly OutboxRow[] | undefined;
  readonly pending: readonly PendingEffect[] | undefined;
}

export const NOTHING: readonly never[] = [];

/** A turn that took nothing and only settles its item, in the order of the commits. */
export function emptyTurn(actor: Actor, item: Item, at: number, failure?: RuntimeError): Turn {
  const { turns: number, state, status } = actor;
  const none = {
    timers: NOTHING,
    snapshot: undefined,
    effects: NOTHING,
    sent: NOTHING,
    pending: NOTHING,
  };
  return { actor, item, at, event: '', number, state, status, ...none, failure };
}

/** Shows to others, from now on, what the turn has made of its actor. */
export function noteCommitted({ actor, snapshot, number, at }: Turn): void {
  actor.committed = snapshot;
  actor.committedTurn = number;
  actor.committedAt = at;
}

export function eventType(item: Item, timer: TimerRow | undefined): string {
  switch (item.type) {
    case 'message':
    case 'refusal':
      return item.event.type;
    case 'timersDue':
      return timer?.event.type ?? 'timer';
    case 'childSettled':
      return item.result.type === 'event' ? item.result.event.type : `child ${item.result.type}`;
    case 'takeover':
      return LEADERSHIP_ACQUIRED;
    case 'order':
      return `escapement.${item.order}`;
  }
}

/** The event as the machine takes it. A copy that begins with `at` is made several times as fast as one that ends with it. */
export function stamped(
  event: { readonly type: string },
  at: number,
): { type: string; at: number } {
  const taken = { at, ...event };
  taken.at = at;
  return taken;
}

/** Goes through the outbox: everything but hints, and answers, which nobody waits for after a crash. */
export function isKept(effect: SendEffect): boolean {
  return !effect.isHint && !effect.to.startsWith('ask/');
}
