/**
 * History rows: what happened to an actor, turn by turn, for people.
 *
 * A row is written in the same commit as the turn it tells of. It is never replayed:
 * state comes back from the record alone. The state is told only where it changed.
 */

import type { ErrorShape, RuntimeError } from '../base/errors.ts';
import { inOnePiece, timeText } from '../base/json-cache.ts';
import type { Effect } from '../statechart.ts';
import type { Actor, PendingEffect } from './actor.ts';
import type { Item } from './mailbox.ts';
import type { OutboxRow } from './outbox.ts';
import type { TimerRow } from './timer-table.ts';
import { eventType } from './turn-result.ts';

export interface HistoryRow {
  readonly turn: number;
  /** Time when the turn began. */
  readonly at: number;
  /** Type of the event that was taken. */
  readonly event: string;
  /** Moment that a deadline was armed for. */
  readonly dueAt?: number;
  /** Identity of the message: the sender and its counter. */
  readonly from?: string;
  readonly counter?: number;
  /** The state afterwards, where it changed. */
  readonly state?: string;
  /** Requests of the turn, in words such as `send order.paid to mail/42@A`, or `3 × send …`. */
  readonly did?: readonly string[];
  /** Reason why the turn failed; then nothing else of it happened. */
  readonly error?: ErrorShape;
}

export function parseHistoryRow(text: string): HistoryRow {
  return JSON.parse(text) as HistoryRow;
}

/** Facts that a turn tells beside its actor, event and time. */
export interface HistoryFacts {
  readonly timer: TimerRow | undefined;
  /** The state as text when it changed. */
  readonly state?: string | undefined;
  readonly did?: readonly string[] | undefined;
  readonly failure?: RuntimeError | undefined;
}

/** The row as text, put together by hand: this runs once per turn. */
export function historyText(actor: Actor, item: Item, at: number, facts: HistoryFacts): string {
  const { kind } = actor;
  const { timer, state, did, failure } = facts;
  let text = `{"turn":${actor.turns},"at":${timeText(at)},"event":${kind.quoted(eventType(item, timer))}`;
  if (timer !== undefined) text += `,"dueAt":${timer.dueAt}`;
  if (item.type === 'message' && item.from !== undefined) {
    text += `,"from":${kind.quoted(item.from)},"counter":${item.counter}`;
  }
  if (state !== undefined) text += `,"state":${kind.quoted(state)}`;
  if (did !== undefined) text += `,"did":${JSON.stringify(did)}`;
  if (failure !== undefined) text += `,"error":${JSON.stringify(failure)}`;
  return inOnePiece(`${text}}`);
}

/** Tells what a turn asked for, in words; undefined when it asked for nothing that leaves. */
export function tell(
  sent: readonly OutboxRow[] | undefined,
  leaving: readonly Effect[] | undefined,
  pending: readonly PendingEffect[] | undefined,
): string[] | undefined {
  if (sent === undefined && leaving === undefined && pending === undefined) return undefined;
  const did = sent === undefined ? [] : tellSent(sent);
  for (const { name } of pending ?? []) did.push(`do ${name}`);
  for (const effect of leaving ?? []) {
    if (effect.type === 'send')
      did.push(`${effect.isHint ? 'hint' : 'answer'} ${effect.event.type} to ${effect.to}`);
    else if (effect.type === 'action') did.push(`do ${effect.name}`);
    else if (effect.type === 'emit') did.push(`emit ${effect.event.type}`);
    else if (effect.type === 'startChild') did.push(`start ${effect.id}`);
  }
  return did;
}

/** A batch to one receiver is told in one line: every row of the history is kept. */
function tellSent(sent: readonly OutboxRow[]): string[] {
  const did: string[] = [];
  for (let index = 0, next = 0; index < sent.length; index = next) {
    const { to, event } = sent[index] as OutboxRow;
    next = index + 1;
    while (sent[next]?.to === to && sent[next]?.event.type === event.type) next += 1;
    const times = next - index === 1 ? '' : `${next - index} × `;
    did.push(`${times}send ${event.type} to ${to}`);
  }
  return did;
}
