/**
 * Shrinking: of a plan that breaks an invariant, as few faults and steps as break the same one still.
 *
 * Guarantees: what comes out was played and broke it, and is as long as what came in: so it is a test of the mended
 * machines, too, in which faults heal and everything has its time to settle before the end is judged. Within the tries that it has it leaves nothing
 * that could be left out alone; it does not look for other plans that are smaller. Of the runs that
 * held without some of what is left it keeps the run that was the same for longest.
 */

import { type PassingRun, partingOf } from '../explanation.ts';
import type { Nemesis } from '../faults.ts';
import { withoutFaults } from '../world.ts';
import { namesOf, withoutParts } from './parts.ts';
import type { SimulationPlan } from './plan.ts';
import type { SimulationRun } from './run.ts';

/** Runs that it takes at most. */
const TRIES_MAX = 120;
/** What was seen in the middle of a run is waited for so much longer than it took, and no longer. */
const PATIENCE_MS = 10_000;

type Play = (plan: SimulationPlan) => Promise<SimulationRun>;

export interface Shrunk {
  readonly run: SimulationRun;
  readonly passing?: PassingRun<SimulationRun>;
}

/** `broken`: a run whose first violation is the one to keep. */
export async function shrink(broken: SimulationRun, play: Play): Promise<Shrunk> {
  const [wanted] = broken.judgement.violations;
  if (wanted === undefined) return { run: broken };
  const isAtEnd = wanted.record === null;
  const known = new Set<string>();
  let best = broken;
  let passing: PassingRun<SimulationRun> | undefined;
  const untilMs = isAtEnd
    ? broken.plan.untilMs
    : Math.min(broken.plan.untilMs, 2 * wanted.atMs + PATIENCE_MS);
  const isSmaller = async (smaller: Partial<SimulationPlan>, change: string): Promise<boolean> => {
    const plan = { ...best.plan, untilMs, ...smaller };
    const text = JSON.stringify(plan);
    if (known.has(text) || known.size >= TRIES_MAX) return false;
    known.add(text);
    const run = await play(plan);
    const [found] = run.judgement.violations;
    if (found === undefined) passing = nearer(best, run, change, passing);
    // A run that is cut off may look unfinished in the end: that is another matter.
    if (found?.invariant !== wanted.invariant || (found.record === null) !== isAtEnd) return false;
    best = run;
    // What passed differs from a plan that is not the best any more.
    passing = undefined;
    return true;
  };
  for (let before: SimulationRun | undefined; before !== best; ) {
    before = best;
    await fewest(best.plan.nemeses, (nemeses, out) =>
      isSmaller(
        // Where nothing goes wrong there is nothing to heal.
        nemeses.length === 0 ? { ...withoutFaults(best.plan), healAtMs: null } : { nemeses },
        `without ${namesOf(out.map(faultName), 'faults')}`,
      ),
    );
    await fewest(best.plan.steps, (steps, out) =>
      isSmaller({ steps }, `without ${namesOf(out.map(stepName), 'steps')}`),
    );
  }
  const run = best.plan.untilMs === broken.plan.untilMs ? best : await lengthened();
  return { run, ...(passing !== undefined && { passing }) };

  /** The tries were cut off; with the first violation a run ends, so this is the same one. */
  function lengthened(): Promise<SimulationRun> {
    return play({ ...best.plan, untilMs: broken.plan.untilMs });
  }
}

const faultName = ({ id, kind }: Nemesis): string => `fault ${id} (${kind})`;
const stepName = (step: string): string => `step "${step}"`;

/** Picks of two runs that pass the run that departs later from the failing one. */
function nearer(
  failing: SimulationRun,
  run: SimulationRun,
  change: string,
  known: PassingRun<SimulationRun> | undefined,
): PassingRun<SimulationRun> {
  const parting = partingOf(failing.records, run.records);
  const isLater = (parting?.failing?.index ?? -1) > (known?.parting?.failing?.index ?? -1);
  return known === undefined || isLater ? { run, change, parting } : known;
}

async function fewest<T>(
  all: readonly T[],
  suffices: (left: readonly T[], out: readonly T[]) => Promise<boolean>,
): Promise<void> {
  for (const { left, out } of withoutParts(all))
    if (await suffices(left, out)) {
      await fewest(left, suffices);
      return;
    }
}
