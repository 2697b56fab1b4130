/**
 * Link: one open connection to one other node.
 *
 * Guarantees: frames go out in the order of `send` and never inside the call that received one; a frame that
 * comes in is handed over only if `inflow` finds it good, and frames are handed over in one go for no longer
 * than a slice; a peer that breaks a rule, does not take what it is sent or gives no sign of life is
 * disconnected, and nothing of it is handed over afterwards. A link knows nothing of other connections.
 */

import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import type { KnownClaim } from './claim.ts';
import type { Counters } from './counters.ts';
import { PREFIX_LENGTH } from './frame-text.ts';
import { Inflow } from './inflow.ts';
import type { WebSocketLimits } from './limits.ts';
import { Outflow } from './outflow.ts';
import type { Slice } from './slice.ts';

export const CLOSE = {
  /** This end is stopping. */
  goingAway: 1001,
  binary: 1003,
  /** The peer broke a rule. */
  policy: 1008,
  /** The peer does not take what it is sent. */
  tooSlow: 1013,
  /** Another connection of the same pair stays. */
  replaced: 4001,
  /** A later start of the node is here. */
  superseded: 4002,
} as const;

const REASON_LENGTH_MAX = 120;
/** UTF-8 takes at most three bytes for a code unit, so most frames need not be measured. */
const BYTES_PER_CODE_UNIT_MAX = 3;

export interface LinkServices {
  /** One for all links of a transport. */
  readonly slice: Slice;
  readonly clock: Clock;
  readonly limits: WebSocketLimits;
  readonly logger: Logger;
  readonly counters: Counters;
  frameReceived(link: Link, frame: string): void;
  closed(link: Link): void;
  /** The peer is connected to a later start of this node. */
  superseded(link: Link): void;
  /** The peer broke a rule: it is to be kept away for a while. */
  expelled(link: Link): void;
}

export interface LinkParts {
  readonly peer: KnownClaim;
  readonly linkId: string;
  /** True when this node dialled. */
  readonly isDialled: boolean;
  /** True when this node is a client of the other. */
  readonly isClientSide: boolean;
  readonly webSocket: WebSocket;
  readonly socket: Socket;
}

export class Link {
  readonly peer: KnownClaim;
  readonly isDialled: boolean;
  readonly openedAt: number;
  /** The largest frame that the peer takes. */
  readonly frameBytesMax: number;
  /** Resolves once the socket is gone. */
  readonly ended: Promise<void>;
  readonly #services: LinkServices;
  readonly #webSocket: WebSocket;
  readonly #inflow: Inflow;
  readonly #outflow: Outflow;
  /** Frames that came in one piece of more than a slice, in its order. */
  readonly #waiting: Array<() => void> = [];
  #isOpen = true;
  #isMuted = false;
  #isPaused = false;
  #missedPings = 0;
  #cancelTermination: Cancel | undefined;

