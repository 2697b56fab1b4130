/** A scenario about a datacenter whose data are older than what its workers know. */

import { expect, onTestFinished, test } from 'vitest';
import { Disks } from '../cluster/disks.ts';
import { scripted, startCluster } from '../cluster.ts';
import { watchTurns } from './scene.ts';
import { contextOf, endsOf, transitionsOf } from './witness.ts';

test('S53 a manager restored from an old copy goes above the term that its worker knows', async () => {
  const disks = new Disks();
  onTestFinished(() => disks.remove());
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } }, disks });
  const turns = watchTurns(cluster, cluster.worker('A.worker-1').runtime);
  const workflows = [scripted('w1', { runs: 120_000 })];
  await cluster.begin('A', { jobId: 'j1', timeoutMs: 600_000, workflows });
  let copy = '';
  const restart = async () => {
    cluster.crash('A.manager-1');
    await cluster.restart('A.manager-1');
  };
  cluster.at(10_000, async () => {
    cluster.crash('A.manager-1');
    copy = await disks.copy('A');
    await cluster.restart('A.manager-1');
  });
  cluster.at(30_000, restart);
  cluster.at(40_000, restart);
  await cluster.runUntil(55_000);
  const known = turns
    .filter(({ event }) => event.type === 'leader.announced')
    .map(({ event }) => event['term'] as number);
  const highest = Math.max(...known);
  cluster.at(60_000, async () => {
    cluster.crash('A.manager-1');
    await disks.restore('A', copy);
    cluster.forgetLease('A');
    await cluster.restart('A.manager-1');
  });
  await cluster.runUntil(80_000);
  const { runtime } = cluster.manager('A.manager-1');
  const stepsDown = cluster.recorder
    .lines()
    .filter(({ message }) => message === 'no longer hosting')
    .map(({ fields }) => fields['reason']);
  const { term } = contextOf(cluster, 'worker-health/A.worker-1@A') as { readonly term: number };
  expect(term).toBeGreaterThan(highest);
  // A worker brings no manager down: what it is told by is a term above that which it knows.
  expect(stepsDown).toEqual([]);
  expect(runtime.fence).toBeLessThan(highest);
  const last = turns.filter(({ event }) => event.type === 'leader.announced').at(-1);
  expect(last?.event).toMatchObject({ term, attempts: ['j1/w1#1'] });
  await cluster.runUntil(200_000);
  expect(transitionsOf(cluster).at(-1)).toBe('RUNNING>COMPLETED #1 @120');
  expect(endsOf(cluster)).toMatchObject([{ status: 'completed', reason: null }]);
});
