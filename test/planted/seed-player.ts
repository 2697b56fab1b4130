/**
 * A process that plays seeds, or plans, on the sources that it stands in, and prints a line for each.
 *
 * It is started in a copy by seeds.ts, with seeds and files of plans as arguments. A run ends at its
 * first violation. What a node would have died of, an error that nobody caught, counts as one.
 */

import { readFileSync } from 'node:fs';
import process from 'node:process';
import { messageOf } from '../../runtime/base/errors.ts';
import { readPlan } from '../../simulator/jobs/report/plan-file.ts';
import { play } from '../../simulator/jobs/run.ts';
import { drawPlan } from '../../simulator/jobs/swarm/draw-plan.ts';

export interface PlayedSeed {
  /** Of a plan its own seed. */
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

const [hitsMax, ...runs] = process.argv.slice(2);
await playAll(runs, Number(hitsMax));
process.exit();

async function playAll(all: readonly string[], most: number): Promise<void> {
  let hits = 0;
  for (const run of all) {
    if (hits >= most) return;
    const played = await playOne(run);
    if (played.invariant !== null) hits += 1;
    process.stdout.write(`${JSON.stringify(played)}\n`);
  }
}

async function playOne(run: string): Promise<PlayedSeed> {
  uncaught = undefined;
  let seed = Number(run);
  try {
    const plan = Number.isNaN(seed) ? readPlan(readFileSync(run, 'utf8'), run) : drawPlan(seed);
    ({ seed } = plan);
    const { judgement, history } = await play(plan, { endsAtViolation: true });
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
