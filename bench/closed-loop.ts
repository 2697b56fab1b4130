/** A closed loop: a fixed number of sends is outstanding at all times. */

/** Resolves when all of `total` sends have; rejects with the first that fails. */
export function closedLoop(
  total: number,
  inFlight: number,
  send: (number: number) => Promise<unknown>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0;
    let done = 0;
    const settled = (): void => {
      done += 1;
      if (done === total) resolve();
      else if (next < total) send(next++).then(settled, reject);
    };
    while (next < Math.min(total, inFlight)) send(next++).then(settled, reject);
  });
}

/** Numbers that look random and are the same in every run. */
export class Sequence {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0 to `below` - 1. */
  next(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  /** `count` different numbers below `below`. */
  pick(count: number, below: number): number[] {
    const picked = new Set<number>();
    while (picked.size < count) picked.add(this.next(below));
    return [...picked];
  }
}
