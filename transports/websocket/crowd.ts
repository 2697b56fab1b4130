/**
 * How many are at the door: callers that have connected and not been let in, in all and by address.
 *
 * Guarantees: a storm of connections costs one look in a map each and touches nobody who is
 * inside. What it counts ends with the socket, so nothing is left over.
 */

import type { Socket } from 'node:net';
import { Bucket } from '../../runtime/bucket.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { WebSocketLimits } from './limits.ts';

/** Addresses whose rate is remembered; beyond it those that were quiet for a second are forgotten, then all. */
const ADDRESSES_MAX = 10_000;

export class Crowd {
  readonly #clock: Clock;
  readonly #limits: WebSocketLimits;
  /** By address and port of the caller, which is the same for a socket and for TLS on top of it. */
  readonly #waiting = new Map<string, string>();
  readonly #byAddress = new Map<string, number>();
  readonly #rates = new Map<string, Bucket>();

  constructor(clock: Clock, limits: WebSocketLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** False when there are too many already: the caller is to be cut off. */
  arrived(socket: Socket): boolean {
    const address = addressOf(socket);
    const { handshakesMax, handshakesPerAddressMax } = this.#limits;
    if (this.#waiting.size >= handshakesMax) return false;
    const sameAddress = this.#byAddress.get(address) ?? 0;
    if (sameAddress >= handshakesPerAddressMax) return false;
    const key = keyOf(socket);
    this.#waiting.set(key, address);
    this.#byAddress.set(address, sameAddress + 1);
    socket.once('close', () => this.#left(key));
    return true;
  }

  letIn(socket: Socket): void {
    this.#left(keyOf(socket));
  }

  /** False when this address asks too often. */
  mayAsk(socket: Socket): boolean {
    const address = addressOf(socket);
    let rate = this.#rates.get(address);
    if (rate === undefined) {
      this.#makeRoom();
      rate = new Bucket(this.#clock, this.#limits.handshakesPerSecond);
      this.#rates.set(address, rate);
    }
    return rate.take(1);
  }

  #left(key: string): void {
    const address = this.#waiting.get(key);
    if (address === undefined) return;
    this.#waiting.delete(key);
    const left = (this.#byAddress.get(address) ?? 1) - 1;
    if (left === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, left);
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
