/**
 * The handlers of a worker process that plays a scenario: the simulator's own scripted handler, and
 * a wire to the driver, which says when a run asks for an extension.
 *
 * What it needs to know is in its environment: where the driver listens, who this worker is, which
 * handlers it has and where the compiled sources are.
 */

import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const { port, worker, datacenter, names, sources } = JSON.parse(
  process.env.SCENARIO_WORKER ?? '{}',
);
const compiled = (path) => import(pathToFileURL(join(sources, path)).href);
const { scriptedHandler } = await compiled('simulator/jobs/scripted-handler.js');
const { systemClock } = await compiled('runtime/system/clock.js');

const LOOK_MS = 5;

/** Contexts of the runs under way, newest last. */
const running = new Set();
const scripted = scriptedHandler(systemClock(), running, datacenter);

export default Object.fromEntries(names.map((name) => [name, scripted]));

const wire = connect({ port, host: '127.0.0.1' });
wire.on('error', () => {});
wire.unref();
const say = (fact) => wire.write(`${JSON.stringify(fact)}\n`);
say({ hello: worker });
const lines = createInterface({ input: wire });
lines.on('error', () => {});
lines.on('line', (line) => {
  const { id, extend } = JSON.parse(line);
  answer(extend).then(
    (answered) => say({ id, answered }),
    (thrown) => say({ id, failed: String(thrown) }),
  );
});

/** The newest run that is meant asks; of a plan that people wrote, it will be there soon. */
async function answer({ jobId, workflowId, progress, reason, waitsMs }) {
  const meant = () =>
    [...running]
      .filter((one) => jobId === undefined || one.jobId === jobId)
      .findLast((one) => workflowId === undefined || one.workflowId === workflowId);
  const late = Date.now() + waitsMs;
  while (meant() === undefined && Date.now() < late) await pause(LOOK_MS);
  const run = meant();
  if (run === undefined) throw new Error('nothing runs here that could ask');
  return run.extend({ progress: progress === 'NaN' ? Number.NaN : progress, reason });
}