  constructor(parts: LinkParts, services: LinkServices) {
    const { clock, limits, counters } = services;
    const { peer, linkId, webSocket, socket } = parts;
    this.peer = peer;
    this.isDialled = parts.isDialled;
    this.openedAt = clock.now();
    this.#services = services;
    this.#webSocket = webSocket;
    const isClient = peer.rights.isClient;
    const takenMax = parts.isClientSide ? limits.clientFrameBytesMax : limits.peerFrameBytesMax;
    this.frameBytesMax = takenMax - PREFIX_LENGTH;
    this.#outflow = new Outflow({
      ...{ webSocket, socket, linkId, clock, limits, counters },
      bufferBytesMax: isClient ? limits.clientBufferBytesMax : limits.peerBufferBytesMax,
      bytesPerSecondMax: parts.isClientSide
        ? limits.clientBytesPerSecond
        : limits.peerBytesPerSecond,
      tooSlow: () => this.#tooSlow(),
    });
    this.#inflow = new Inflow({
      ...{ linkId, clock, limits, counters },
      bytesPerSecond: isClient ? limits.clientBytesPerSecond : limits.peerBytesPerSecond,
      dropped: (fault) =>
        services.logger.warn({ peer: peer.node, fault }, 'a frame of a peer was dropped'),
      breach: (reason) => this.expel(reason),
    });
    this.ended = new Promise((resolve) => {
      webSocket.once('close', () => resolve());
    });
    this.#attach(socket);
  }

  get isCongested(): boolean {
    return this.#outflow.waitingBytes > this.#services.limits.congestedBytes;
  }

  /** All of them or none. @throws {RangeError} when one is over what the peer takes. */
  send(frames: readonly string[]): boolean {
    for (const frame of frames) this.#refuseLarge(frame);
    return this.#isOpen && this.#outflow.send(frames);
  }

  /** Looks after the connection; called about once a second. `isPing`: it is time for one. */
  tick(now: number, isPing: boolean): void {
    if (this.#isOpen) this.#inflow.check(now);
    if (this.#isOpen) this.#outflow.check(now);
    if (this.#isOpen && isPing) this.#ping();
  }

  /** The peer broke a rule: nothing more of it is read. */
  expel(reason: string): void {
    if (!this.#isOpen) return;
    const { logger, counters } = this.#services;
    counters.linksExpelled += 1;
    logger.warn({ peer: this.peer.node, reason }, 'a peer broke the rules and was disconnected');
    this.#services.expelled(this);
    this.close(CLOSE.policy, reason);
    this.#webSocket.pause();
  }

  /** Expels in a moment, for callers in the middle of something; nothing more is handed over already. */
  expelSoon(reason: string): void {
    this.#isMuted = true;
    queueMicrotask(() => this.expel(reason));
  }

  /** Says goodbye and hangs up, with or without an answer. Nothing is handed over from now on. */
  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#gone();
    this.#webSocket.close(code, closeReason(reason));
    this.#terminateSoon();
  }

  /** Hangs up at once. */
  terminate(): void {
    this.#gone();
    this.#webSocket.terminate();
  }

  #attach(socket: Socket): void {
    const webSocket = this.#webSocket;
    webSocket.on('error', (error) => this.#inTurn(() => this.#failed(error)));
    webSocket.on('message', (data, isBinary) => this.#inTurn(() => this.#received(data, isBinary)));
    webSocket.on('ping', () => {
      if (this.#isOpen) this.#inflow.pingReceived();
    });
    webSocket.on('pong', () => {
      if (this.#isOpen) this.#inflow.pongReceived();
    });
    webSocket.on('close', (code) => {
      this.#cancelTermination?.();
      this.#inTurn(() => {
        if (code === CLOSE.superseded && this.#isOpen) this.#services.superseded(this);
        this.#gone();
      });
    });
    socket.on('data', (chunk: Buffer) => this.#inflow.see(chunk));
  }

  #received(data: RawData, isBinary: boolean): void {
    if (!this.#isOpen || this.#isMuted) return;
    if (isBinary) {
      this.close(CLOSE.binary, 'frames are text');
      return;
    }
    // Text comes as one Buffer unless `ws` is told otherwise.
    const frame = this.#inflow.read(data as Buffer);
    if (frame !== undefined) this.#services.frameReceived(this, frame);
    if (!this.#isOpen || !this.#services.slice.isOver(this.#goOn)) return;
    this.#isPaused = true;
    this.#webSocket.pause();
  }

  readonly #goOn = (): void => {
    this.#isPaused = false;
    while (this.#isOpen && !this.#isPaused && this.#waiting.length > 0) this.#waiting.shift()?.();
    if (this.#isOpen && !this.#isPaused) this.#webSocket.resume();
  };

  /** Frames that share a piece with what was read before `pause` come all the same: they wait here. */
  #inTurn(take: () => void): void {
    if (this.#isPaused && this.#isOpen) this.#waiting.push(take);
    else take();
  }

  /** `ws` has told the peer what was wrong, by the code it closes with; the peer may never answer. */
  #failed(error: Error): void {
    const { logger } = this.#services;
    logger.debug({ peer: this.peer.node, error: messageOf(error) }, 'a connection failed');
    if (!this.#isOpen) return;
    this.#gone();
    this.#terminateSoon();
  }

  #ping(): void {
    const { limits, counters, logger } = this.#services;
    this.#missedPings = this.#inflow.wasHeard() ? 0 : this.#missedPings + 1;
    if (this.#missedPings < limits.missedPingsMax) {
      this.#inflow.pinged();
      this.#webSocket.ping();
      return;
    }
    counters.linksSilent += 1;
    logger.warn({ peer: this.peer.node }, 'a peer gave no sign of life');
    this.terminate();
  }

  #tooSlow(): void {
    if (!this.#isOpen) return;
    const { logger, counters } = this.#services;
    counters.linksTooSlow += 1;
    const { waitingBytes } = this.#outflow;
    logger.warn({ peer: this.peer.node, waitingBytes }, 'a peer does not take what it is sent');
    this.close(CLOSE.tooSlow, 'you do not take what you are sent');
  }

  #gone(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#waiting.length = 0;
    this.#outflow.end();
    this.#services.counters.linksClosed += 1;
    this.#services.closed(this);
  }

  #terminateSoon(): void {
    const { clock, limits } = this.#services;
    this.#cancelTermination = clock.schedule(clock.now() + limits.closeMs, () =>
      this.#webSocket.terminate(),
    );
  }

  #refuseLarge(frame: string): void {
    if (frame.length * BYTES_PER_CODE_UNIT_MAX <= this.frameBytesMax) return;
    const sizeBytes = Buffer.byteLength(frame);
    if (sizeBytes <= this.frameBytesMax) return;
    throw new RangeError(
      `A frame of ${sizeBytes} bytes is over what node "${this.peer.node}" takes (${this.frameBytesMax}).`,
    );
  }
}

/** A close frame has room for 123 bytes. */
function closeReason(reason: string): string {
  return reason.slice(0, REASON_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?');
}
