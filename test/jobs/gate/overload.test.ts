/** A gate whose datacenters take no more: it takes no more either, and carries what it has taken. */

import { describe, expect, onTestFinished, test } from 'vitest';
import { Rooms } from '../../../programs/jobs/gate/rooms.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';

const jobOf = (jobId: string, targetDatacenters: readonly string[] = ['A', 'B']) => ({
  jobId,
  timeoutMs: 3_600_000,
  targetDatacenters,
  workflows: [scripted('w1', {})],
});

async function start(gateDispatchLimitMs = 60_000): Promise<Cluster> {
  const cluster = await startCluster({
    gates: 1,
    datacenters: { A: {}, B: {} },
    config: { backlogWorkflowsMax: 2, gateDispatchLimitMs },
  });
  onTestFinished(() => cluster.stop());
  return cluster;
}

describe('a gate whose datacenters are full', () => {
  test('refuses further jobs as overload, keeps nothing of them, and carries those it has taken', async () => {
    const cluster = await start();
    const client = await cluster.connect('gate-1');
    const { counters, runtime } = cluster.gate('gate-1');
    for (const jobId of ['a', 'b', 'held'])
      expect(await cluster.time.during(client.submit(jobOf(jobId)))).toMatchObject({
        accepted: true,
      });
    await cluster.time.runFor(2_000);
    const refused = await cluster.time.during(client.submit(jobOf('over')));
    expect(refused).toMatchObject({ accepted: false, reason: 'overloaded' });
    expect(refused.retryAfterMs).toBeGreaterThanOrEqual(1_000);
    expect(await cluster.time.during(client.get('over'))).toBeUndefined();
    expect(runtime.query({ kind: 'gate-job' }).actors).toHaveLength(3);
    const shed = { bound: 'datacenters' };
    expect(counters.value('job_submissions_shed_total', shed)).toBeGreaterThan(0);
    // What it has is answered as before.
    const again = await cluster.time.during(client.submit(jobOf('held')));
    expect(again).toMatchObject({ accepted: true, created: false });
    await cluster.time.during(client.cancel('a'));
    await cluster.time.runFor(10_000);
    for (const datacenter of ['A', 'B'])
      expect(cluster.snapshot(`job/held@${datacenter}`).value).toMatchObject({
        active: { phase: 'expected' },
      });
    await cluster.time.during(client.cancel('b'));
    expect(await cluster.time.during(client.submit(jobOf('next')))).toMatchObject({
      accepted: true,
    });
  });

  test('takes jobs for another one that has room', async () => {
    const cluster = await start();
    const client = await cluster.connect('gate-1');
    for (const jobId of ['a', 'b', 'c'])
      await cluster.time.during(client.submit(jobOf(jobId, ['A'])));
    await cluster.time.runFor(2_000);
    const full = await cluster.time.during(client.submit(jobOf('for-a', ['A'])));
    expect(full).toMatchObject({ accepted: false, reason: 'overloaded' });
    const free = await cluster.time.during(client.submit(jobOf('for-both')));
    expect(free).toMatchObject({ accepted: true });
  });

  test('lets datacenters tell its clients apart', async () => {
    const cluster = await start();
    const flooder = await cluster.connect('gate-1', 'flooder');
    const modest = await cluster.connect('gate-1', 'modest');
    for (const [client, jobId] of [
      [flooder, 'a'],
      [flooder, 'b'],
      [modest, 'c'],
    ] as const)
      await cluster.time.during(client.submit(jobOf(jobId, ['A'])));
    await cluster.time.runFor(2_000);
    expect(cluster.manager('A.manager-1').backlog).toMatchObject({ workflows: 3, clients: 2 });
  });
});

