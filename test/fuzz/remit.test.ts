/**
 * Remit of honest peers: where nobody lies nothing is judged to have changed, however long it goes on.
 */

import { expect, test } from 'vitest';
import {
  BYZANTINE_ROLES,
  type ByzantineRole,
  changeOf,
  HONEST,
  judgedPart,
} from '../../fuzz/remit.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type Cluster, scripted, startCluster } from '../jobs/cluster.ts';

const DAY_MS = 86_400_000;
const PATIENT = { timeoutMs: DAY_MS, stuckThresholdMs: DAY_MS, allStuckThresholdMs: DAY_MS };

/** What a role must not change, by address, under the names of the fuzzer. */
function judged(cluster: Cluster, role: ByzantineRole): Record<string, string> {
  const named = (text: string): string =>
    text.replaceAll('A.worker-1', HONEST.worker).replaceAll('gate-1', 'gate');
  const parts: Record<string, string> = {};
  for (const { runtime } of [cluster.manager('A.manager-1'), cluster.gate('gate-1')]) {
    const node = runtime as unknown as Runtime;
    for (const { address } of node.query({ limit: 1_000 }).actors) {
      const { value, context, status } = node.actor(address).getSnapshot() as never;
      const record = JSON.stringify({ snapshot: { value, context }, status });
      const part = judgedPart(role, named(address), named(record));
      if (part !== undefined) parts[named(address)] = part;
    }
  }
  return parts;
}

test('a pool that looks for work, as for any worker that comes, has not changed', () => {
  const pool = (searching: string): string | undefined => {
    const value = { serving: { placing: 'waiting', searching } };
    const record = { snapshot: { value, context: { workers: {}, term: 1 } }, status: 'active' };
    return judgedPart('worker', 'worker-pool/main@A', JSON.stringify(record));
  };
  expect(changeOf(pool('idle'), pool('looking'))).toBeUndefined();
});

test('an hour of a worker, a manager and a gate that do what they should changes nothing', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: { workers: 1 } } });
  for (const to of ['A', 'gate-1']) {
    const client = await cluster.connect(to);
    await cluster.time.runFor(1_000);
    for (const name of ['victim', 'one']) {
      const jobId = `${name}-${to === 'A' ? 'A' : 'gate'}`;
      const workflows = [scripted('kept', { runs: 'never', progressEvery: 'never' })];
      const targets = to === 'A' ? {} : { targetDatacenters: ['A'] };
      await cluster.time.during(client.submit({ ...PATIENT, ...targets, jobId, workflows }));
    }
  }
  await cluster.time.runFor(5_000);
  const before = BYZANTINE_ROLES.map((role) => [role, judged(cluster, role)] as const);
  expect(Object.keys(before[0]?.[1] ?? {})).toEqual(
    expect.arrayContaining([
      'worker-pool/main@A',
      `worker-health/${HONEST.worker}@A`,
      'job/victim-A@A',
      'job/victim-gate@A',
      'workflow/victim-gate/kept@A',
      'gate-job/victim-gate@gate',
    ]),
  );
  const expectNothingChanged = (): void => {
    for (const [role, parts] of before) {
      const after = judged(cluster, role);
      expect(Object.keys(after)).toEqual(Object.keys(parts));
      for (const [address, part] of Object.entries(parts))
        expect.soft(changeOf(part, after[address]), `${role}: ${address}`).toBeUndefined();
    }
  };
  await cluster.time.runFor(3_600_000);
  expectNothingChanged();
  // A machine that is busy holds words up, and those that come then may be faster than any before.
  cluster.network.cut('gate-1', 'A.manager-1');
  await cluster.time.runFor(120_000);
  expectNothingChanged();
  cluster.network.heal('gate-1', 'A.manager-1');
  for (let word = 0; word < 50; word += 1) {
    await cluster.time.runFor(100);
    expectNothingChanged();
  }
  await cluster.time.runFor(115_000);
  expectNothingChanged();
});
