/** What one turn leaves behind for its commit to release. */

import type { AnyMachineSnapshot } from 'xstate';
import type { Actor, PendingEffect } from './actor.ts';
import type { ChildRetry } from './child-tries.ts';
import type { Effect, SendEffect } from './effect.ts';
import type { RuntimeError } from './errors.ts';
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
  /** Which turn of the actor it was, and its state and status afterwards. */
  readonly number: number;
  readonly state: string;
  readonly status: Actor['status'];
  /** The deadlines afterwards; copied only while somebody inspects. */
  readonly timers: readonly TimerRow[];
  /** Undefined when no event reached the machine: a duplicate, or a birth of what is alive already. */
  readonly snapshot: AnyMachineSnapshot | undefined;
  /** What leaves the node beside the outbox, in the machine's order. */
  readonly effects: readonly Effect[];
  readonly sent: readonly OutboxRow[];
  readonly pending: readonly PendingEffect[];
  readonly failure: RuntimeError | undefined;
  /** The child that is run again because its end could not be taken. */
  readonly retry?: ChildRetry | undefined;
}

/** What a turn asked for beside deadlines; undefined where there is nothing. */
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

/** Goes through the outbox: everything but hints, and answers, which nobody waits for after a crash. */
export function isKept(effect: SendEffect): boolean {
  return !effect.isHint && !effect.to.startsWith('ask/');
}
