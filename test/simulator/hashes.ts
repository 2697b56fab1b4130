/** Prints the trace hashes of seeds, as one line of JSON: for the test that plays them elsewhere. */

import { play } from '../../simulator/jobs/run.ts';
import { drawPlan } from '../../simulator/jobs/swarm/draw-plan.ts';

const hashes: Record<string, string> = {};
for (const seed of process.argv.slice(2).map(Number))
  hashes[seed] = (await play(drawPlan(seed, { untilMs: 300_000 }))).traceHash;
process.stdout.write(JSON.stringify(hashes));
