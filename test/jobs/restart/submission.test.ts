/** A manager that dies while it takes a job: the job is taken once, or as if it had never been sent. */

import { describe, expect, test } from 'vitest';
import { scripted } from '../cluster.ts';
import { contextOf, endsOf } from '../scenarios/witness.ts';
import { startOnDisks } from './on-disks.ts';

const JOB = {
  jobId: 'j1',
  timeoutMs: 600_000,
  workflows: [
    scripted('w1', { runs: 1_000 }),
    scripted('w2', { runs: 1_000 }, { dependsOn: ['w1'] }),
    scripted('w3', { runs: 1_000 }),
  ],
};
const M1 = 'A.manager-1';

const DEATHS = [0, 1, 2, 3, 4].flatMap((heardMax) =>
  (['written', 'lost'] as const).map((lastWords) => ({ heardMax, lastWords })),
);

describe.each(DEATHS)('dying after $heardMax groups, the last one $lastWords', (death) => {
  async function interrupted() {
    const started = await startOnDisks({ datacenters: { A: { workers: 1 } } });
    const { cluster, disks } = started;
    const client = await cluster.connect('A');
    // Heartbeats are groups too: right after one there is none for a while.
    await cluster.runUntil(5_200);
    disks.kill('A', death);
    cluster.at(7_000, () => cluster.crash(M1));
    cluster.at(8_000, () => cluster.restart(M1));
    return { cluster, client };
  }

  test('is asked again, and has taken the job', async () => {
    const { cluster, client } = await interrupted();
    const answer = await cluster.time.during(client.submit(JOB));
    expect(answer).toMatchObject({ accepted: true, reason: null });
    await cluster.time.runFor(30_000);
    expect(await cluster.time.during(client.get('j1'))).toMatchObject({
      status: 'completed',
      workflowsTotal: 3,
      workflowsCompleted: 3,
    });
    expect(contextOf(cluster, 'worker-pool/main@A')).toMatchObject({
      lanes: {},
      workers: { 'A.worker-1': { coresReserved: 0 } },
    });
  });

  test('is given the job once more after it was given up', async () => {
    const { cluster, client } = await interrupted();
    const given = client.submit(JOB).catch(() => undefined);
    await cluster.runUntil(6_500);
    await client.stop();
    await given;
    await cluster.runUntil(100_000);
    const before = endsOf(cluster).filter(({ status }) => status === 'completed').length;
    const another = await cluster.connect('A');
    await cluster.time.runFor(1_000);
    const answer = await cluster.time.during(another.submit(JOB));
    expect(answer).toMatchObject({ accepted: true, reason: null });
    await cluster.time.runFor(30_000);
    expect(await cluster.time.during(another.get('j1'))).toMatchObject({
      status: 'completed',
      workflowsCompleted: 3,
    });
    expect(endsOf(cluster).filter(({ status }) => status === 'completed')).toHaveLength(
      Math.max(1, before),
    );
  });
});
