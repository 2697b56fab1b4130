/**
 * Slice: the time for which frames are read in one turn of the event loop, over all connections of this
 * process.
 *
 * A peer that sends faster than its frames are understood would otherwise keep everything else from running
 * until its burst is over: Node reads on from a socket for as long as there is something in it, and what it
 * has read at once may be hundreds of frames. The rest is read after timers and other I/O have had their
 * turn; nothing is dropped.
 */

import type { Clock } from '../../runtime/ports/clock.ts';

const SLICE_MS = 10;

export class Slice {
  readonly #clock: Clock;
  #endsAt: number | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a frame was read. True when that was enough for now: `goOn` is called in the next turn. */
  isOver(goOn: () => void): boolean {
    if (this.#endsAt === undefined) {
      this.#endsAt = this.#clock.now() + SLICE_MS;
      setImmediate(() => this.#begin());
      return false;
    }
    if (this.#clock.now() < this.#endsAt) return false;
    this.#waiting.add(goOn);
    return true;
  }

  #begin(): void {
    this.#endsAt = undefined;
    for (const goOn of [...this.#waiting]) {
      // Connections that are left come first in the next turn.
      if (this.#endsAt !== undefined && this.#clock.now() >= this.#endsAt) return;
      this.#waiting.delete(goOn);
      goOn();
    }
  }
}
