/**
 * Crowd at the door: callers that have connected and not been let in, in all and by address.
 *
 * Guarantees: a storm of connections costs one look in a map each, touches nobody who is inside and
 * keeps nobody out: the caller that has been silent longest makes room for the newest. Each count
 * ends with its socket, so nothing is left over.
 */

import type { Socket } from 'node:net';
import { Bucket } from '../../runtime/base/token-bucket.ts';
import { Newcomers } from '../../runtime/delivery.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { WebSocketLimits } from './limits.ts';

/** Addresses and names whose rate is remembered; beyond it those that were quiet for a second are forgotten, then all. */
const ADDRESSES_MAX = 10_000;
/** Callers that are cut off where no descriptor is left. */
const SHED_AT_ONCE = 16;

export class Crowd {
  readonly #clock: Clock;
  readonly #limits: WebSocketLimits;
  readonly #newcomers: Newcomers;
  /** Waiting callers by address and port, which is the same for a socket and for TLS on top of it. */
  readonly #waiting = new Map<string, () => void>();
  readonly #rates = new Map<string, Bucket>();

  constructor(clock: Clock, limits: WebSocketLimits) {
    this.#clock = clock;
    this.#limits = limits;
    const { handshakesMax: max, handshakesPerAddressMax: perAddressMax, firstHeadMs } = limits;
    this.#newcomers = new Newcomers(clock, { max, perAddressMax, silentMs: firstHeadMs });
  }

  /** `cutOff` is called when it is silent for too long, or has to make room. */
  arrived(socket: Socket, cutOff: () => void): void {
    const key = keyOf(socket);
    this.#waiting.set(key, this.#newcomers.arrived(addressOf(socket), cutOff));
    socket.once('close', () => this.#left(key));
  }

  /** Cuts off some of those that have been silent longest. */
  shed(): void {
    this.#newcomers.cutOffOldest(undefined, SHED_AT_ONCE);
  }

  letIn(socket: Socket): void {
    this.#left(keyOf(socket));
  }

  /**
   * False when this address asks too often. A name that was proved here before has an allowance of its own: a
   * caller that floods from the same address does not keep it out.
   */
  mayAsk(socket: Socket, nameMet?: string): boolean {
    const isWithin = this.#rateOf(addressOf(socket)).take(1);
    return isWithin || (nameMet !== undefined && this.#rateOf(`name ${nameMet}`).take(1));
  }

  #rateOf(asker: string): Bucket {
    let rate = this.#rates.get(asker);
    if (rate === undefined) {
      this.#makeRoom();
      rate = new Bucket(this.#clock, this.#limits.handshakesPerSecond);
      this.#rates.set(asker, rate);
    }
    return rate;
  }

  #left(key: string): void {
    this.#waiting.get(key)?.();
    this.#waiting.delete(key);
  }

  #makeRoom(): void {
    if (this.#rates.size < ADDRESSES_MAX) return;
    for (const [address, rate] of this.#rates) if (rate.isFull) this.#rates.delete(address);
    if (this.#rates.size >= ADDRESSES_MAX) this.#rates.clear();
  }
}

function addressOf(socket: Socket): string {
  return socket.remoteAddress ?? '';
}

function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
