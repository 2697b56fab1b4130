/** Scenarios about submissions: the same one again, and those that are refused. */

import { describe, expect, test } from 'vitest';
import type { NewJob } from '../../../programs/jobs/client.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import { contextOf, endsOf } from './witness.ts';

const workflow = scripted('w1', { runs: 5_000 });

/** All actors of jobs at a datacenter or a gate. */
function jobActors(cluster: Cluster, place: string): number {
  const { runtime } = place === 'A' ? cluster.manager('A.manager-1') : cluster.gate(place);
  const kinds = place === 'A' ? ['job', 'workflow'] : ['gate-job', 'submission-page'];
  return kinds.reduce(
    (sum, kind) => sum + runtime.query({ kind: kind as never, limit: 10 }).actors.length,
    0,
  );
}

describe('the same id again', () => {
  test.each(['A', 'gate-1'])(
    'S43 finds the job at %s with the same body, and is a conflict with another',
    async (to) => {
      await using cluster = await startCluster({ gates: 1, datacenters: { A: { workers: 1 } } });
      const address = to === 'A' ? 'job/j1@A' : 'gate-job/j1@gate-1';
      const job = { jobId: 'j1', timeoutMs: 60_000, workflows: [workflow] };
      const client = await cluster.begin(to, job);
      const again = async (body: NewJob) => cluster.time.during(client.submit(body));
      await cluster.runUntil(2_000);
      // Keys in another order, and defaults written out, are the same body.
      const same = {
        workflows: [{ dependsOn: [], cores: 1, ...workflow }],
        timeoutMs: 60_000,
        jobId: 'j1',
      };
      expect(await again(same)).toMatchObject({
        accepted: true,
        created: false,
        status: 'running',
        reason: null,
      });
      const before = contextOf(cluster, address);
      const others: NewJob[] = [
        { ...job, timeoutMs: 60_001 },
        { ...job, failFast: true },
        { ...job, workflows: [{ ...workflow, payload: '{}' }] },
        { ...job, workflows: [workflow, { ...workflow, id: 'w2' }] },
      ];
      for (const other of others)
        expect(await again(other)).toMatchObject({
          accepted: false,
          created: false,
          reason: 'conflict',
        });
      expect(contextOf(cluster, address)).toEqual(before);
      await cluster.runUntil(30_000);
      const ends = endsOf(cluster);
      expect(ends.map(({ status }) => status)).toEqual(ends.map(() => 'completed'));
      expect(ends).toHaveLength(to === 'A' ? 1 : 2);
      expect(await again(same)).toMatchObject({
        accepted: true,
        created: false,
        status: 'completed',
      });
      expect(await again({ ...job, timeoutMs: 1 })).toMatchObject({ reason: 'conflict' });
      const { counters } = to === 'A' ? cluster.manager('A.manager-1') : cluster.gate(to);
      expect(counters.value('job_submissions_refused_total', { reason: 'conflict' })).toBe(5);
    },
  );
});

const many = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `w${n}`, handler: 'h' }));

const INVALID: ReadonlyArray<readonly [what: string, job: object, field: string]> = [
  ...[0, -1, 0.5, Number.NaN, '30', 5_184_000_001].map(
    (timeoutMs) => [`timeoutMs ${timeoutMs}`, { timeoutMs }, 'timeoutMs'] as const,
  ),
  ['10,001 workflows', { workflows: many(10_001) }, 'workflows'],
  [
    'a circle',
    {
      workflows: [
        { id: 'a', handler: 'h', dependsOn: ['c'] },
        { id: 'b', handler: 'h', dependsOn: ['a'] },
        { id: 'c', handler: 'h', dependsOn: ['b'] },
      ],
    },
    'workflows[0].dependsOn',
  ],
];

describe('a submission', () => {
  test.each(['A', 'gate-1'])(
    'S44 that is not right is refused by %s, field by field, and creates nothing',
    async (to) => {
      await using cluster = await startCluster({ gates: 1, datacenters: { A: { workers: 1 } } });
      const client = await cluster.connect(to);
      await cluster.time.runFor(1_000);
      for (const [what, job, field] of INVALID) {
        const body = { jobId: 'j1', timeoutMs: 60_000, workflows: [workflow], ...job } as NewJob;
        const answer = await cluster.time.during(client.submit(body));
        expect(answer, what).toMatchObject({
          accepted: false,
          created: false,
          status: null,
          reason: 'invalid',
          field,
        });
      }
      expect(jobActors(cluster, to)).toBe(0);
      expect(jobActors(cluster, 'A')).toBe(0);
      const { counters } = to === 'A' ? cluster.manager('A.manager-1') : cluster.gate(to);
      expect(counters.value('job_submissions_refused_total', { reason: 'invalid' })).toBe(
        INVALID.length,
      );
      // The id is free: nothing was remembered of it.
      const right = { jobId: 'j1', timeoutMs: 60_000, workflows: [workflow] };
      expect(await cluster.time.during(client.submit(right))).toMatchObject({ created: true });
    },
  );

  test('S44 of the longest time there is, and of 10,000 workflows, is taken', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    const workflows = many(10_000).map((one) => ({ ...one, handler: 'nobody-has-it' }));
    const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 5_184_000_000, workflows });
    expect(contextOf(cluster, 'job/j1@A')).toMatchObject({ status: 'submitted' });
    const view = await cluster.time.during(client.list());
    expect(view.jobs).toMatchObject([{ workflowsTotal: 10_000, timeoutMs: 5_184_000_000 }]);
  });
});
