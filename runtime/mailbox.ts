/**
 * A bounded FIFO queue in front of one actor.
 *
 * Guarantees: what one sender sent stays in order; one item at a time is taken. It
 * does not persist anything: a message is acknowledged only after the turn that took
 * it is committed, and is sent again until then.
 */

import { RuntimeError } from './errors.ts';
import type { OutboxRow } from './outbox.ts';
import type { ChildResult } from './statechart.ts';
import type { TimerRow } from './timer-table.ts';

/** What can wait for an actor. */
export type Item = Message | TimersDue | ChildSettled | Takeover | Refusal | Order;

/** An event for the machine. `from` and `counter` are its identity; with counter 0 it has none. */
export interface Message {
  readonly type: 'message';
  readonly event: { readonly type: string };
  readonly from: string | undefined;
  readonly counter: number;
  /** The sender's message that has to be taken before this one; 0 for none, undefined where there is no order. */
  readonly after: number | undefined;
  readonly isHint: boolean;
  /** Set when it is for a child, by its session number. */
  readonly session?: number;
  /** Set when it is a deadline that once failed and is delivered again. */
  readonly timer?: TimerRow;
  /** Called once: after the commit, or with the reason for the refusal. */
  readonly settle: ((error?: Error) => void) | undefined;
}

/** Some deadlines of the actor have come; which, its table says when the turn begins. */
export interface TimersDue {
  readonly type: 'timersDue';
}

/** A promise, callback or observable gave something. */
export interface ChildSettled {
  readonly type: 'childSettled';
  readonly session: number;
  readonly result: ChildResult;
}

/** This node has begun to host the actor; the machine wants to know before anything else. */
export interface Takeover {
  readonly type: 'takeover';
  readonly fence: number;
}

/** A receiver refused a message of the actor for good, and the machine wants to know. */
export interface Refusal {
  readonly type: 'refusal';
  /** What the machine takes: `message.refused`. */
  readonly event: { readonly type: string };
  /** Leaves the outbox with the turn that takes the event. */
  readonly row: OutboxRow;
  /** Called once that turn is durable. */
  readonly noted: () => void;
  /** Called instead when the actor has ended meanwhile: the message is undelivered. */
  readonly giveUp: () => void;
}

export type OrderName = 'revive' | 'end' | 'forget';

/** What embedding code wants done with the actor itself; see orders.ts. */
export interface Order {
  readonly type: 'order';
  readonly order: OrderName;
  /** As that of a message. */
  readonly settle: (error?: Error) => void;
}

/** Tells whoever waits for the item, if anybody does, why nothing came of it. */
export function refuseItem(item: Item, refusal: Error): void {
  if (item.type === 'message' || item.type === 'order') item.settle?.(refusal);
}

/** A message for a mailbox of this node. */
export function message(event: { readonly type: string }, parts: Partial<Message> = {}): Message {
  const { from, counter = 0, after, isHint = false, settle, timer, session } = parts;
  const made: Message = { type: 'message', event, from, counter, after, isHint, settle };
  if (session !== undefined) return { ...made, session };
  return timer === undefined ? made : { ...made, timer };
}

export class Mailbox {
  size = 0;
  #items: Array<Item | undefined> = [];
  #head = 0;

  push(item: Item): void {
    this.#items.push(item);
    this.size += 1;
  }

  /** Ahead of everything that waits. */
  pushFirst(item: Item): void {
    this.#items.splice(this.#head, 0, item);
    this.size += 1;
  }

  /** A hint takes the place of the last item when that is an older hint of its sender and type. */
  replaceHint(hint: Message): boolean {
    const last = this.#items.at(-1);
    if (
      last?.type !== 'message' ||
      !last.isHint ||
      last.event.type !== hint.event.type ||
      last.from !== hint.from
    )
      return false;
    const what = 'A newer hint of its sender took its place.';
    last.settle?.(new RuntimeError('MAILBOX_FULL', what));
    this.#items[this.#items.length - 1] = hint;
    return true;
  }

  shift(): Item | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    this.size -= 1;
    if (this.size === 0) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Everything that waits, first come first; for the few who must look. */
  *[Symbol.iterator](): Iterator<Item> {
    for (let index = this.#head; index < this.#items.length; index += 1)
      yield this.#items[index] as Item;
  }
}
