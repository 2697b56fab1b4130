/**
 * Messages that each actor has taken, by sender: what its inbox ought to remember.
 *
 * Guarantees: it knows every message that an actor was seen to take, and after a takeover also those
 * that were taken durably without anybody seeing it. It forgets with the actors: the sender whose
 * record begins again counts again, and the receiver whose record begins again has taken nothing. A
 * silent sender is forgotten after the time that the runtime remembers it, and not before it is durable
 * that it was heard.
 */

import { placeOf } from '../../runtime/base/address.ts';
import { DEFAULT_LIMITS } from '../../runtime/base/limits.ts';
import type { RunFacts } from './invariant.ts';
import type { TurnRecord } from './reading-lines.ts';
import { partsOf } from './reading-records.ts';

interface Watermark {
  /** The sender's life: its numbers go on for as long as its record does. */
  readonly life: number;
  /** All that were taken, in the order in which they were. */
  readonly taken: number[];
  high: number;
  /** Taken without having been seen: all up to this one, and those. */
  unseen: number;
  readonly unseenAbove: number[];
  /** When it was heard last, by the receiver's clock. */
  at: number;
  /** The last turn of the write that it was durable with. */
  written: number;
}

/** `again`: it was taken before. `late`: one that was sent after it was taken before. */
export type Taking = 'new' | 'again' | 'late';

export class Watermarks {
  readonly #receivers = new Map<string, Map<string, Watermark>>();
  readonly #lives = new Map<string, number>();
  readonly #retentionMs: (place: string) => number;

  /** `epsilonMs`: how far the clocks of two holders may be apart. */
  constructor({
    epsilonMs,
    dedupRetentionMs = DEFAULT_LIMITS.dedupRetentionMs,
    dedupRetentionMsAt = {},
  }: Pick<RunFacts, 'epsilonMs' | 'dedupRetentionMs' | 'dedupRetentionMsAt'>) {
    this.#retentionMs = (place) => (dedupRetentionMsAt[place] ?? dedupRetentionMs) - 2 * epsilonMs;
  }

  /** A message was taken; `from` and `counter` are there. `written`: the last turn of the write with it. */
  take({ address, from, counter, takenAt }: TurnRecord, written: number): Taking {
    const sender = from as string;
    const number = counter as number;
    const watermark = this.#watermarkOf(address, sender, takenAt, written);
    watermark.at = takenAt;
    watermark.written = written;
    if (number <= watermark.unseen || watermark.unseenAbove.includes(number)) return 'again';
    const isNew = number > watermark.high;
    if (!isNew && watermark.taken.includes(number)) return 'again';
    watermark.taken.push(number);
    if (!isNew) return 'late';
    watermark.high = number;
    return 'new';
  }

  /** Believes the record of an actor whose last turns nobody saw for what it has taken. */
  restore(address: string, text: string): void {
    const { inbox = {} } = partsOf(text);
    for (const [sender, [high = 0, at = 0, ...above]] of Object.entries(inbox)) {
      const watermark = this.#watermarkOf(address, sender, at, 0);
      watermark.at = at;
      // Without an order those up to `high` were all taken, with one they cannot come any more.
      watermark.unseen = Math.max(watermark.unseen, high);
      watermark.unseenAbove.push(...above);
    }
  }

  /** The actor's record begins again: it has taken nothing, and its own messages count from 1. */
  beginAnew(address: string): void {
    this.#receivers.delete(address);
    this.#lives.set(address, this.#lifeOf(address) + 1);
  }

  /** The place has lost its disk: every actor there begins again, seen or not. */
  forget(place: string): void {
    for (const address of this.#receivers.keys())
      if (address.endsWith(`@${place}`)) this.beginAnew(address);
  }

  #watermarkOf(address: string, sender: string, at: number, written: number): Watermark {
    let senders = this.#receivers.get(address);
    if (senders === undefined) {
      senders = new Map();
      this.#receivers.set(address, senders);
    }
    const life = this.#lifeOf(sender);
    let watermark = senders.get(sender);
    const isForgotten =
      watermark !== undefined &&
      placeOf(sender) !== placeOf(address) &&
      at - watermark.at >= this.#retentionMs(placeOf(address)) &&
      watermark.written !== written;
    if (watermark === undefined || watermark.life !== life || isForgotten) {
      watermark = { life, taken: [], high: 0, unseen: 0, unseenAbove: [], at, written };
      senders.set(sender, watermark);
    }
    return watermark;
  }

  #lifeOf(address: string): number {
    return this.#lives.get(address) ?? 0;
  }
}
