/**
 * Which messages an actor has already taken, by sender: what makes delivery
 * effectively once, and in order.
 *
 * A message of an actor names the one before it that its sender has not seen answered:
 * it is taken when that one is, so what was taken last stands for all before it. The
 * repeatable calls of code (see `Identity` in calls.ts) have no order; of these the
 * highest contiguous counter is kept and a window of 64 above it. The marks are part of
 * the receiver's record and so committed together with the effect of the message.
 *
 * Senders unheard of for the retention time are forgotten; at most `sendersMax` are
 * remembered: a further one is refused, never let in unmarked. An actor of the same place
 * is forgotten sooner: `sweep` looks for those that durably owe the receiver nothing.
 */

import { knob } from './knob.ts';
import { timeText } from './text.ts';

/** Counters above the contiguous one that are remembered of a sender without order. */
export const WINDOW_MAX = knob('inboxWindowMax', 64);

/** With no more senders than this an inbox costs nothing worth saving. */
const MARKS_KEPT = knob('marksKept', 16);

/** Senders that a sweep looks at, whatever the size of the inbox. */
const SWEPT_MIN = knob('marksSweptMin', 4);

export interface InboxLimits {
  readonly sendersMax: number;
  readonly dedupRetentionMs: number;
}

interface Mark {
  high: number;
  above: number[];
  /** When the sender was heard last, and when that last moved its mark to the end. */
  at: number;
  movedAt: number;
  /** The sender's name as JSON, made once. */
  readonly name: string;
}

/** As stored: `{ sender: [high, at, …above] }`. */
export type StoredInbox = Readonly<Record<string, readonly number[]>>;

export class Inbox {
  readonly #marks = new Map<string, Mark>();
  /** Where the next sweep goes on. */
  #round: Iterator<string> | undefined;

  static restore(stored: StoredInbox | undefined): Inbox {
    const inbox = new Inbox();
    if (stored === undefined) return inbox;
    const rows = Object.entries(stored).sort(([, a], [, b]) => (a[1] ?? 0) - (b[1] ?? 0));
    for (const [sender, [high = 0, at = 0, ...above]] of rows)
      inbox.#marks.set(sender, { high, at, movedAt: at, above, name: JSON.stringify(sender) });
    return inbox;
  }

  get size(): number {
    return this.#marks.size;
  }

  /** True with so many senders that looking for some to forget is worth it. */
  get isCrowded(): boolean {
    return this.#marks.size > MARKS_KEPT.value;
  }

  /** Forgets a sender whose time is over: what comes now is of a new life. */
  expire(sender: string, at: number, retentionMs: number): void {
    const mark = this.#marks.get(sender);
    if (mark !== undefined && at - mark.at >= retentionMs) this.#marks.delete(sender);
  }

  has(sender: string, counter: number): boolean {
    const mark = this.#marks.get(sender);
    return mark !== undefined && (counter <= mark.high || mark.above.includes(counter));
  }

  /**
   * True when a message must wait: one that was sent before it has not been taken, or,
   * without an order (`after` undefined), too many that were are missing.
   */
  isEarly(sender: string, counter: number, after: number | undefined): boolean {
    if (after === 0) return false;
    if (after !== undefined) return !this.has(sender, after);
    const mark = this.#marks.get(sender);
    return mark !== undefined && mark.above.length >= WINDOW_MAX.value && counter > mark.high + 1;
  }

  /**
   * Marks a message as taken that `has` does not know and that is not early.
   * False when there is no room for another sender.
   */
  take(
    sender: string,
    counter: number,
    after: number | undefined,
    at: number,
    limits: InboxLimits,
  ): boolean {
    let mark = this.#marks.get(sender);
    if (mark === undefined) {
      this.#prune(at, limits.dedupRetentionMs);
      if (this.#marks.size >= limits.sendersMax) return false;
      mark = { high: 0, above: [], at, movedAt: at, name: JSON.stringify(sender) };
      this.#marks.set(sender, mark);
    } else if (at - mark.movedAt > limits.dedupRetentionMs / 8) {
      // Now and then is enough: the map stays in the order of `movedAt`, and that is never later than `at`.
      this.#marks.delete(sender);
      this.#marks.set(sender, mark);
      mark.movedAt = at;
    }
    mark.at = at;
    if (after !== undefined || counter === mark.high + 1) mark.high = counter;
    else mark.above.push(counter);
    if (mark.above.length > 0) settle(mark);
    return true;
  }

  /** Nothing of this sender's that was taken can ever come again. */
  forget(sender: string): void {
    this.#marks.delete(sender);
  }

  /**
   * Forgets senders of which nothing that was taken can ever come again. It looks at some of them, and
   * the next time at those that follow, so that it costs a part of what writing all of them does.
   */
  sweep(owesNothing: (sender: string) => boolean): void {
    for (let left = SWEPT_MIN.value + (this.#marks.size >> 3); left > 0; left -= 1) {
      this.#round ??= this.#marks.keys();
      const { value: sender, done } = this.#round.next();
      if (done === true) this.#round = undefined;
      else if (owesNothing(sender)) this.#marks.delete(sender);
    }
  }

  /** Forgets the senders heard least recently whose time is over. */
  #prune(at: number, retentionMs: number): void {
    for (const [sender, mark] of this.#marks) {
      if (at - mark.movedAt <= retentionMs) return;
      if (at - mark.at > retentionMs) this.#marks.delete(sender);
    }
  }

  /** JSON text, empty without marks. */
  encode(): string {
    if (this.#marks.size === 0) return '';
    let text = '{';
    for (const { name, high, at, above } of this.#marks.values()) {
      if (text.length > 1) text += ',';
      text += `${name}:[${high},${timeText(at)}${above.length > 0 ? `,${above.join(',')}` : ''}]`;
    }
    return `${text}}`;
  }
}

/** Moves what has become contiguous, or is below it, out of the window. */
function settle(mark: Mark): void {
  mark.above.sort((a, b) => a - b);
  while (mark.above.length > 0 && (mark.above[0] as number) <= mark.high + 1) {
    mark.high = Math.max(mark.high, mark.above.shift() as number);
  }
}
