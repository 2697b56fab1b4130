/**
 * Mix: cases from several sources, so that each has its share of the steps for as long as it has cases.
 *
 * Rounds follow each other. A round is over when each of its sources is; those that only accompany it do not
 * hold it up, and go on in the next round where they stopped.
 */

interface Sized {
  readonly steps: readonly unknown[];
}

export class Source<T extends Sized> {
  readonly #cases: Iterator<T>;
  isOver = false;

  constructor(cases: Iterable<T>) {
    this.#cases = cases[Symbol.iterator]();
  }

  next(): T | undefined {
    const { value, done } = this.#cases.next();
    if (done !== true) return value;
    this.isOver = true;
    return undefined;
  }
}

/** What a source has in one round. */
export interface Part<T extends Sized> {
  readonly source: Source<T>;
  /** Twice the share is twice the steps. */
  readonly share: number;
  readonly accompanies?: boolean;
}

export function* mixed<T extends Sized>(rounds: ReadonlyArray<readonly Part<T>[]>): Generator<T> {
  for (const parts of rounds) {
    const used = new Map(parts.map((part) => [part, 0]));
    const wait = (part: Part<T>): number => (used.get(part) as number) / part.share;
    for (;;) {
      const open = parts.filter(({ source }) => !source.isOver);
      if (open.every(({ accompanies }) => accompanies)) break;
      // Of equals the first: sorting is stable.
      const [next] = open.sort((one, other) => wait(one) - wait(other)) as [Part<T>];
      const one = next.source.next();
      if (one === undefined) continue;
      used.set(next, (used.get(next) as number) + one.steps.length);
      yield one;
    }
  }
}
