/**
 * A process that plays seeds on the sources that it stands in, and prints a line for each.
 *
 * It is started in a copy by seeds.ts, with the seeds as arguments. A run ends at its first violation.
 * What a node would have died of, an error that nobody caught, counts as one.
 */

import process from 'node:process';
import { messageOf } from '../../runtime/errors.ts';
import { play } from '../jobs/run.ts';
import { drawPlan } from '../swarm/draw-plan.ts';

export interface PlayedSeed {
  readonly seed: number;
  /** The id of the invariant that was broken, or `thrown`; null: the run was clean. */
  readonly invariant: string | null;
  readonly what: string;
  /** Records of the history until then. */
  readonly traceLength: number;
}

let uncaught: string | undefined;
process.on('unhandledRejection', (thrown) => {
  uncaught ??= messageOf(thrown);
});
process.on('uncaughtException', (thrown) => {
  uncaught ??= messageOf(thrown);
});

const [hitsMax = 1, ...seeds] = process.argv.slice(2).map(Number);
await playAll(seeds, hitsMax);
process.exit();

async function playAll(all: readonly number[], most: number): Promise<void> {
  let hits = 0;
  for (const seed of all) {
    if (hits >= most) return;
    const played = await playOne(seed);
    if (played.invariant !== null) hits += 1;
    process.stdout.write(`${JSON.stringify(played)}\n`);
  }
}

async function playOne(seed: number): Promise<PlayedSeed> {
  uncaught = undefined;
  try {
    const { judgement, history } = await play(drawPlan(seed), { endsAtViolation: true });
    const { length } = history.records;
    const [violation] = judgement.violations;
    if (violation !== undefined) {
      const { invariant, what, record } = violation;
      return { seed, invariant, what, traceLength: record === null ? length : record + 1 };
    }
    if (uncaught !== undefined)
      return { seed, invariant: 'thrown', what: uncaught, traceLength: length };
    return { seed, invariant: null, what: '', traceLength: length };
  } catch (thrown) {
    return { seed, invariant: 'thrown', what: messageOf(thrown), traceLength: 0 };
  }
}
