/** A gate that is away just after it has taken a job: what it has not asked meanwhile it asks when it is back. */

import { expect, onTestFinished, test } from 'vitest';
import { type Cluster, scripted, startCluster } from '../cluster.ts';

/** Nobody has been asked: the datacenters are down when the gate takes the job and goes away itself. */
async function takenAndGone(targets: readonly string[] = ['A', 'B']) {
  const cluster = await startCluster({ gates: 1, datacenters: { A: {}, B: {} } });
  onTestFinished(() => cluster.stop());
  const client = await cluster.connect('gate-1', 'modest');
  for (const datacenter of targets) cluster.crash(`${datacenter}.manager-1`);
  const workflows = [scripted('w1', { runs: 1_000 })];
  const job = { jobId: 'j1', timeoutMs: 3_600_000, workflows };
  expect(await cluster.time.during(client.submit(job))).toMatchObject({ accepted: true });
  return { cluster, client };
}

async function back(cluster: Cluster, afterMs: number, ...nodes: readonly string[]) {
  await cluster.time.runFor(afterMs);
  for (const node of nodes) await cluster.time.during(cluster.restart(node));
}

test.each([9_900, 10_500, 30_000, 600_000])(
  'a job whose gate was away for %i ms begins, in all of its datacenters',
  async (awayMs) => {
    const { cluster, client } = await takenAndGone();
    cluster.crash('gate-1');
    await back(cluster, awayMs, 'A.manager-1', 'B.manager-1', 'gate-1');
    await cluster.time.runFor(9_000);
    const view = await cluster.time.during(client.get('j1'));
    expect(view?.datacenters?.map(({ status }) => status)).toEqual(['running', 'running']);
  },
);

test('a datacenter that was not asked is asked also when another one has the job already', async () => {
  const { cluster, client } = await takenAndGone(['B']);
  await cluster.time.runFor(2_000);
  cluster.crash('gate-1');
  await back(cluster, 30_000, 'B.manager-1', 'gate-1');
  await cluster.time.runFor(9_000);
  const view = await cluster.time.during(client.get('j1'));
  expect(view?.datacenters?.map(({ status }) => status)).toEqual(['running', 'running']);
});

test('it ends when no datacenter is there within the limit after that either', async () => {
  const { cluster, client } = await takenAndGone();
  cluster.crash('gate-1');
  await back(cluster, 30_000, 'gate-1');
  await cluster.time.runFor(9_000);
  expect(await cluster.time.during(client.get('j1'))).toMatchObject({ status: 'submitted' });
  await cluster.time.runFor(2_000);
  const ended = { status: 'failed', reason: 'noDatacenter' };
  expect(await cluster.time.during(client.get('j1'))).toMatchObject(ended);
});

test('whose job it is is known still, so that datacenters count it with the others of its client', async () => {
  const { cluster } = await takenAndGone();
  cluster.crash('gate-1');
  await back(cluster, 30_000, 'A.manager-1', 'B.manager-1', 'gate-1');
  const other = await cluster.connect('gate-1', 'modest');
  const job = { jobId: 'j2', timeoutMs: 3_600_000, workflows: [scripted('w1', {})] };
  await cluster.time.during(other.submit(job));
  await cluster.time.runFor(5_000);
  expect(cluster.manager('A.manager-1').backlog).toMatchObject({ workflows: 2, clients: 1 });
});
