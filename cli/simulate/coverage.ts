/**
 * Coverage of a batch: the share of its runs in which each invariant had something to say.
 *
 * An invariant that applies in one run of a thousand judges next to nothing, however clean the batch is:
 * below one run in a hundred it is told, and it needs a nemesis or a workload of its own.
 */

import { jobsInvariants } from '../../simulator/jobs.ts';
import type { TallyFigures } from '../../simulator/simulation.ts';

type Figures = Pick<TallyFigures, 'runs' | 'exercisedRuns'>;

const SELDOM_SHARE = 0.01;

/** Ids of those that applied in some runs and in too few; what never applied is told apart from them. */
export function seldomIn({ runs, exercisedRuns }: Figures): readonly string[] {
  return jobsInvariants
    .map(({ id }) => id)
    .filter((id) => {
      const times = exercisedRuns[id] ?? 0;
      return times > 0 && times < SELDOM_SHARE * runs;
    });
}

/** A line for each invariant, the seldom ones first. */
export function coverageLines({ runs, exercisedRuns }: Figures): readonly string[] {
  return jobsInvariants
    .map(({ id, says }) => ({ id, says, times: exercisedRuns[id] ?? 0 }))
    .sort((one, other) => one.times - other.times)
    .map(({ id, says, times }) => {
      const share = runs === 0 ? 0 : (100 * times) / runs;
      return `${id.padEnd(6)} ${share.toFixed(1).padStart(5)} %  ${says}`;
    });
}
