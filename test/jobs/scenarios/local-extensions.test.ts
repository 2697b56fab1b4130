/** Scenarios of one datacenter: what a worker is granted, and what it does to jobs. */

import { expect, test } from 'vitest';
import type { ExtensionAnswer } from '../../../machines/jobs/messages/worker.ts';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, type ExtensionScript, scripted, startCluster } from '../cluster.ts';
import { endAt, goTo, jobAt, timesOf, watchTurns } from './scene.ts';
import { expectAt, healthOf } from './witness.ts';

const MANAGER = 'A.manager-1';
const W1 = 'A.worker-1';

function submit(cluster: Cluster, seconds: number, script: HandlerScript = { runs: 'never' }) {
  const workflows = [scripted('w1', script)];
  return cluster.begin('A', { jobId: 'j1', timeoutMs: seconds * 1_000, workflows });
}

/** Asks at these moments, in seconds; the answers are there once they have come. */
function askAt(
  cluster: Cluster,
  asks: ReadonlyArray<readonly [seconds: number, progress: unknown]>,
  more: Partial<ExtensionScript> & { readonly worker?: string } = {},
): readonly ExtensionAnswer[] {
  const { worker = W1, ...script } = more;
  const answers: ExtensionAnswer[] = [];
  for (const [seconds, progress] of asks)
    cluster.at(seconds * 1_000, async () => {
      answers.push(await cluster.extend(worker, { progress, ...script }));
    });
  return answers;
}

const granted = (cluster: Cluster) =>
  cluster.manager(MANAGER).counters.value('worker_extensions_total', { result: 'granted' });

test('S4 each grant is half of the one before, and the sixth is denied', async () => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  await submit(cluster, 300);
  const answers = askAt(cluster, [
    [10, 0.1],
    [20, 0.2],
    [30, 0.3],
    [40, 0.4],
    [50, 0.5],
    [60, 0.6],
  ]);
  await goTo(cluster, 55);
  expect(healthOf(cluster, W1).state).toBe('exhausted');
  await goTo(cluster, 70);
  expect(answers.map(({ extensionMs }) => extensionMs)).toEqual([
    30_000, 15_000, 7_500, 3_750, 1_875, 0,
  ]);
  expect(answers.map(({ remainingExtensions }) => remainingExtensions)).toEqual([4, 3, 2, 1, 0, 0]);
  const warned = answers.map(({ exhaustionWarning }) => exhaustionWarning);
  expect(warned).toEqual([false, false, false, true, false, false]);
  expect(answers[5]).toMatchObject({ granted: false, denialReason: 'maxReached' });
  expect(jobAt(cluster, 'A').creditByWorker).toEqual({ [W1]: 58_125 });
  await goTo(cluster, 358.125);
  expect(jobAt(cluster, 'A').status).toBe('running');
  await goTo(cluster, 400);
  const end = endAt(cluster, MANAGER);
  const fields = { status: 'timedOut', reason: 'overall', extensionsMs: 58_125 };
  expect(end.fields).toMatchObject(fields);
  expectAt(end.atMs, 358.125);
  expect(granted(cluster)).toBe(5);
  expect(timesOf(cluster, 'worker.evicted')).toEqual([]);
});

test('S5 a request without progress is denied, and silence is judged by what was granted', async () => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  await submit(cluster, 3_600, { runs: 'never', progressEvery: 'never' });
  const answers = askAt(cluster, [
    [1, 0.3],
    [2, 0.6],
    [3, 0.6],
  ]);
  // It is heard at 0, and is gone when it would be heard the next time.
  cluster.at(4_000, () => cluster.crash(W1));
  await goTo(cluster, 2);
  expect(healthOf(cluster, W1).deadlineMs).toBe(60_000);
  await goTo(cluster, 75);
  expect(healthOf(cluster, W1)).toMatchObject({
    deadlineMs: 75_000,
    state: 'extended',
    denials: 1,
  });
  expect(answers).toMatchObject([
    { granted: true, extensionMs: 30_000 },
    { granted: true, extensionMs: 15_000 },
    { granted: false, extensionMs: 0, denialReason: 'noProgress', remainingExtensions: 3 },
  ]);
  await goTo(cluster, 105);
  expect(healthOf(cluster, W1).state).toBe('suspect');
  await goTo(cluster, 120);
  expect(healthOf(cluster, W1).state).toBe('evicted');
  expectAt(timesOf(cluster, 'worker.suspect')[0], 75);
  expectAt(timesOf(cluster, 'worker.evicted')[0], 105);
});

