/**
 * Request rates: each client may make as many requests as its minute has, spent at once or bit by bit.
 *
 * Bounded: beyond a number of clients the client that has been silent for longest is forgotten, which
 * gives it a fresh minute and nothing else.
 */

import type { Clock } from '../runtime/ports/clock.ts';
import { HttpRefusal } from './refusal.ts';

interface Allowance {
  left: number;
  at: number;
}

export class Rates {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #clientsMax: number;
  readonly #allowances = new Map<string, Allowance>();

  constructor(clock: Clock, perMinute: number, clientsMax: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#clientsMax = clientsMax;
  }

  /** @throws {HttpRefusal} tooManyRequests */
  spend(client: string): void {
    const now = this.#clock.now();
    const { left, at } = this.#allowances.get(client) ?? { left: this.#perMinute, at: now };
    const earned = ((now - at) * this.#perMinute) / 60_000;
    const allowance = { left: Math.min(this.#perMinute, left + earned), at: now };
    // Last in the order of the map: the first is the one to forget.
    this.#allowances.delete(client);
    this.#allowances.set(client, allowance);
    if (this.#allowances.size > this.#clientsMax) {
      const [oldest] = this.#allowances.keys();
      this.#allowances.delete(oldest as string);
    }
    if (allowance.left >= 1) {
      allowance.left -= 1;
      return;
    }
    const waitSeconds = Math.ceil(((1 - allowance.left) * 60) / this.#perMinute);
    throw new HttpRefusal('tooManyRequests', `At most ${this.#perMinute} requests a minute.`, {
      headers: { 'retry-after': String(waitSeconds) },
    });
  }
}
