/** Lists of jobs: what runs first, the newest first, page by page, over real files too. */

import { describe, expect, onTestFinished, test } from 'vitest';
import type { JobsClient } from '../../programs/jobs/index.ts';
import { type Cluster, scripted, startCluster } from './cluster.ts';
import { startOnDisks } from './restart/on-disks.ts';

const PLAN = { gates: 1, datacenters: { A: { workers: 1, cores: 1 } } };

/** `c`, `a` and `d` are done in that order; `e`, `b` and `f` run or wait. */
async function submitAll(cluster: Cluster, client: JobsClient): Promise<void> {
  for (const jobId of ['c', 'a', 'd', 'e', 'b', 'f']) {
    const runs = 'cad'.includes(jobId) ? 10 : 'never';
    const job = { jobId, timeoutMs: 3_600_000, workflows: [scripted('w1', { runs })] };
    expect(await cluster.time.during(client.submit(job))).toMatchObject({ accepted: true });
    await cluster.time.runFor(500);
  }
}

const IN_ORDER = ['f', 'b', 'e', 'd', 'a', 'c'];

async function listed(
  cluster: Cluster,
  client: JobsClient,
  asked: Parameters<JobsClient['list']>[0],
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await cluster.time.during(client.list({ ...asked, ...(cursor && { cursor }) }));
    ids.push(...page.jobs.map(({ jobId }) => jobId));
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return ids;
}

describe.each(['A', 'gate-1'])('the jobs of %s', (to) => {
  test('are listed with what runs first, and the newest first', async () => {
    const cluster = await startCluster(PLAN);
    onTestFinished(() => cluster.stop());
    const client = await cluster.connect(to);
    await submitAll(cluster, client);
    expect(await listed(cluster, client, {})).toEqual(IN_ORDER);
    for (const limit of [1, 2, 4])
      expect(await listed(cluster, client, { limit })).toEqual(IN_ORDER);
    expect(await listed(cluster, client, { status: 'completed' })).toEqual(['d', 'a', 'c']);
    const [newest] = (await cluster.time.during(client.list({ limit: 1 }))).jobs;
    expect(newest?.jobId).toBe('f');
  });
});

test('one that comes while pages are read moves nothing, and one that ends is not missed', async () => {
  const cluster = await startCluster(PLAN);
  onTestFinished(() => cluster.stop());
  const client = await cluster.connect('A');
  await submitAll(cluster, client);
  const first = await cluster.time.during(client.list({ limit: 2 }));
  expect(first.jobs.map(({ jobId }) => jobId)).toEqual(['f', 'b']);
  const job = { jobId: 'g', timeoutMs: 3_600_000, workflows: [scripted('w1', {})] };
  await cluster.time.during(client.submit(job));
  await cluster.time.during(client.cancel('e'));
  const next = await cluster.time.during(client.list({ cursor: first.cursor as string }));
  expect(next.jobs.map(({ jobId }) => jobId)).toEqual(['e', 'd', 'a', 'c']);
});

test('they are so on disk, and after a restart', async () => {
  const { cluster } = await startOnDisks({ datacenters: PLAN.datacenters });
  const client = await cluster.connect('A');
  await submitAll(cluster, client);
  expect(await listed(cluster, client, { limit: 2 })).toEqual(IN_ORDER);
  cluster.crash('A.manager-1');
  await cluster.time.runFor(5_000);
  await cluster.time.during(cluster.restart('A.manager-1'));
  await cluster.time.runFor(5_000);
  expect(await listed(cluster, client, { limit: 2 })).toEqual(IN_ORDER);
});