describe('a job that was accepted before all of its datacenters were full', () => {
  const hold = async (timeoutMs: number) => {
    const cluster = await start(5_000);
    const client = await cluster.connect('gate-1');
    for (const jobId of ['a', 'b']) await cluster.time.during(client.submit(jobOf(jobId)));
    const held = { ...jobOf('held'), timeoutMs };
    expect(await cluster.time.during(client.submit(held))).toMatchObject({ accepted: true });
    const view = () => cluster.time.during(client.get('held'));
    return { cluster, client, view };
  };

  test('waits for room as long as its time allows, shows that it does, and is taken', async () => {
    const { cluster, client, view } = await hold(3_600_000);
    await cluster.time.runFor(120_000);
    const full = { status: 'full', reason: null };
    expect(await view()).toMatchObject({
      status: 'submitted',
      datacenters: [
        { datacenter: 'A', ...full },
        { datacenter: 'B', ...full },
      ],
    });
    expect(cluster.recorder.notes('submission.deferred', { jobId: 'held' })).toHaveLength(1);
    await cluster.time.during(client.cancel('a'));
    await cluster.time.runFor(65_000);
    expect(await view()).toMatchObject({
      status: 'running',
      datacenters: [{ status: 'running' }, { status: 'running' }],
    });
  });

  test('goes on waiting when its gate starts again', async () => {
    const { cluster, view } = await hold(3_600_000);
    await cluster.time.runFor(60_000);
    cluster.crash('gate-1');
    await cluster.time.runFor(30_000);
    await cluster.time.during(cluster.restart('gate-1'));
    await cluster.time.runFor(60_000);
    // Whose job it is is known still, so it has no share of its own.
    expect(await view()).toMatchObject({ status: 'submitted' });
    const again = await cluster.connect('gate-1');
    await cluster.time.during(again.cancel('a'));
    await cluster.time.runFor(65_000);
    expect(await view()).toMatchObject({ status: 'running' });
  });

  test('ends when its own time is over, and nothing of it begins then', async () => {
    const { cluster, client, view } = await hold(60_000);
    await cluster.time.runFor(58_000);
    expect(await view()).toMatchObject({ status: 'submitted' });
    await cluster.time.runFor(10_000);
    expect(await view()).toMatchObject({ status: 'failed', reason: 'noDatacenter' });
    await cluster.time.during(client.cancel('a'));
    await cluster.time.during(client.cancel('b'));
    await cluster.time.runFor(120_000);
    expect(cluster.recorder.notes('job.accepted', { jobId: 'held', datacenter: 'A' })).toEqual([]);
  });

  test('is cancelled when somebody wants that', async () => {
    const { cluster, client, view } = await hold(3_600_000);
    await cluster.time.runFor(60_000);
    expect(await cluster.time.during(client.cancel('held'))).toMatchObject({ accepted: true });
    await cluster.time.runFor(70_000);
    expect(await view()).toMatchObject({ status: 'cancelled' });
  });
});

describe('the rooms of a gate', () => {
  const at = (now: number) => ({ now, retryAfterMs: 5_000 });

  test('are full while what was taken is refused there, and open when it is taken', () => {
    const rooms = new Rooms();
    expect(rooms.retryAfterMs(['A'], 0)).toBeUndefined();
    rooms.refused('A', 'j', at(0));
    expect(rooms.retryAfterMs(['A'], 1_000)).toBe(4_000);
    expect(rooms.retryAfterMs(['A', 'B'], 1_000)).toBeUndefined();
    // It is tried again and again: whatever time was told, it comes before others.
    expect(rooms.retryAfterMs(['A'], 60_000)).toBe(1_000);
    rooms.settled('A', 'j', true);
    expect(rooms.retryAfterMs(['A'], 60_000)).toBeUndefined();
  });

  test('let one through to see when nobody knows any more', () => {
    const rooms = new Rooms();
    rooms.refused('A', 'j', at(0));
    rooms.settled('A', 'j', false);
    expect(rooms.retryAfterMs(['A'], 4_000)).toBe(1_000);
    expect(rooms.retryAfterMs(['A'], 5_000)).toBeUndefined();
    expect(rooms.retryAfterMs(['A'], 5_001)).toBe(1_000);
    rooms.settled('A', 'probe', true);
    expect(rooms.retryAfterMs(['A'], 5_002)).toBeUndefined();
  });
});
