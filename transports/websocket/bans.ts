/**
 * Bans of peers that broke the rules: each peer is kept away for a while.
 *
 * A ban is of a name that was proved, so nobody can have another banned. A limited number of them
 * is remembered; beyond it the ban that began first is forgotten.
 */

import type { Clock } from '../../runtime/ports/clock.ts';

const BANS_MAX = 10_000;

export class Bans {
  readonly #clock: Clock;
  readonly #banMs: number;
  readonly #until = new Map<string, number>();

  constructor(clock: Clock, banMs: number) {
    this.#clock = clock;
    this.#banMs = banMs;
  }

  add(node: string): void {
    const key = keyOf(node);
    this.#until.delete(key);
    this.#until.set(key, this.#clock.now() + this.#banMs);
    if (this.#until.size <= BANS_MAX) return;
    for (const oldest of this.#until.keys()) {
      this.#until.delete(oldest);
      return;
    }
  }

  /** Time that the ban goes on, or 0. */
  leftMs(node: string): number {
    const key = keyOf(node);
    const until = this.#until.get(key);
    if (until === undefined) return 0;
    const leftMs = until - this.#clock.now();
    if (leftMs > 0) return leftMs;
    this.#until.delete(key);
    return 0;
  }
}

/** A client is its token: another random part makes it nobody else. */
function keyOf(node: string): string {
  return node.includes('~') ? node.slice(0, node.indexOf('~') + 1) : node;
}
