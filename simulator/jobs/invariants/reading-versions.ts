/**
 * Versions of each actor: what the stores had of it at a moment, and who wrote there.
 *
 * Guarantees: it is read from what was written and taken, and from nothing that was told. A version counts until the
 * turn of the next one is shown, which a node that stalls does late, and for that moment too, because nobody can say
 * who looked first. Versions that nobody may ask about any more are let go.
 */

import { placeOf } from '../../../runtime/base/address.ts';
import { type CommitRecord, isWritten, partsOf, type StoredParts } from '../../invariants.ts';
import type { TurnRecord } from './reading-turns.ts';

/** An actor as it was stored. */
export interface Version<TContext = unknown> {
  readonly value: unknown;
  readonly context: TContext;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Written {
  /** null: taken out of the store. */
  readonly text: string | null;
  readonly atMs: number;
  /** When a turn of it was shown; undefined before, and for one that takes the actor out of the store. */
  shownMs?: number;
  read?: StoredParts['snapshot'];
}

/** Time until which the version before it counts. */
const takesOverAt = ({ text, atMs, shownMs }: Written): number =>
  shownMs ?? (text === null ? atMs : Number.POSITIVE_INFINITY);

export class Versions {
  readonly #written = new Map<string, Written[]>();
  readonly #writers = new Map<string, string>();
  readonly #keptFrom: (nowMs: number) => number;

  /** `keptFrom`: the earliest moment that is still asked about, at most now. */
  constructor(keptFrom: (nowMs: number) => number) {
    this.#keptFrom = keptFrom;
  }

  commit(record: CommitRecord): void {
    const { place, node, atMs, writes } = record;
    if (!isWritten(record)) return;
    this.#writers.set(place, node);
    const fromMs = this.#keptFrom(atMs);
    for (const { address, record: text } of writes) {
      const all = this.#written.get(address);
      if (all === undefined) this.#written.set(address, [{ text, atMs }]);
      else {
        all.push({ text, atMs });
        while (all[1] !== undefined && takesOverAt(all[1]) < fromMs) all.shift();
      }
    }
  }

  /**
   * A turn is seen once its commit is settled, and one commit may have several of an actor: each was
   * the latest for as long as the ones before it were released.
   */
  turn({ address, atMs, state, context }: TurnRecord): void {
    const all = this.#written.get(address);
    const last = all?.at(-1);
    if (context === undefined || last === undefined || (last.shownMs ?? atMs) !== atMs) return;
    last.shownMs = atMs;
    const value = state.startsWith('{') ? JSON.parse(state) : state;
    const read = { value, context } as StoredParts['snapshot'];
    all?.splice(-1, 0, { text: '', atMs, shownMs: atMs, read });
  }

  /** The node that wrote last for a place. */
  writerOf(place: string): string | undefined {
    return this.#writers.get(place);
  }

  /** All that an actor was between two moments; undefined stands for not being there. */
  of<TContext>(
    address: string,
    { fromMs, toMs }: Span,
  ): ReadonlyArray<Version<TContext> | undefined> {
    const all = this.#written.get(address) ?? [];
    const isUnspawned = (all[0]?.atMs ?? fromMs) >= fromMs;
    const within = all.filter(({ atMs }, index) => {
      const next = all[index + 1];
      return atMs <= toMs && (next === undefined || takesOverAt(next) >= fromMs);
    });
    const found = within.map((written) => read<TContext>(written));
    return isUnspawned ? [undefined, ...found] : found;
  }

  /** Addresses of a kind at a place that were ever written to. */
  addresses(kind: string, place: string): readonly string[] {
    const found = [...this.#written.keys()].filter((address) => address.startsWith(`${kind}/`));
    return found.filter((address) => placeOf(address) === place);
  }
}

function read<TContext>(written: Written): Version<TContext> | undefined {
  if (written.text === null) return undefined;
  written.read ??= partsOf(written.text).snapshot;
  return written.read as Version<TContext>;
}
