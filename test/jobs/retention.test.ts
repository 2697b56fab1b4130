/**
 * Jobs that have ended go when `jobRetentionMs` says so, from real files too, and their ids are free
 * then. How long messages are known again is `dedupRetentionMs`, and keeps nobody longer than asked.
 */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JobsConfiguration } from '../../programs/jobs/configuration.ts';
import type { JobsClient } from '../../programs/jobs/index.ts';
import { dedupRetentionMs } from '../../programs/jobs/limits.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type Cluster, scripted, startCluster } from './cluster.ts';
import { startOnDisks } from './restart/on-disks.ts';

const ONE = { datacenters: { A: { workers: 1, cores: 16 } } };
const DAY_MS = 86_400_000;
/** Far more than what the log of their history grows by. */
const RESULT = 'x'.repeat(60_000);

const jobOf = (jobId: string) => ({
  jobId,
  timeoutMs: 60_000,
  workflows: [scripted('w1', { runs: 10 }), scripted('w2', { runs: 10, result: RESULT })],
});

/** Jobs one after the other, each to its end. */
async function run(cluster: Cluster, client: JobsClient, ids: readonly string[]): Promise<void> {
  for (const jobId of ids) {
    const answer = await cluster.time.during(client.submit(jobOf(jobId)));
    expect(answer).toMatchObject({ accepted: true, created: true });
    expect(await cluster.time.during(client.wait(jobId))).toMatchObject({ status: 'completed' });
  }
}

function kept(cluster: Cluster, kind: 'attempt' | 'job' | 'workflow'): number {
  const { runtime } =
    kind === 'attempt' ? cluster.worker('A.worker-1') : cluster.manager('A.manager-1');
  return (runtime as Runtime).query({ kind, limit: 1_000 }).actors.length;
}

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe('a job that has ended', () => {
  test('goes from its file when its time is over, and later jobs have its room', async () => {
    const { cluster, disks } = await startOnDisks({ ...ONE, config: { jobRetentionMs: 10_000 } });
    const client = await cluster.connect('A');
    const sizes: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      await run(cluster, client, numbered(`round-${round}`, 8));
      expect(kept(cluster, 'workflow')).toBe(16);
      await cluster.time.runFor(20_000);
      expect(kept(cluster, 'job')).toBe(0);
      expect(kept(cluster, 'workflow')).toBe(0);
      sizes.push(statSync(join(disks.directoryOf('A'), 'data.mdb')).size);
    }
    const grownBytes = (sizes.at(-1) as number) - (sizes[1] as number);
    expect(grownBytes).toBeLessThan(2 * 8 * RESULT.length);
  });

  test('goes after a restart as well', async () => {
    const { cluster, disks } = await startOnDisks({ ...ONE, config: { jobRetentionMs: 60_000 } });
    const client = await cluster.connect('A');
    await run(cluster, client, numbered('job', 3));
    cluster.crash('A.manager-1');
    await cluster.time.runFor(5_000);
    await cluster.time.during(cluster.restart('A.manager-1'));
    expect(disks.isBusy).toBe(false);
    await cluster.time.runFor(90_000);
    expect(kept(cluster, 'job') + kept(cluster, 'workflow')).toBe(0);
  });

  test('is the same job under its id until then, and another one afterwards, which runs', async () => {
    const cluster = await startCluster({ ...ONE, config: { jobRetentionMs: 60_000 } });
    onTestFinished(() => cluster.stop());
    const client = await cluster.connect('A');
    await run(cluster, client, ['again']);
    await cluster.time.runFor(50_000);
    const same = await cluster.time.during(client.submit(jobOf('again')));
    expect(same).toMatchObject({ accepted: true, created: false, status: 'completed' });
    for (let life = 0; life < 3; life += 1) {
      await cluster.time.runFor(75_000);
      await run(cluster, client, ['again']);
    }
  });

  test('is forgotten by its worker at once, whatever the datacenter keeps', async () => {
    const cluster = await startCluster(ONE);
    onTestFinished(() => cluster.stop());
    const client = await cluster.connect('A');
    await run(cluster, client, numbered('job', 5));
    expect(kept(cluster, 'attempt')).toBe(0);
    expect(kept(cluster, 'job')).toBe(5);
  });
});

test.each<[Partial<JobsConfiguration>, number]>([
  [{ dedupRetentionMs: null, jobRetentionMs: 7 * DAY_MS }, 7 * DAY_MS],
  [{ dedupRetentionMs: null, jobRetentionMs: 60_000 }, 60_000],
  [{ dedupRetentionMs: null, jobRetentionMs: 30 * DAY_MS }, 7 * DAY_MS],
  [{ dedupRetentionMs: 5_000, jobRetentionMs: 60_000 }, 5_000],
  [{ dedupRetentionMs: 20 * DAY_MS, jobRetentionMs: 30 * DAY_MS }, 20 * DAY_MS],
])('messages of %o are known again for %i ms', (config, expected) => {
  expect(dedupRetentionMs(config as JobsConfiguration)).toBe(expected);
});
