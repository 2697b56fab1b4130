/**
 * Noise: what chance does to the frames of a simulated network, while all links are up.
 *
 * Guarantees: noise has a name, and every decision about a frame is drawn from a stream of that name,
 * of the way the frame goes, and of what is decided. So whatever else is added, changed or taken away,
 * the same noise does the same to the same frames. Of several that speak of one way all act, in
 * the order in which they began. Where there is none, nothing is drawn.
 *
 * A damaged frame is damaged so that it shows: what the checksums of a real connection let
 * through, nobody could tell from the truth.
 */

import { decodeFrame, encodeFrame } from '../../../runtime/delivery.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import { checkDelay, type Delay, drawDelay } from '../delay.ts';
import type { SeededRandom } from '../random.ts';
import { matchesNode, type Nodes } from './interception.ts';

/** Shares are from 0 to 1: 0.01 is one frame in a hundred. */
export interface Noise {
  /** On top of what a frame takes anyway; those behind it wait for it. */
  readonly delay?: Delay;
  readonly loss?: number;
  readonly duplicate?: {
    readonly share: number;
    /** The copy comes up to so much later than the frame. */
    readonly withinMs: number;
    /**
     * The messages of a copy also come over a later connection, and to a later life of the node.
     * Greetings and receipts do not: those are about their connection.
     */
    readonly outlives?: boolean;
  };
  /** Frames that others overtake, being up to so much later. */
  readonly reorder?: { readonly share: number; readonly withinMs: number };
  /** Frames whose bytes are changed or cut off on the way. */
  readonly damage?: number;
  /** Frames follow each other no faster than this; each character counts as a byte. */
  readonly bytesPerSecond?: number;
}

export interface NoiseRule {
  /** Names it in streams and reports. */
  readonly id: string;
  readonly from: Nodes;
  readonly to: Nodes;
  readonly noise: Noise;
}

/** Noise under way. */
export interface Disturbance {
  /** How many frames it did something to. */
  readonly hits: number;
  /** Goes on with this instead. */
  change(noise: Noise): void;
  end(): void;
}

/** The fate of one frame; noise writes into it. */
export interface FrameFate {
  frame: string;
  isLost: boolean;
  isDamaged: boolean;
  /** It may be overtaken. */
  isLate: boolean;
  /** Later than without noise. */
  extraMs: number;
  readonly copies: Array<{
    readonly frame: string;
    readonly afterMs: number;
    readonly outlives: boolean;
  }>;
}

/** One noise, on every way that it speaks of. */
export class NoiseSource {
  readonly id: string;
  readonly #rule: NoiseRule;
  readonly #random: SeededRandom;
  noise: Noise;
  hits = 0;

  constructor(rule: NoiseRule, random: SeededRandom) {
    checkNoise(rule.noise);
    this.id = rule.id;
    this.#rule = rule;
    this.#random = random.stream(`noise/${rule.id}`);
    this.noise = rule.noise;
  }

  change(noise: Noise): void {
    checkNoise(noise);
    this.noise = noise;
  }

  isAbout(from: string, to: string): boolean {
    return matchesNode(this.#rule.from, from) && matchesNode(this.#rule.to, to);
  }

  onWay(from: string, to: string): WayNoise {
    return new WayNoise(this, this.#random.stream(`${from}>${to}`));
  }
}

/** One noise on one way. */
export class WayNoise {
  readonly source: NoiseSource;
  readonly #random: SeededRandom;
  readonly #streams = new Map<string, SeededRandom>();
  /** When the last frame was through, where there is a cap. */
  #idleAt = Number.NEGATIVE_INFINITY;

  constructor(source: NoiseSource, random: SeededRandom) {
    this.source = source;
    this.#random = random;
  }

  /** True when it changed something. */
  act(fate: FrameFate, now: number): boolean {
    const { delay, loss, duplicate, reorder, damage, bytesPerSecond } = this.source.noise;
    const before = fate.extraMs;
    if (bytesPerSecond !== undefined) {
      this.#idleAt = Math.max(this.#idleAt, now) + (fate.frame.length * 1_000) / bytesPerSecond;
      fate.extraMs += Math.ceil(this.#idleAt - now);
    }
    if (delay !== undefined) fate.extraMs += drawDelay(delay, this.#stream('delay'));
    let isHit = fate.extraMs > before;
    if (this.#strikes('loss', loss)) {
      fate.isLost = true;
      isHit = true;
    }
    if (this.#strikes('duplicate', duplicate?.share)) {
      const { withinMs, outlives = false } = duplicate as NonNullable<Noise['duplicate']>;
      const afterMs = this.#within('copy', withinMs);
      const frame = outlives ? messagesOf(fate.frame) : fate.frame;
      if (frame !== undefined) fate.copies.push({ frame, afterMs, outlives });
      isHit = true;
    }
    if (this.#strikes('reorder', reorder?.share)) {
      fate.isLate = true;
      fate.extraMs += this.#within('lateness', (reorder as { withinMs: number }).withinMs);
      isHit = true;
    }
    if (this.#strikes('damage', damage)) {
      fate.isDamaged = true;
      fate.frame = damaged(fate.frame, this.#stream('damaged'));
      isHit = true;
    }
    if (isHit) this.source.hits += 1;
    return isHit;
  }

  #strikes(what: string, share: number | undefined): boolean {
    return share !== undefined && share > 0 && this.#stream(what).next() < share;
  }

  /** At least one millisecond, otherwise nothing would be seen of it. */
  #within(what: string, withinMs: number): number {
    return 1 + Math.floor(this.#stream(what).next() * withinMs);
  }

  #stream(what: string): SeededRandom {
    let stream = this.#streams.get(what);
    if (stream === undefined) {
      stream = this.#random.stream(what);
      this.#streams.set(what, stream);
    }
    return stream;
  }
}

/** A frame with the messages of this one and nothing else, if there are any. */
function messagesOf(frame: string): string | undefined {
  let envelopes: readonly unknown[];
  try {
    envelopes = decodeFrame(frame).envelopes;
  } catch {
    // Nothing that could be repeated in parts.
    return undefined;
  }
  const texts = envelopes.map((envelope) => JSON.stringify(envelope));
  return texts.length === 0 ? undefined : encodeFrame(texts, []);
}

/** Never JSON: cut off, or with a byte in it that JSON does not have. */
function damaged(frame: string, random: Random): string {
  const isCut = random.next() < 0.5;
  const at = Math.floor(random.next() * frame.length);
  return isCut ? frame.slice(0, at) : `${frame.slice(0, at)}\u0000${frame.slice(at + 1)}`;
}

/** @throws {RangeError} */
function checkNoise({ delay, loss, duplicate, reorder, damage, bytesPerSecond }: Noise): void {
  if (delay !== undefined) checkDelay(delay);
  for (const share of [loss, duplicate?.share, reorder?.share, damage])
    if (share !== undefined && !(share >= 0 && share <= 1))
      throw new RangeError(`A share of frames is from 0 to 1, not ${share}.`);
  for (const withinMs of [duplicate?.withinMs, reorder?.withinMs])
    if (withinMs !== undefined && !(withinMs >= 0 && Number.isFinite(withinMs)))
      throw new RangeError(`A frame comes 0 ms later or more, not ${withinMs}.`);
  if (bytesPerSecond !== undefined && !(bytesPerSecond > 0))
    throw new RangeError(`A link carries more than 0 bytes a second, not ${bytesPerSecond}.`);
}
