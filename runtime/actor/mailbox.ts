/**
 * Mailbox: a bounded queue in front of one actor.
 *
 * Guarantees: what one sender sent stays in order; one item at a time is taken, first come first served,
 * except that new work, as its kind defines it, comes after everything else. New work does not wait for ever:
 * it has its turn after a bounded number of others. It does not persist anything: a message is acknowledged
 * only after the turn that took it is committed, and is sent again until then.
 */

import { RuntimeError } from '../base/errors.ts';
import { knob } from '../base/knob.ts';
import { SPAWN_EVENT } from '../machine.ts';
import type { ChildResult } from '../statechart.ts';
import type { Outbox, OutboxRow } from './outbox.ts';
import { Queue } from './queue.ts';
import type { TimerRow } from './timer-table.ts';

/** Items that can wait for an actor. */
export type Item = Message | TimersDue | ChildSettled | Takeover | Refusal | Order;

/** An event for the machine. `from` and `counter` are its identity; with counter 0 it has none. */
export interface Message {
  readonly type: 'message';
  readonly event: { readonly type: string };
  readonly from: string | undefined;
  readonly counter: number;
  /** The sender's message that has to be taken before this one; 0 for none, undefined where there is no order. */
  readonly after: number | undefined;
  /** Outbox that it stands in, of a sender on this node. Its turn may not be durable yet. */
  readonly origin: Outbox | undefined;
  readonly isHint: boolean;
  /** Time that it had waited when it was sent, where that is worth telling. */
  readonly ageMs?: number | undefined;
  /** Set when it is for a child, by its session number. */
  readonly session?: number;
  /** Set when it is a deadline that once failed and is delivered again. */
  readonly timer?: TimerRow;
  /** Called once: after the commit, or with the reason for the refusal. */
  readonly settle: ((error?: Error) => void) | undefined;
}

/** Item: some deadlines of the actor have come; its table says which, when the turn begins. */
export interface TimersDue {
  readonly type: 'timersDue';
}

/** A promise, callback or observable gave something. */
export interface ChildSettled {
  readonly type: 'childSettled';
  readonly session: number;
  readonly result: ChildResult;
}

/** Item: this node has begun to host the actor; the machine wants to know before anything else. */
export interface Takeover {
  readonly type: 'takeover';
  readonly fence: number;
}

/** A receiver refused a message of the actor for good, and the machine wants to know. */
export interface Refusal {
  readonly type: 'refusal';
  /** Event that the machine takes: `message.refused`. */
  readonly event: { readonly type: string };
  /** Leaves the outbox with the turn that takes the event. */
  readonly row: OutboxRow;
  /** Called once that turn is durable. */
  readonly noted: () => void;
  /** Called instead when the actor has ended meanwhile: the message is undelivered. */
  readonly giveUp: () => void;
}

export type OrderName = 'revive' | 'rearm' | 'moveDeadline' | 'end' | 'forget';

/** An armed deadline by its id, and the moment for which it is to be armed. */
export interface MovedDeadline {
  readonly id: string;
  readonly dueAt: number;
}

/** Order of embedding code about the actor itself; see orders.ts. */
export interface Order {
  readonly type: 'order';
  readonly order: OrderName;
  /** Of `moveDeadline`. */
  readonly deadline?: MovedDeadline | undefined;
  /** Settles as that of a message does. */
  readonly settle: (error?: Error) => void;
}

/** Tells the caller that waits for the item, if there is one, why nothing came of it. */
export function refuseItem(item: Item, refusal: Error): void {
  if (item.type === 'message' || item.type === 'order') item.settle?.(refusal);
}

/** A message for a mailbox of this node. */
export function message(event: { readonly type: string }, parts: Partial<Message> = {}): Message {
  const { from, counter = 0, after, origin, isHint = false, settle, timer, session, ageMs } = parts;
  const made: Message = { type: 'message', event, from, counter, after, origin, isHint, settle };
  if (ageMs !== undefined && ageMs > 0) return { ...made, ageMs };
  if (session !== undefined) return { ...made, session };
  return timer === undefined ? made : { ...made, timer };
}

/** Message as the machine takes it, once it is checked: with the age that it has. */
export function aged(message: Message): Message {
  const { ageMs, event } = message;
  if (ageMs === undefined) return message;
  return { ...message, event: { ...event, ageMs } as typeof event };
}

/** Urgency of what waits for an actor: a deadline that is due, a message, new work. */
export type Urgency = 0 | 1 | 2;

