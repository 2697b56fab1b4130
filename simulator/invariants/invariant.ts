/**
 * An invariant: a sentence that must hold in every run, and the function that watches for it.
 *
 * A watcher hears the records it asks for, in order, and then the end of the run. It knows only
 * the history and the facts of the run, so it judges a saved history as it judges a living one. It
 * says when the sentence had something to say (`exercised`), so that one that never applied is not
 * taken for one that held.
 */

import type { HistoryRecord } from '../history.ts';

export interface Invariant<TFacts = RunFacts> {
  /** Stable: `TO-1`. */
  readonly id: string;
  /** Holds at every step; holds within a bound once the faults are over; nothing is left over. */
  readonly kind: 'safety' | 'liveness' | 'resources';
  /** The sentence. */
  readonly says: string;
  /** Begins to watch one run. */
  readonly watch: (facts: TFacts, verdict: Verdict) => Watcher;
}

export interface Verdict {
  /** The sentence applied to something, and was looked at. */
  exercised(): void;
  /** It did not hold; `record` is where it was seen. */
  broken(what: string, record?: HistoryRecord): void;
}

/** Listeners by type of record; what is left out is not heard. */
export type Watcher = {
  readonly [type in HistoryRecord['type']]?: (
    record: Extract<HistoryRecord, { readonly type: type }>,
  ) => void;
} & {
  /** The run is over; `endedAtMs` is true time since zero. */
  readonly end?: (endedAtMs: number) => void;
};

/** What is known of a run beside its history. */
export interface RunFacts {
  /** All nodes, and the place each of them hosts or stands by for. */
  readonly places: Readonly<Record<string, string>>;
  /** Largest skew of a wall clock against true time, drift included. */
  readonly epsilonMs: number;
  /** Largest delay of a frame while the network is healed. */
  readonly deltaMs: number;
  /** No fault began before this; from `healedAtMs` on the core is healed and left alone. Null: never. */
  readonly healedAtMs: number | null;
  /** How long a silent sender is remembered. Default: as long as by default. */
  readonly dedupRetentionMs?: number;
  /** At places where it is another time. */
  readonly dedupRetentionMsAt?: Readonly<Record<string, number>>;
  /** Nodes that are up and connected from then on. */
  readonly core: readonly string[];
  /** True: the run had no faults at all. */
  readonly isFaultFree: boolean;
}

/** An invariant that did not hold. */
export interface Violation {
  readonly invariant: string;
  readonly says: string;
  readonly what: string;
  readonly atMs: number;
  readonly node: string;
  /** Index of the record in the history at which it was seen; null when it was seen at the end. */
  readonly record: number | null;
}

export interface Judgement {
  readonly violations: readonly Violation[];
  /** How often each invariant applied. */
  readonly exercised: Readonly<Record<string, number>>;
}

/** Violations of one invariant that are kept; the others are counted nowhere. */
const KEPT_MAX = 10;

/** All invariants at work on one run. */
export class Judge<TFacts = RunFacts> {
  readonly #violations: Violation[] = [];
  readonly #exercised: Record<string, number> = {};
  readonly #hearers = new Map<HistoryRecord['type'], Array<(record: never) => void>>();
  readonly #enders: Array<(endedAtMs: number) => void> = [];
  #atMs = 0;

  constructor(invariants: readonly Invariant<TFacts>[], facts: TFacts) {
    for (const invariant of invariants) this.#begin(invariant, facts);
  }

  get hasViolations(): boolean {
    return this.#violations.length > 0;
  }

  see(record: HistoryRecord): void {
    this.#atMs = record.atMs;
    const hearers = this.#hearers.get(record.type);
    if (hearers === undefined) return;
    for (const hear of hearers) hear(record as never);
  }

  end(endedAtMs: number): Judgement {
    this.#atMs = endedAtMs;
    for (const end of this.#enders) end(endedAtMs);
    return { violations: this.#violations, exercised: this.#exercised };
  }

  #begin({ id, says, watch }: Invariant<TFacts>, facts: TFacts): void {
    this.#exercised[id] = 0;
    let kept = 0;
    const verdict: Verdict = {
      exercised: () => {
        this.#exercised[id] = (this.#exercised[id] ?? 0) + 1;
      },
      broken: (what, record) => {
        kept += 1;
        if (kept > KEPT_MAX) return;
        const { atMs = this.#atMs, node = '', index = null } = record ?? {};
        this.#violations.push({ invariant: id, says, what, atMs, node, record: index });
      },
    };
    const { end, ...hearers } = watch(facts, verdict);
    if (end !== undefined) this.#enders.push(end);
    for (const [type, hear] of Object.entries(hearers)) {
      const known = this.#hearers.get(type as HistoryRecord['type']) ?? [];
      known.push(hear as (record: never) => void);
      this.#hearers.set(type as HistoryRecord['type'], known);
    }
  }
}

/** Judges a history that is complete. */
export function judge<TFacts>(
  invariants: readonly Invariant<TFacts>[],
  facts: TFacts,
  records: readonly HistoryRecord[],
  endedAtMs: number,
): Judgement {
  const one = new Judge(invariants, facts);
  for (const record of records) one.see(record);
  return one.end(endedAtMs);
}
