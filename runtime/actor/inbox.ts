/**
 * Inbox of an actor: the messages that it has already taken, by sender. It makes delivery effectively once,
 * and in order.
 *
 * A message of an actor names the one before it that its sender has not seen answered:
 * it is taken when that one is, so what was taken last stands for all before it. The
 * repeatable calls of code (see `Identity` in calls.ts) have no order; of these the
 * highest contiguous counter is kept and a window of 64 above it. The watermarks are part of
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

interface Watermark {
  high: number;
  above: number[];
  /** Time when the sender was heard last, and when that last moved its watermark to the end. */
  at: number;
  movedAt: number;
  /** The sender's name as JSON, made once. */
  readonly name: string;
  /** The watermark as it stands in the record behind another one, made once for each change; empty until then. */
  text: string;
}

/** Inbox as stored: `{ sender: [high, at, …above] }`. */
export type StoredInbox = Readonly<Record<string, readonly number[]>>;

export class Inbox {
  readonly #watermarks = new Map<string, Watermark>();
  /** Senders left to the next sweep, which goes on there. */
  #round: Iterator<string> | undefined;
  /** Counted from the first time that somebody asks for room in a crowd. */
  #shares: Shares | undefined;

  static restore(stored: StoredInbox | undefined): Inbox {
    const inbox = new Inbox();
    if (stored === undefined) return inbox;
    const rows = Object.entries(stored).sort(([, a], [, b]) => (a[1] ?? 0) - (b[1] ?? 0));
    for (const [sender, [high = 0, at = 0, ...above]] of rows)
      inbox.#watermarks.set(sender, watermarkOf(sender, high, at, above));
    return inbox;
  }

  get size(): number {
    return this.#watermarks.size;
  }

  /** True with enough senders to make a search for some to forget worth it. */
  get isCrowded(): boolean {
    return this.#watermarks.size > MARKS_KEPT.value;
  }

  /**
   * Forgets the sender when it was not heard after `untilMs`: what comes now is of a new life. One that is
   * not known makes room for itself: the senders heard least recently that were not heard since are forgotten.
   * Those of which `isSameLife` says that they have lived on since are left to `sweep`: after an outage of
   * any length they send again what was taken before it.
   */
  expire(sender: string, untilMs: number, isSameLife: IsSameLife): void {
    const watermark = this.#watermarks.get(sender);
    if (watermark === undefined) this.#prune(untilMs, isSameLife);
    else if (watermark.at <= untilMs && !isSameLife(sender, watermark.at)) this.forget(sender);
  }

  has(sender: string, counter: number): boolean {
    const watermark = this.#watermarks.get(sender);
    return (
      watermark !== undefined && (counter <= watermark.high || watermark.above.includes(counter))
    );
  }

  /**
   * True when a message must wait: one that was sent before it has not been taken, or,
   * without an order (`after` undefined), too many that were are missing.
   */
  isEarly(sender: string, counter: number, after: number | undefined): boolean {
    if (after === 0) return false;
    if (after !== undefined) return !this.has(sender, after);
    const watermark = this.#watermarks.get(sender);
    return (
      watermark !== undefined &&
      watermark.above.length >= WINDOW_MAX.value &&
      counter > watermark.high + 1
    );
  }

  /**
   * Watermarks a message as taken that `has` does not know and that is not early.
   * False when there is no room for another sender, or for another one of its place.
   */
  take(
    sender: string,
    counter: number,
    after: number | undefined,
    at: number,
    rules: InboxRules,
  ): boolean {
    let watermark = this.#watermarks.get(sender);
    if (watermark === undefined) {
      if (!this.#hasRoom(sender, at, rules)) return false;
      watermark = watermarkOf(sender, 0, at, []);
      this.#watermarks.set(sender, watermark);
      this.#shares?.add(sender);
    } else if (at - watermark.movedAt > rules.limits.dedupRetentionMs / 8) {
      // Now and then is enough: the map stays in the order of `movedAt`, and that is never later than `at`.
      this.#watermarks.delete(sender);
      this.#watermarks.set(sender, watermark);
      watermark.movedAt = at;
    }
    watermark.at = at;
    watermark.text = '';
    this.#shares?.heard(sender);
    if (after !== undefined || counter === watermark.high + 1) watermark.high = counter;
    else watermark.above.push(counter);
    if (watermark.above.length > 0) settle(watermark);
    return true;
  }

  /** Forgets a sender of whose taken messages none can ever come again. */
  forget(sender: string): void {
    if (this.#watermarks.delete(sender)) this.#shares?.delete(sender);
  }

  /**
   * Forgets senders of which nothing that was taken can ever come again. It looks at some of them, and
   * the next time at those that follow, so that it costs a part of what writing all of them does.
   */
  sweep(owesNothing: (sender: string) => boolean): void {
    for (let left = SWEPT_MIN.value + (this.#watermarks.size >> 3); left > 0; left -= 1) {
      this.#round ??= this.#watermarks.keys();
      const { value: sender, done } = this.#round.next();
      if (done === true) this.#round = undefined;
      else if (owesNothing(sender)) this.forget(sender);
    }
  }

  #prune(untilMs: number, isSameLife: IsSameLife): void {
    for (const [sender, watermark] of this.#watermarks) {
      if (watermark.movedAt > untilMs) return;
      if (watermark.at <= untilMs && !isSameLife(sender, watermark.at)) this.forget(sender);
    }
  }

  /**
   * True if a further sender may be remembered; for one of a place that has its share, a silent session
   * is forgotten.
   */
  #hasRoom(sender: string, at: number, { place, limits }: InboxRules): boolean {
    const free = limits.sendersMax - this.#watermarks.size;
    const owner = ownerOf(sender);
    if (!this.isCrowded || owner === place) return free > 0;
    this.#shares ??= new Shares(this.#heardInOrder());
    if (this.#shares.countOf(owner) < SHARE.value * free) return true;
    const oldest = this.#shares.oldestSession(owner);
    const watermark = oldest === undefined ? undefined : this.#watermarks.get(oldest);
    if (watermark === undefined || watermark.at > at - SESSION_SILENT_MS.value) return false;
    this.forget(oldest as string);
    return true;
  }

  #heardInOrder(): readonly string[] {
    const watermarks = [...this.#watermarks].sort(([, a], [, b]) => a.at - b.at);
    return watermarks.map(([sender]) => sender);
  }

  /** JSON text, empty without watermarks. With each turn: what has not changed is not put together again. */
  encode(): string {
    let text = '';
    for (const watermark of this.#watermarks.values()) {
      if (watermark.text === '') watermark.text = textOf(watermark);
      text = text === '' ? `{${watermark.text.slice(1)}` : text + watermark.text;
    }
    return text === '' ? '' : `${text}}`;
  }
}

function watermarkOf(sender: string, high: number, at: number, above: number[]): Watermark {
  return { high, above, at, movedAt: at, name: JSON.stringify(sender), text: '' };
}

function textOf({ name, high, at, above }: Watermark): string {
  return inOnePiece(
    `,${name}:[${high},${timeText(at)}${above.length > 0 ? `,${above.join(',')}` : ''}]`,
  );
}

/** Moves what has become contiguous, or is below it, out of the window. */
function settle(watermark: Watermark): void {
  watermark.above.sort((a, b) => a - b);
  while (watermark.above.length > 0 && (watermark.above[0] as number) <= watermark.high + 1) {
    watermark.high = Math.max(watermark.high, watermark.above.shift() as number);
  }
}
