/**
 * Plays one plan for a batch: what of the run is worth keeping when thousands of them are played.
 */

import type { HistoryRecord } from '../history.ts';
import { watchMarks } from '../jobs/marks.ts';
import { type PlayOptions, play, type Run } from '../jobs/run.ts';
import type { Plan } from '../plan.ts';
import type { Coverage } from './coverage.ts';
import type { RunFigures } from './tally.ts';

export interface RunPlanOptions extends PlayOptions {
  readonly coverage?: Coverage;
}

export async function runPlan(
  plan: Plan,
  options: RunPlanOptions = {},
): Promise<[RunFigures, Run]> {
  const { coverage } = options;
  const run = await play(plan, options);
  const { history, judgement, facts, endedAtMs, traceHash, events } = run;
  const { records } = history;
  if (coverage !== undefined) {
    coverage.begin();
    for (const record of records) coverage.see(record);
  }
  const figures: RunFigures = {
    seed: plan.seed,
    traceHash,
    simulatedMs: endedAtMs,
    events,
    isFaultFree: facts.isFaultFree,
    violations: judgement.violations,
    exercised: judgement.exercised,
    faults: faultsOf(records),
    marks: watchMarks(facts, records),
  };
  return [figures, run];
}

/** By kind, and how many of them changed something. */
export function faultsOf(records: readonly HistoryRecord[]): RunFigures['faults'] {
  const injected = new Map<string, number>();
  const effective = new Map<string, Set<string>>();
  for (const record of records) {
    if (record.type !== 'fault') continue;
    const { kind, id, change } = record;
    if (change === 'began') injected.set(kind, (injected.get(kind) ?? 0) + 1);
    if (change === 'hit') effective.set(kind, (effective.get(kind) ?? new Set()).add(id));
  }
  return Object.fromEntries(
    [...injected].map(([kind, times]) => [
      kind,
      { injected: times, effective: effective.get(kind)?.size ?? 0 },
    ]),
  );
}
