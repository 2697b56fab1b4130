/**
 * Outflow of one connection: numbered frames, written together if they are sent together, and no
 * faster than the peer lets them in.
 *
 * Guarantees: a full buffer takes nothing more, and frames that belong together are taken or dropped
 * together; a peer that takes nothing, or too little for too long, is told of by `tooSlow`, once.
 */

import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import type { Counters } from './counters.ts';
import { FrameWriter } from './frame-text.ts';
import type { WebSocketLimits } from './limits.ts';
import { Pace } from './pace.ts';

export interface OutflowParts {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  readonly linkId: string;
  readonly bufferBytesMax: number;
  /** Bytes beyond which a second is a flood to the peer. */
  readonly bytesPerSecondMax: number;
  readonly clock: Clock;
  readonly limits: WebSocketLimits;
  readonly counters: Counters;
  tooSlow(): void;
}

export class Outflow {
  readonly #parts: OutflowParts;
  readonly #writer: FrameWriter;
  readonly #pace: Pace;
  #isCorked = false;
  #handedBytes = 0;
  #leftBytes = 0;
  #stuckSince: number | undefined;
  #cancelCheck: Cancel | undefined;

  constructor(parts: OutflowParts) {
    this.#parts = parts;
    this.#writer = new FrameWriter(parts.linkId);
    this.#pace = new Pace(parts.clock, parts.bytesPerSecondMax, (frame) => this.#write(frame));
  }

  get waitingBytes(): number {
    return this.#pace.waitingLength + this.#bufferedBytes;
  }

  /** Bytes that the peer has not taken yet. */
  get #bufferedBytes(): number {
    return this.#parts.webSocket.bufferedAmount;
  }

  /** False when the buffer is full and the frames were dropped. */
  send(frames: readonly string[]): boolean {
    const { bufferBytesMax, counters } = this.#parts;
    if (this.waitingBytes > bufferBytesMax && !this.#makesRoom()) {
      counters.framesOverflowed += frames.length;
      return false;
    }
    for (const frame of frames) this.#pace.give(frame);
    return true;
  }

  /** Notices when nothing has left for too long. */
  check(now: number): void {
    const leftBytes = this.#handedBytes - this.#bufferedBytes;
    if (this.#bufferedBytes === 0 || leftBytes > this.#leftBytes) {
      this.#leftBytes = Math.max(leftBytes, this.#leftBytes);
      this.#stuckSince = undefined;
      return;
    }
    this.#stuckSince ??= now;
    if (now - this.#stuckSince >= this.#parts.limits.drainMs) this.#parts.tooSlow();
  }

  /** Writes what has left in this tick; nothing may be sent afterwards. */
  end(): void {
    this.#pace.end();
    this.#uncork();
    this.#cancelCheck?.();
  }

  /** A full buffer is written at once if the peer takes it; whether it did is looked at a little later. */
  #makesRoom(): boolean {
    const { clock, limits, bufferBytesMax, tooSlow } = this.#parts;
    this.#uncork();
    if (this.waitingBytes <= bufferBytesMax) return true;
    this.#cancelCheck ??= clock.schedule(clock.now() + limits.overflowMs, () => {
      this.#cancelCheck = undefined;
      if (this.#bufferedBytes > bufferBytesMax / 2) tooSlow();
    });
    return false;
  }

  #write(frame: string): void {
    const { webSocket, counters } = this.#parts;
    this.#cork();
    const text = this.#writer.write(frame);
    webSocket.send(text);
    this.#handedBytes += text.length;
    counters.framesSent += 1;
    counters.bytesSent += text.length;
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#parts.socket.cork();
    process.nextTick(() => this.#uncork());
  }

  #uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#parts.socket.uncork();
  }
}