test('S6 a progress that is no number is malformed and does not count', async () => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  await submit(cluster, 300);
  const answers = askAt(cluster, [
    [10, Number.NaN],
    [20, 0.2],
  ]);
  await goTo(cluster, 15);
  expect(answers).toMatchObject([
    { granted: false, extensionMs: 0, denialReason: 'malformed', remainingExtensions: 5 },
  ]);
  expect(healthOf(cluster, W1)).toMatchObject({ state: 'healthy', denials: 0 });
  await goTo(cluster, 25);
  expect(answers[1]).toMatchObject({ granted: true, extensionMs: 30_000, remainingExtensions: 4 });
  const { counters } = cluster.manager(MANAGER);
  expect(counters.value('worker_extensions_total', { result: 'malformed' })).toBe(1);
  expect(granted(cluster)).toBe(1);
});

test('S7 a grant is never less than the least', async () => {
  const config = { baseDeadlineMs: 15_000 };
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } }, config });
  await submit(cluster, 300);
  const answers = askAt(cluster, [
    [10, 0.1],
    [20, 0.2],
    [30, 0.3],
    [40, 0.4],
    [50, 0.5],
  ]);
  await goTo(cluster, 60);
  expect(answers.map(({ extensionMs }) => extensionMs)).toEqual([
    15_000, 7_500, 3_750, 1_875, 1_000,
  ]);
  expect(jobAt(cluster, 'A').creditByWorker).toEqual({ [W1]: 29_125 });
});

test('S8 two grants of 15 s and 7.5 s move the deadline from 300 to 322.5', async () => {
  const config = { baseDeadlineMs: 15_000 };
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } }, config });
  await submit(cluster, 300);
  askAt(cluster, [
    [50, 0.1],
    [100, 0.2],
  ]);
  await goTo(cluster, 322.5);
  expect(jobAt(cluster, 'A').status).toBe('running');
  await goTo(cluster, 330);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ reason: 'overall', extensionsMs: 22_500 });
  expectAt(end.atMs, 322.5);
});

test.each([
  ['sum', 160],
  ['max', 130],
] as const)(
  'S9 of two workers with 30 s each the %s counts, until %d',
  async (extensionAggregation, seconds) => {
    const config = { extensionAggregation };
    await using cluster = await startCluster({ datacenters: { A: { workers: 2 } }, config });
    const on = (worker: string) => scripted(`on-${worker}`, { runs: 'never' }, { worker });
    const workflows = [on(W1), on('A.worker-2')];
    await cluster.begin('A', { jobId: 'j1', timeoutMs: 100_000, workflows });
    askAt(cluster, [[10, 0.1]]);
    askAt(cluster, [[10, 0.1]], { worker: 'A.worker-2' });
    await goTo(cluster, seconds);
    expect(jobAt(cluster, 'A')).toMatchObject({
      status: 'running',
      creditByWorker: { [W1]: 30_000, 'A.worker-2': 30_000 },
    });
    await goTo(cluster, seconds + 10);
    const end = endAt(cluster, MANAGER);
    expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'overall' });
    expectAt(end.atMs, seconds);
  },
);

test('S10 a grant counts for every job on the worker, and is answered when all have it', async () => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } }, commitMs: 40 });
  const client = await submit(cluster, 60);
  const workflows = [scripted('w1', { runs: 'never' })];
  const answer = await cluster.time.during(
    client.submit({ jobId: 'j2', timeoutMs: 80_000, workflows }),
  );
  expect(answer.accepted).toBe(true);
  // A turn is told of once it is durable.
  const turns = watchTurns(cluster, cluster.manager(MANAGER).runtime);
  let answeredMs = 0;
  cluster.at(20_000, async () => {
    const extended = await cluster.extend(W1, { progress: 0.2, jobId: 'j1' });
    expect(extended).toMatchObject({ granted: true, extensionMs: 30_000 });
    answeredMs = cluster.time.now();
    // What the worker was told of is on disk: another process knows it.
    cluster.crash(MANAGER);
    cluster.at(answeredMs + 1_000, () => cluster.restart(MANAGER));
  });
  await goTo(cluster, 21);
  const credited = turns.filter(({ event }) => event.type === 'extension.credited');
  expect(credited.map(({ address }) => address).sort()).toEqual(['job/j1@A', 'job/j2@A']);
  const acked = turns.filter(({ event }) => event.type === 'credit.answered');
  expect(acked.map(({ event }) => [event['jobId'], event['answer']]).sort()).toEqual([
    ['j1', 'applied'],
    ['j2', 'applied'],
  ]);
  // The answer was on its way for 50 ms.
  for (const { atMs } of [...credited, ...acked]) expect(atMs).toBeLessThanOrEqual(answeredMs - 50);
  for (const [jobId, seconds] of [
    ['j1', 90],
    ['j2', 110],
  ] as const) {
    await goTo(cluster, seconds);
    const { creditByWorker, status } = jobAt(cluster, 'A', jobId);
    expect({ creditByWorker, status }).toEqual({
      creditByWorker: { [W1]: 30_000 },
      status: 'running',
    });
    await goTo(cluster, seconds + 1);
    const end = endAt(cluster, MANAGER, jobId);
    expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'overall', leaderFence: 2 });
    expectAt(end.atMs, seconds);
  }
});
