/**
 * Histogram: counts values by the bound that takes each, and hands them to readers one by one.
 */

import type { Cancel } from '../ports/clock.ts';

export interface HistogramSnapshot {
  /** Upper bounds, inclusive. */
  readonly bounds: readonly number[];
  /** Number of values that each bound took and the one before did not; the last is what no bound took. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #readers: ReadonlyArray<(value: number) => void> = [];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  record(value: number): void {
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] as number)) index += 1;
    (this.#counts[index] as number) += 1;
    this.#sum += value;
    this.#count += 1;
    const readers = this.#readers;
    for (let reader = 0; reader < readers.length; reader += 1) readers[reader]?.(value);
  }

  /** Hands every value on as it is recorded. The reader must not throw. */
  read(reader: (value: number) => void): Cancel {
    this.#readers = [...this.#readers, reader];
    return () => {
      this.#readers = this.#readers.filter((each) => each !== reader);
    };
  }

  snapshot(): HistogramSnapshot {
    return {
      bounds: this.#bounds,
      counts: [...this.#counts],
      sum: this.#sum,
      count: this.#count,
    };
  }
}
