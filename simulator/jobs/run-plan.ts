/**
 * Plays one plan for a batch: what of the run is worth keeping when thousands of them are played.
 *
 * All of it is counted while the run goes on: a history of a hundred thousand records would only be kept
 * to be read once more, and the garbage collector moves every one of them twice.
 */

import type { HistoryRecord } from '../history/history.ts';
import type { Coverage } from '../simulation/coverage.ts';
import type { FaultFigures, RunFigures } from '../simulation/tally.ts';
import { MarkWatch } from './marks.ts';
import type { Plan } from './plan.ts';
import { play } from './run.ts';

export async function runPlan(plan: Plan, coverage: Coverage): Promise<RunFigures> {
  const faults = new FaultCounts();
  let marks: MarkWatch | undefined;
  coverage.begin();
  const { judgement, facts, endedAtMs, traceHash, events } = await play(plan, {
    keepsHistory: false,
    reader: (known) => {
      const watch = new MarkWatch(known);
      marks = watch;
      return (record) => {
        coverage.see(record);
        faults.see(record);
        watch.see(record);
      };
    },
  });
  return {
    seed: plan.seed,
    traceHash,
    simulatedMs: endedAtMs,
    events,
    isFaultFree: facts.isFaultFree,
    violations: judgement.violations,
    exercised: judgement.exercised,
    faults: faults.figures(),
    marks: marks?.reached ?? [],
  };
}

/** Faults by kind, and how many of them changed something. */
export function faultsOf(records: readonly HistoryRecord[]): RunFigures['faults'] {
  const faults = new FaultCounts();
  for (const record of records) faults.see(record);
  return faults.figures();
}

class FaultCounts {
  readonly #injected = new Map<string, number>();
  readonly #effective = new Map<string, Set<string>>();

  see(record: HistoryRecord): void {
    if (record.type !== 'fault') return;
    const { kind, id, change } = record;
    if (change === 'began') this.#injected.set(kind, (this.#injected.get(kind) ?? 0) + 1);
    if (change === 'hit')
      this.#effective.set(kind, (this.#effective.get(kind) ?? new Set()).add(id));
  }

  figures(): Readonly<Record<string, FaultFigures>> {
    return Object.fromEntries(
      [...this.#injected].map(([kind, times]) => [
        kind,
        { injected: times, effective: this.#effective.get(kind)?.size ?? 0 },
      ]),
    );
  }
}
