/**
 * Plays one plan for a batch: what of the run is worth keeping when thousands of them are played.
 *
 * All of it is counted while the run goes on: a history of a hundred thousand records would only be kept
 * to be read once more, and the garbage collector moves every one of them twice.
 */

import { type Coverage, FaultCounts, type RunFigures } from '../simulation.ts';
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
