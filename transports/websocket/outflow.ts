/**
 * What leaves by one connection: numbered frames, written together if they are sent together.
 *
 * Guarantees: no more waits in memory than the buffer may hold, beyond it frames are dropped; a peer
 * that takes nothing, or too little for too long, is told of by `tooSlow`, once.
 */

import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Cancel, Clock } from '../../runtime/clock.ts';
import type { Counters } from './counters.ts';
import { FrameWriter } from './frame-text.ts';
import type { WebSocketLimits } from './limits.ts';

export interface OutflowParts {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  readonly linkId: string;
  readonly bufferBytesMax: number;
  readonly clock: Clock;
  readonly limits: WebSocketLimits;
  readonly counters: Counters;
  tooSlow(): void;
}

export class Outflow {
  readonly #parts: OutflowParts;
  readonly #writer: FrameWriter;
  #isCorked = false;
  #handedBytes = 0;
  #leftBytes = 0;
  #stuckSince: number | undefined;
  #cancelCheck: Cancel | undefined;

  constructor(parts: OutflowParts) {
    this.#parts = parts;
    this.#writer = new FrameWriter(parts.linkId);
  }

  get waitingBytes(): number {
    return this.#parts.webSocket.bufferedAmount;
  }

  /** False when the buffer is full and the frame was dropped. */
  send(frame: string): boolean {
    const { webSocket, bufferBytesMax, counters } = this.#parts;
    if (webSocket.bufferedAmount > bufferBytesMax && !this.#makesRoom()) {
      counters.framesOverflowed += 1;
      return false;
    }
    this.#cork();
    const text = this.#writer.write(frame);
    webSocket.send(text);
    this.#handedBytes += text.length;
    counters.framesSent += 1;
    counters.bytesSent += text.length;
    return true;
  }

  /** Notices when nothing has left for too long. */
  check(now: number): void {
    const leftBytes = this.#handedBytes - this.waitingBytes;
    if (this.waitingBytes === 0 || leftBytes > this.#leftBytes) {
      this.#leftBytes = Math.max(leftBytes, this.#leftBytes);
      this.#stuckSince = undefined;
      return;
    }
    this.#stuckSince ??= now;
    if (now - this.#stuckSince >= this.#parts.limits.drainMs) this.#parts.tooSlow();
  }

  /** Writes what has been sent in this tick; nothing may be sent afterwards. */
  end(): void {
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
      if (this.waitingBytes > bufferBytesMax / 2) tooSlow();
    });
    return false;
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
