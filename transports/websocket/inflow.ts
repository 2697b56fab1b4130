/**
 * Inflow of one connection: frames that come in, checked before they are handed over.
 *
 * Guarantees: a frame that is damaged, repeated or foreign is dropped; too many of those, too many
 * bytes or control frames in a second, or a frame that is never finished, are told of by `breach`.
 * Bytes are counted here; events are counted where frames are opened, in the runtime.
 */

import { Bucket } from '../../runtime/base/token-bucket.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Counters } from './counters.ts';
import { FRAME_CHARGE_MIN, FrameReader } from './frame-text.ts';
import { FrameWatch } from './frame-watch.ts';
import type { WebSocketLimits } from './limits.ts';

export interface InflowParts {
  readonly linkId: string;
  readonly bytesPerSecond: number;
  readonly clock: Clock;
  readonly limits: WebSocketLimits;
  readonly counters: Counters;
  /** A frame was dropped, which may happen once or twice. */
  dropped(fault: string): void;
  breach(reason: string): void;
}

export class Inflow {
  readonly #parts: InflowParts;
  readonly #reader: FrameReader;
  readonly #watch = new FrameWatch();
  readonly #bytes: Bucket;
  readonly #controls: Bucket;
  #bad = 0;
  #pongsAwaited = 0;
  #isHeard = true;
  #unfinishedSince: number | undefined;
  #messagesThen = 0;

  constructor(parts: InflowParts) {
    this.#parts = parts;
    this.#reader = new FrameReader(parts.linkId);
    this.#bytes = new Bucket(parts.clock, parts.bytesPerSecond);
    this.#controls = new Bucket(parts.clock, parts.limits.controlFramesPerSecond);
  }

  /** Bytes as they come from the socket: any of them is a sign of life. */
  see(chunk: Buffer): void {
    this.#isHeard = true;
    this.#watch.see(chunk);
  }

  /** True if anything has come since the last time this was asked. */
  wasHeard(): boolean {
    const was = this.#isHeard;
    this.#isHeard = false;
    return was;
  }

  /** The frame in it, if it has a good one. */
  read(bytes: Buffer): string | undefined {
    const { counters, limits, breach, dropped } = this.#parts;
    if (!this.#bytes.take(Math.max(bytes.length, FRAME_CHARGE_MIN))) {
      breach('too many bytes in a second');
      return undefined;
    }
    const fault = this.#reader.check(bytes);
    if (fault === undefined) {
      counters.framesReceived += 1;
      counters.bytesReceived += bytes.length;
      return this.#reader.textOf(bytes);
    }
    counters.badFrames += 1;
    this.#bad += 1;
    dropped(fault);
    if (this.#bad >= limits.badFramesMax) breach(`frames that are ${fault}`);
    return undefined;
  }

  /** Pongs that were asked for are no breach of anything. */
  pinged(): void {
    this.#pongsAwaited += 1;
  }

  pongReceived(): void {
    if (this.#pongsAwaited > 0) this.#pongsAwaited -= 1;
    else this.pingReceived();
  }

  pingReceived(): void {
    if (!this.#controls.take(1)) this.#parts.breach('too many pings or pongs in a second');
  }

  /** Notices a frame that is never finished. */
  check(now: number): void {
    const { isUnfinished, messages } = this.#watch;
    if (!isUnfinished || messages !== this.#messagesThen || this.#unfinishedSince === undefined) {
      this.#unfinishedSince = isUnfinished ? now : undefined;
      this.#messagesThen = messages;
      return;
    }
    if (now - this.#unfinishedSince >= this.#parts.limits.unfinishedFrameMs)
      this.#parts.breach('a frame was not finished in time');
  }
}
