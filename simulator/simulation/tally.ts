/**
 * Totals of a batch of runs: how many, how fast, what they met and what they broke.
 *
 * Plain data, so that the tallies of several processes add up to one.
 */

import type { Violation } from '../invariants.ts';

export interface FaultFigures {
  /** Begun. */
  readonly injected: number;
  /** Number of those that changed what happened. */
  readonly effective: number;
}

/** Figures of one run. */
export interface RunFigures {
  readonly seed: number;
  readonly traceHash: string;
  readonly simulatedMs: number;
  /** Turns taken, and the messages delivered and the timers fired that they took. */
  readonly events: number;
  readonly isFaultFree: boolean;
  readonly violations: readonly Violation[];
  readonly exercised: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, FaultFigures>>;
  readonly marks: readonly string[];
}

/** A run that broke an invariant. */
export interface Failure {
  readonly seed: number;
  readonly violations: readonly Violation[];
}

export interface TallyFigures {
  readonly runs: number;
  readonly faultFreeRuns: number;
  readonly simulatedMs: number;
  readonly events: number;
  readonly failures: readonly Failure[];
  readonly exercised: Readonly<Record<string, number>>;
  /** In how many runs each invariant had something to say. */
  readonly exercisedRuns: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, FaultFigures>>;
  /** In how many runs each was reached. */
  readonly marks: Readonly<Record<string, number>>;
}

export class Tally {
  #runs = 0;
  #faultFreeRuns = 0;
  #simulatedMs = 0;
  #events = 0;
  readonly #failures: Failure[] = [];
  readonly #exercised = new Map<string, number>();
  readonly #exercisedRuns = new Map<string, number>();
  readonly #faults = new Map<string, FaultFigures>();
  readonly #marks = new Map<string, number>();

  take(run: RunFigures): void {
    this.#runs += 1;
    if (run.isFaultFree) this.#faultFreeRuns += 1;
    this.#simulatedMs += run.simulatedMs;
    this.#events += run.events;
    const { seed, violations } = run;
    if (violations.length > 0) this.#failures.push({ seed, violations });
    for (const [id, times] of Object.entries(run.exercised)) {
      addTo(this.#exercised, id, times);
      if (times > 0) addTo(this.#exercisedRuns, id, 1);
    }
    for (const mark of run.marks) addTo(this.#marks, mark, 1);
    for (const [kind, { injected, effective }] of Object.entries(run.faults)) {
      const before = this.#faults.get(kind) ?? { injected: 0, effective: 0 };
      this.#faults.set(kind, {
        injected: before.injected + injected,
        effective: before.effective + effective,
      });
    }
  }

  figures(): TallyFigures {
    return {
      runs: this.#runs,
      faultFreeRuns: this.#faultFreeRuns,
      simulatedMs: this.#simulatedMs,
      events: this.#events,
      failures: [...this.#failures].sort((one, other) => one.seed - other.seed),
      exercised: sorted(this.#exercised),
      exercisedRuns: sorted(this.#exercisedRuns),
      faults: sorted(this.#faults),
      marks: sorted(this.#marks),
    };
  }
}

function addTo(counts: Map<string, number>, name: string, times: number): void {
  counts.set(name, (counts.get(name) ?? 0) + times);
}

function sorted<T>(map: ReadonlyMap<string, T>): Record<string, T> {
  return Object.fromEntries([...map].sort(([one], [other]) => (one < other ? -1 : 1)));
}
