/**
 * The first job after a start or a takeover begins as soon as any other: what its gate does not know yet
 * is asked and answered, and no pause goes by.
 */

import { expect, onTestFinished, test } from 'vitest';
import type { JobsClient } from '../../../programs/jobs/client.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';

/** Each way. */
const DELAY_MS = 50;
/** A worker waits for a quick result for so long before it says that a run has begun (attemptAnswerPauseMs). */
const ANSWER_PAUSE_MS = 10;
/** Gate to datacenter, datacenter to worker, and its answer. */
const USUAL_MS = 3 * DELAY_MS + ANSWER_PAUSE_MS;
/** The gate does not know the clock of this leader: the job reports, and begins when that is acknowledged. */
const FIRST_MS = USUAL_MS + 2 * DELAY_MS;

interface Played {
  readonly cluster: Cluster;
  readonly client: JobsClient;
}

async function start(managers = 1): Promise<Played> {
  const cluster = await startCluster({
    gates: 1,
    datacenters: { A: { managers, workers: 1, isAppointed: managers > 1 } },
    delayMs: DELAY_MS,
  });
  onTestFinished(() => cluster.stop());
  return { cluster, client: await cluster.connect('gate-1') };
}

async function submit({ cluster, client }: Played, jobId: string): Promise<void> {
  const workflows = [scripted('w1', { runs: 1_000 })];
  const job = { jobId, timeoutMs: 60_000, workflows };
  expect(await cluster.time.during(client.submit(job))).toMatchObject({ accepted: true });
}

/** From the acceptance at the gate, or from that moment if it is later, until the manager hears of the first run. */
async function beginsAfterMs({ cluster }: Played, jobId: string, sinceMs = 0): Promise<number> {
  const { recorder, time } = cluster;
  const accepted = recorder
    .notes('job.accepted', { jobId })
    .find(({ node }) => node === 'gate-1')?.atMs;
  const began = () => recorder.notes('workflow.transition', { jobId, to: 'RUNNING' })[0]?.atMs;
  await time.until('the job runs', () => began() !== undefined);
  return (began() as number) - Math.max(accepted as number, sinceMs);
}

async function run(played: Played, jobId: string): Promise<number> {
  await submit(played, jobId);
  return await beginsAfterMs(played, jobId);
}

test('any job begins when the frames that it takes have travelled', async () => {
  const played = await start();
  await played.cluster.time.runFor(10_000);
  expect(await run(played, 'first')).toBe(USUAL_MS);
  expect(await run(played, 'second')).toBe(USUAL_MS);
});

test('after the start of a gate the first one waits for one more exchange at most', async () => {
  const played = await start();
  const { cluster } = played;
  cluster.crash('gate-1');
  await cluster.time.runFor(10_000);
  await cluster.time.during(cluster.restart('gate-1'));
  expect(await run(played, 'first')).toBeLessThanOrEqual(FIRST_MS);
  expect(await run(played, 'second')).toBe(USUAL_MS);
});

test('after a takeover the first one waits for one more exchange', async () => {
  const played = await start(2);
  const { cluster } = played;
  expect(await run(played, 'before')).toBe(USUAL_MS);
  cluster.lead('A.manager-2');
  await cluster.time.until('it leads', () => cluster.leaderOf('A') === 'A.manager-2');
  await cluster.time.runFor(500);
  expect(await run(played, 'first')).toBe(FIRST_MS);
  expect(await run(played, 'second')).toBe(USUAL_MS);
});

test('what was accepted while nobody led begins with the first exchanges of the next leader', async () => {
  const played = await start();
  const { cluster } = played;
  cluster.crash('A.manager-1');
  await cluster.time.runFor(10_000);
  await submit(played, 'held');
  await cluster.time.runFor(7_300);
  await cluster.time.during(cluster.restart('A.manager-1'));
  await cluster.time.until('it leads', () => cluster.leaderOf('A') === 'A.manager-1');
  // Leader and gate find each other, and the worker registers; then as above.
  const took = await beginsAfterMs(played, 'held', cluster.time.now());
  expect(took).toBeLessThanOrEqual(FIRST_MS + 4 * DELAY_MS);
});
