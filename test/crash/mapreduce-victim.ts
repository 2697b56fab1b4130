/**
 * Runs a map-reduce run in a process that is to be killed: begins it, or goes on with it.
 *
 *   node --import tsx test/crash/mapreduce-victim.ts FOLDER RUN
 */

import { join } from 'node:path';
import { Host } from '../../programs/mapreduce/host.ts';
import { followRun, inputOf, prepare, resumeRun, startRun } from '../../programs/mapreduce/run.ts';

const [folder = '.', runId = 'r1'] = process.argv.slice(2);
// A helper starts commands as soon as it is up: runs that are killed soon have few.
const host = await Host.open({ data: join(folder, 'data'), launcherAfter: 0 });
if (host.stored.run(runId) === undefined) {
  const prepared = prepare(join(folder, 'workflow.yml'));
  await startRun(host, prepared, inputOf(prepared), { runId });
} else await resumeRun(host, runId);
process.stdout.write('begun\n');
await followRun(host, runId, {});
await host.close();