/** Turns taken ahead of somebody less urgent before it has one too. */
export const TURNS_AHEAD_MAX = knob('turnsAheadMax', 16);

const NOTHING_NEW: ReadonlySet<string> = new Set();

export class Mailbox {
  readonly #newWork: ReadonlySet<string>;
  readonly #items = new Queue<Item>();
  /** New work, and what its senders have sent after it; made when there is some. */
  #later: Later | undefined;
  /** Items that say that a deadline is due, and those that are new work. */
  #due = 0;
  #new = 0;
  /** Count of other items taken since the last of the later ones, while those waited. */
  #passed = 0;

  /** Takes the types of events that are new work. */
  constructor(newWork: ReadonlySet<string> = NOTHING_NEW) {
    this.#newWork = newWork;
  }

  get size(): number {
    return this.#items.size + (this.#later?.size ?? 0);
  }

  /** Urgency of the most urgent item. One that waits behind others of its sender lends them its own. */
  get urgency(): Urgency {
    if (this.#due > 0) return 0;
    return this.size > this.#new ? 1 : 2;
  }

  /** Number of items in the queue that the message would join: new work leaves room for the rest. */
  sizeFor(message: Message): number {
    return this.#isLater(message) ? (this.#later?.size ?? 0) : this.#items.size;
  }

  push(item: Item): void {
    this.#count(item, 1);
    if (!this.#isLater(item)) {
      this.#items.push(item);
      return;
    }
    this.#later ??= new Later();
    this.#later.push(item);
  }

  /** Ahead of everything that waits. */
  pushFirst(item: Item): void {
    this.#count(item, 1);
    this.#items.pushFirst(item);
  }

  /** A hint takes the place of the last item when that is an older hint of its sender and type. */
  replaceHint(hint: Message): boolean {
    const last = this.#isLater(hint) ? this.#later?.last : this.#items.last;
    if (
      last?.type !== 'message' ||
      !last.isHint ||
      last.event.type !== hint.event.type ||
      last.from !== hint.from
    )
      return false;
    const what = 'A newer hint of its sender took its place.';
    last.settle?.(new RuntimeError('MAILBOX_FULL', what));
    if (this.#isLater(hint)) this.#later?.replaceLast(hint);
    else this.#items.replaceLast(hint);
    return true;
  }

  shift(): Item | undefined {
    const item = this.#isLaterNext() ? this.#later?.shift() : this.#items.shift();
    if (item !== undefined) this.#count(item, -1);
    return item;
  }

  /** Everything that waits, as it will be taken but for the turns that new work has in between. */
  *[Symbol.iterator](): Iterator<Item> {
    yield* this.#items;
    if (this.#later !== undefined) yield* this.#later;
  }

  #isLaterNext(): boolean {
    if (this.#later === undefined || this.#later.size === 0) return false;
    const isNext = this.#items.size === 0 || this.#passed >= TURNS_AHEAD_MAX.value;
    this.#passed = isNext ? 0 : this.#passed + 1;
    return isNext;
  }

  #isLater(item: Item): boolean {
    if (item.type !== 'message' && item.type !== 'order') return false;
    if (this.#later?.hasOf(senderOf(item)) === true) return true;
    // An actor that is yet to be spawned takes nothing before that.
    return this.#isNew(item) && (item as Message).event.type !== SPAWN_EVENT;
  }

  #isNew(item: Item): boolean {
    return item.type === 'message' && this.#newWork.has(item.event.type);
  }

  #count(item: Item, by: 1 | -1): void {
    if (item.type === 'timersDue') this.#due += by;
    else if (this.#isNew(item)) this.#new += by;
  }
}

/** Calls of this process have one order among themselves. */
const senderOf = (item: Item): string | undefined =>
  item.type === 'message' ? item.from : undefined;

/** New work of one actor in order, and what its senders have sent after it. */
class Later extends Queue<Item> {
  /** Number of waiting items of each sender. */
  readonly #bySender = new Map<string | undefined, number>();

  hasOf(sender: string | undefined): boolean {
    return this.#bySender.has(sender);
  }

  override push(item: Item): void {
    const sender = senderOf(item);
    this.#bySender.set(sender, (this.#bySender.get(sender) ?? 0) + 1);
    super.push(item);
  }

  override shift(): Item | undefined {
    const item = super.shift();
    if (item === undefined) return undefined;
    const sender = senderOf(item);
    const left = (this.#bySender.get(sender) as number) - 1;
    if (left > 0) this.#bySender.set(sender, left);
    else this.#bySender.delete(sender);
    return item;
  }
}
