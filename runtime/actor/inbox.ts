/**
 * Inbox of an actor: the messages that it has already taken, by sender. It makes delivery effectively once,
 * and in order.
 *
 * A message of an actor names the one before it that its sender has not seen answered:
 * it is taken when that one is, so what was taken last stands for all before it. The
 * repeatable calls of code (see `Identity` in calls.ts) have no order; of these the
 * highest contiguous counter is kept and a window of 64 above it. The marks are part of
 * the receiver's record and so committed together with the effect of the message.
 *
 * Senders unheard of for the retention time are forgotten; at most `sendersMax` are
 * remembered: a further one is refused, never let in unmarked. Those of another place have no more than
 * their share, see inbox-shares.ts: some room is always left for others. An actor of the same place
 * is forgotten when it durably owes the receiver nothing, sooner or later than that: `sweep`
 * looks for such ones.
 */

import { inOnePiece, timeText } from '../base/json-cache.ts';
import { knob } from '../base/knob.ts';
import { ownerOf, Shares } from './inbox-shares.ts';

/** Counters above the contiguous one that are remembered of a sender without order. */
export const WINDOW_MAX = knob('inboxWindowMax', 64);

/** Senders up to which an inbox costs nothing worth saving. */
const MARKS_KEPT = knob('marksKept', 16);

/** Senders that a sweep looks at, in an inbox of any size. */
const SWEPT_MIN = knob('marksSweptMin', 4);

/** Senders of another place have at most this many times what is free. */
const SHARE = knob('inboxShare', 8);

/**
 * Time that a session has to be silent before a later one of its place takes its room. It is over with its
 * process, and gives up what nobody has answered within `sendTimeoutMs`.
 */
const SESSION_SILENT_MS = knob('sessionSilentMs', 600_000);

export interface InboxRules {
  /** The receiver's own place: of its senders it is known what they still owe. */
  readonly place: string;
  readonly limits: { readonly sendersMax: number; readonly dedupRetentionMs: number };
}

/** True of an actor of the same place that has numbered its messages on since `at`. */
export type IsSameLife = (sender: string, at: number) => boolean;

interface Mark {
  high: number;
  above: number[];
  /** Time when the sender was heard last, and when that last moved its mark to the end. */
  at: number;
  movedAt: number;
  /** The sender's name as JSON, made once. */
  readonly name: string;
  /** The mark as it stands in the record behind another one, made once for each change; empty until then. */
  text: string;
}

/** Inbox as stored: `{ sender: [high, at, …above] }`. */
export type StoredInbox = Readonly<Record<string, readonly number[]>>;

export class Inbox {
  readonly #marks = new Map<string, Mark>();
  /** Senders left to the next sweep, which goes on there. */
  #round: Iterator<string> | undefined;
  /** Counted from the first time that somebody asks for room in a crowd. */
  #shares: Shares | undefined;

  static restore(stored: StoredInbox | undefined): Inbox {
    const inbox = new Inbox();
    if (stored === undefined) return inbox;
    const rows = Object.entries(stored).sort(([, a], [, b]) => (a[1] ?? 0) - (b[1] ?? 0));
    for (const [sender, [high = 0, at = 0, ...above]] of rows)
      inbox.#marks.set(sender, markOf(sender, high, at, above));
    return inbox;
  }

  get size(): number {
    return this.#marks.size;
  }

  /** True with enough senders to make a search for some to forget worth it. */
  get isCrowded(): boolean {
    return this.#marks.size > MARKS_KEPT.value;
  }

  /**
   * Forgets the sender when it was not heard after `untilMs`: what comes now is of a new life. One that is
   * not known makes room for itself: the senders heard least recently that were not heard since are forgotten.
   * Those of which `isSameLife` says that they have lived on since are left to `sweep`: after an outage of
   * any length they send again what was taken before it.
   */
  expire(sender: string, untilMs: number, isSameLife: IsSameLife): void {
    const mark = this.#marks.get(sender);
    if (mark === undefined) this.#prune(untilMs, isSameLife);
    else if (mark.at <= untilMs && !isSameLife(sender, mark.at)) this.forget(sender);
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
   * False when there is no room for another sender, or for another one of its place.
   */
  take(
    sender: string,
    counter: number,
    after: number | undefined,
    at: number,
    rules: InboxRules,
  ): boolean {
    let mark = this.#marks.get(sender);
    if (mark === undefined) {
      if (!this.#hasRoom(sender, at, rules)) return false;
      mark = markOf(sender, 0, at, []);
      this.#marks.set(sender, mark);
      this.#shares?.add(sender);
    } else if (at - mark.movedAt > rules.limits.dedupRetentionMs / 8) {
      // Now and then is enough: the map stays in the order of `movedAt`, and that is never later than `at`.
      this.#marks.delete(sender);
      this.#marks.set(sender, mark);
      mark.movedAt = at;
    }
    mark.at = at;
    mark.text = '';
    this.#shares?.heard(sender);
    if (after !== undefined || counter === mark.high + 1) mark.high = counter;
    else mark.above.push(counter);
    if (mark.above.length > 0) settle(mark);
    return true;
  }

  /** Forgets a sender of whose taken messages none can ever come again. */
  forget(sender: string): void {
    if (this.#marks.delete(sender)) this.#shares?.delete(sender);
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
      else if (owesNothing(sender)) this.forget(sender);
    }
  }

  #prune(untilMs: number, isSameLife: IsSameLife): void {
    for (const [sender, mark] of this.#marks) {
      if (mark.movedAt > untilMs) return;
      if (mark.at <= untilMs && !isSameLife(sender, mark.at)) this.forget(sender);
    }
  }

  /**
   * True if a further sender may be remembered; for one of a place that has its share, a silent session
   * is forgotten.
   */
  #hasRoom(sender: string, at: number, { place, limits }: InboxRules): boolean {
    const free = limits.sendersMax - this.#marks.size;
    const owner = ownerOf(sender);
    if (!this.isCrowded || owner === place) return free > 0;
    this.#shares ??= new Shares(this.#heardInOrder());
    if (this.#shares.countOf(owner) < SHARE.value * free) return true;
    const oldest = this.#shares.oldestSession(owner);
    const mark = oldest === undefined ? undefined : this.#marks.get(oldest);
    if (mark === undefined || mark.at > at - SESSION_SILENT_MS.value) return false;
    this.forget(oldest as string);
    return true;
  }

  #heardInOrder(): readonly string[] {
    const marks = [...this.#marks].sort(([, a], [, b]) => a.at - b.at);
    return marks.map(([sender]) => sender);
  }

  /** JSON text, empty without marks. With each turn: what has not changed is not put together again. */
  encode(): string {
    let text = '';
    for (const mark of this.#marks.values()) {
      if (mark.text === '') mark.text = textOf(mark);
      text = text === '' ? `{${mark.text.slice(1)}` : text + mark.text;
    }
    return text === '' ? '' : `${text}}`;
  }
}

function markOf(sender: string, high: number, at: number, above: number[]): Mark {
  return { high, above, at, movedAt: at, name: JSON.stringify(sender), text: '' };
}

function textOf({ name, high, at, above }: Mark): string {
  return inOnePiece(
    `,${name}:[${high},${timeText(at)}${above.length > 0 ? `,${above.join(',')}` : ''}]`,
  );
}

/** Moves what has become contiguous, or is below it, out of the window. */
function settle(mark: Mark): void {
  mark.above.sort((a, b) => a - b);
  while (mark.above.length > 0 && (mark.above[0] as number) <= mark.high + 1) {
    mark.high = Math.max(mark.high, mark.above.shift() as number);
  }
}
