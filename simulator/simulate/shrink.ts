/**
 * Shrinking: of a plan that breaks an invariant, as few faults and steps as break the same one still.
 *
 * Guarantees: what comes out was played and broke it. Within the tries that it has it leaves nothing
 * that could be left out alone; it does not look for other plans that are smaller.
 */

import { withoutFaults } from '../commit-pace.ts';
import { withoutParts } from '../report/reduction.ts';
import type { SimulationPlan } from './plan.ts';
import type { SimulationRun } from './run.ts';

/** Runs that it takes at most. */
const TRIES_MAX = 120;
/** What was seen in the middle of a run is waited for so much longer than it took, and no longer. */
const PATIENCE_MS = 10_000;

type Play = (plan: SimulationPlan) => Promise<SimulationRun>;

/** `broken`: a run whose first violation is the one to keep. */
export async function shrink(broken: SimulationRun, play: Play): Promise<SimulationRun> {
  const [wanted] = broken.judgement.violations;
  if (wanted === undefined) return broken;
  const isAtEnd = wanted.record === null;
  const known = new Set<string>();
  let best = broken;
  const untilMs = isAtEnd
    ? broken.plan.untilMs
    : Math.min(broken.plan.untilMs, 2 * wanted.atMs + PATIENCE_MS);
  const isSmaller = async (smaller: Partial<SimulationPlan>): Promise<boolean> => {
    const plan = { ...best.plan, untilMs, ...smaller };
    const text = JSON.stringify(plan);
    if (known.has(text) || known.size >= TRIES_MAX) return false;
    known.add(text);
    const run = await play(plan);
    const [found] = run.judgement.violations;
    // A run that is cut off may look unfinished in the end: that is another matter.
    if (found?.invariant !== wanted.invariant || (found.record === null) !== isAtEnd) return false;
    best = run;
    return true;
  };
  for (let before: SimulationRun | undefined; before !== best; ) {
    before = best;
    // Where nothing goes wrong there is nothing to heal.
    await fewest(best.plan.nemeses, (nemeses) =>
      isSmaller(
        nemeses.length === 0 ? { ...withoutFaults(best.plan), healAtMs: null } : { nemeses },
      ),
    );
    await fewest(best.plan.steps, (steps) => isSmaller({ steps }));
  }
  return best;
}

async function fewest<T>(
  all: readonly T[],
  suffices: (left: readonly T[]) => Promise<boolean>,
): Promise<void> {
  for (const { left } of withoutParts(all))
    if (await suffices(left)) {
      await fewest(left, suffices);
      return;
    }
}
