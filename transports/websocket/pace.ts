/**
 * Send limiter of one connection: 7/8 of the rate that the peer takes, with a burst of 1/4.
 *
 * Guarantees: frames leave in the order they were given, none is left out, and a burst is far below what may
 * come in a second, so that frames that were held up on the way and come at once are no flood to the peer
 * either. The number of frames that may wait here is for the caller to limit.
 */

import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import { FRAME_CHARGE_MIN, PREFIX_LENGTH } from './frame-text.ts';

/** Share of what the peer takes in a second. */
const RATE = 7 / 8;
const BURST = 1 / 4;

export class Pace {
  /** Characters of the frames that wait. */
  waitingLength = 0;
  readonly #clock: Clock;
  readonly #bytesPerMs: number;
  readonly #burstBytes: number;
  readonly #write: (frame: string) => void;
  /** Bytes left; below zero after a frame that was more than was left. */
  #leftBytes: number;
  #filledAt: number;
  #waiting: string[] = [];
  #cancel: Cancel | undefined;

  constructor(clock: Clock, bytesPerSecondMax: number, write: (frame: string) => void) {
    this.#clock = clock;
    this.#bytesPerMs = (bytesPerSecondMax * RATE) / 1_000;
    this.#burstBytes = bytesPerSecondMax * BURST;
    this.#write = write;
    this.#leftBytes = this.#burstBytes;
    this.#filledAt = clock.now();
  }

  /** Written now, or as soon as it may be. */
  give(frame: string): void {
    if (this.#waiting.length === 0 && this.#mayLeave()) {
      this.#leave(frame);
      return;
    }
    this.#waiting.push(frame);
    this.waitingLength += frame.length;
    this.#plan();
  }

  /** Lets go of the frames that wait. */
  end(): void {
    this.#cancel?.();
    this.#waiting = [];
    this.waitingLength = 0;
  }

  #leave(frame: string): void {
    this.#leftBytes -= Math.max(FRAME_CHARGE_MIN, PREFIX_LENGTH + Buffer.byteLength(frame));
    this.#write(frame);
  }

  #mayLeave(): boolean {
    if (this.#leftBytes > 0) return true;
    const now = this.#clock.now();
    const gained = (now - this.#filledAt) * this.#bytesPerMs;
    this.#leftBytes = Math.min(this.#burstBytes, this.#leftBytes + gained);
    this.#filledAt = now;
    return this.#leftBytes > 0;
  }

  #plan(): void {
    const pauseMs = Math.ceil((1 - this.#leftBytes) / this.#bytesPerMs);
    this.#cancel ??= this.#clock.schedule(this.#clock.now() + pauseMs, () => this.#goOn());
  }

  #goOn(): void {
    this.#cancel = undefined;
    let left = 0;
    for (; left < this.#waiting.length && this.#mayLeave(); left += 1) {
      const frame = this.#waiting[left] as string;
      this.waitingLength -= frame.length;
      this.#leave(frame);
    }
    this.#waiting.splice(0, left);
    if (this.#waiting.length > 0) this.#plan();
  }
}
