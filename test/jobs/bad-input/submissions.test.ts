/** Submissions with something wrong in them: each is refused by the field, and creates nothing. */

import { describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../cluster.ts';
import { RawPeer } from './raw-peer.ts';

const PLAN = { gates: 1, datacenters: { A: { workers: 1 } } };
const ONE = { id: 'w1', handler: 'scripted', payload: '{}', cores: 1, dependsOn: [] };
const KIB_64 = 64 * 1024;

const RIGHT = {
  type: 'job.submitted',
  jobId: 'j1',
  terms: { timeoutMs: 60_000 },
  workflows: [ONE],
  page: 1,
  pages: 1,
};

type Case = readonly [what: string, changes: object, field: string];

const TERMS: readonly Case[] = [
  ...[999, 0, -1, 1.5, '1000', null, 5_184_000_001].map(
    (value) =>
      [`stuckThresholdMs ${value}`, { stuckThresholdMs: value }, 'stuckThresholdMs'] as const,
  ),
  ...[999, 5_184_000_001].map(
    (value) =>
      [
        `allStuckThresholdMs ${value}`,
        { allStuckThresholdMs: value },
        'allStuckThresholdMs',
      ] as const,
  ),
  ['no timeout', { timeoutMs: undefined }, 'timeoutMs'],
  ['failFast', { failFast: 'yes' }, 'failFast'],
  ['enforce', { enforce: 1 }, 'enforce'],
  ['a quorum', { datacenterTimeoutQuorum: 'some' }, 'datacenterTimeoutQuorum'],
  ['no datacenters', { targetDatacenters: [] }, 'targetDatacenters'],
  ['a field that nobody knows', { priority: 1 }, 'body'],
].map(([what, terms, field]) => [
  what as string,
  { terms: { timeoutMs: 60_000, ...(terms as object) } },
  field as string,
]);

const workflows = (...changes: object[]): object => ({
  workflows: changes.map((change) => ({ ...ONE, ...change })),
});

const WORKFLOWS: readonly Case[] = [
  ['none', { workflows: [] }, 'workflows'],
  ['no list', { workflows: 'w1' }, 'workflows'],
  ...['', 'a b', 'a/b', 'a@b', 'a#1', 'ä', 'x'.repeat(129), 7, null].map(
    (id) => [`the id ${id}`, workflows({ id }), 'workflows[0].id'] as const,
  ),
  ['a handler', workflows({ handler: '../../sh' }), 'workflows[0].handler'],
  ...[0, -1, 1.5, 1_025, '2'].map(
    (cores) => [`${cores} cores`, workflows({ cores }), 'workflows[0].cores'] as const,
  ),
  [
    'a payload that is too long',
    workflows({ payload: 'x'.repeat(KIB_64 + 1) }),
    'workflows[0].payload',
  ],
  [
    'a payload of too many bytes',
    workflows({ payload: 'ä'.repeat(KIB_64 / 2 + 1) }),
    'workflows[0].payload',
  ],
  ['a payload that is no text', workflows({ payload: { ms: 1 } }), 'workflows[0].payload'],
  ['a field that nobody knows', workflows({ retries: 9 }), 'workflows[0]'],
  ['the same id twice', workflows({}, {}), 'workflows[1].id'],
  ['an unknown parent', workflows({ dependsOn: ['w9'] }), 'workflows[0].dependsOn'],
  ['itself as its parent', workflows({ dependsOn: ['w1'] }), 'workflows[0].dependsOn'],
  [
    'a circle of two',
    workflows({ dependsOn: ['w2'] }, { id: 'w2', dependsOn: ['w1'] }),
    'workflows[0].dependsOn',
  ],
  [
    'the name of a method as its parent',
    workflows({ dependsOn: ['toString'] }),
    'workflows[0].dependsOn',
  ],
];

const BODIES: readonly Case[] = [
  ...[
    '',
    'a b',
    '../../x',
    'j@A',
    'x'.repeat(10_240),
    '\u{1f600}',
    '\u202egro',
    'j\u0000',
    7,
    null,
  ].map((jobId) => [`the job id ${jobId}`, { jobId }, 'jobId'] as const),
  ['no terms', { terms: undefined }, 'body'],
  ['no page', { page: undefined, pages: undefined }, 'page'],
  ...[0, -1, 1.5, '1', null].map((page) => [`page ${page}`, { page, pages: 2 }, 'page'] as const),
  ...[0, '2', null].map((pages) => [`${pages} pages`, { pages }, 'page'] as const),
  ['too many pages', { pages: 10_001 }, 'page'],
  ['a page after the only one', { page: 2 }, 'page'],
  ['a page after the last', { page: 3, pages: 2 }, 'page'],
];

/** Jobs, workflows and whatever else a submission makes. */
function created(cluster: Cluster): number {
  const { runtime } = cluster.manager('A.manager-1');
  const gate = cluster.gate('gate-1').runtime;
  return (
    runtime.query({ kind: 'job' }).actors.length +
    runtime.query({ kind: 'workflow' }).actors.length +
    gate.query({ kind: 'gate-job' }).actors.length +
    gate.query({ kind: 'submission-page' }).actors.length
  );
}

describe.each(['A', 'gate-1'])('a submission to %s', (to) => {
  test('H47, H57: is refused as invalid by the field that is wrong', async () => {
    await using cluster = await startCluster(PLAN);
    const peer = await RawPeer.join(cluster, 'client');
    const { counters } = to === 'A' ? cluster.manager('A.manager-1') : cluster.gate(to);
    const refused = () => counters.value('job_submissions_refused_total', { reason: 'invalid' });
    for (const [what, changes, field] of [...TERMS, ...WORKFLOWS, ...BODIES]) {
      const before = refused();
      const answer = await peer.ask(`desk/main@${to}`, { ...RIGHT, ...changes });
      expect(answer, what).toMatchObject({
        accepted: false,
        created: false,
        status: null,
        reason: 'invalid',
        field,
      });
      expect(refused(), what).toBe(before + 1);
    }
    expect(created(cluster)).toBe(0);
    expect(cluster.recorder.errors()).toEqual([]);
    // A right one, at all its limits, is taken.
    const payload = 'ä'.repeat(KIB_64 / 2);
    const limits = { ...ONE, id: 'x'.repeat(128), cores: 1_024, payload };
    const right = { ...RIGHT, jobId: 'y'.repeat(128), workflows: [limits] };
    expect(await peer.ask(`desk/main@${to}`, right)).toMatchObject({ accepted: true });
  });

  test('of more than 16 MiB is refused, in one page or in many', async () => {
    await using cluster = await startCluster(PLAN);
    const peer = await RawPeer.join(cluster, 'client');
    const large = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        ...ONE,
        id: `w${from + n}`,
        payload: 'x'.repeat(KIB_64),
      }));
    const whole = { ...RIGHT, workflows: large(0, 257) };
    expect(await peer.ask(`desk/main@${to}`, whole)).toMatchObject({
      reason: 'invalid',
      field: 'workflows',
    });
    const answers: unknown[] = [];
    for (const page of [1, 2, 3]) {
      const part = { ...RIGHT, workflows: large(page * 100, 100), page, pages: 4 };
      answers.push(await peer.ask(`desk/main@${to}`, part));
    }
    expect(answers.slice(0, 2)).toEqual([null, null]);
    expect(answers[2]).toMatchObject({ reason: 'invalid', field: 'workflows' });
    expect(created(cluster)).toBe(0);
  });

  test('is never put together from pages of two', async () => {
    await using cluster = await startCluster(PLAN);
    const peer = await RawPeer.join(cluster, 'client');
    const desk = `desk/main@${to}`;
    const part = (id: string, page: number, pages: number, timeoutMs = 60_000) => ({
      ...RIGHT,
      terms: { timeoutMs },
      workflows: [{ ...ONE, id }],
      page,
      pages,
    });
    expect(await peer.ask(desk, part('old-1', 1, 3))).toBe(null);
    expect(await peer.ask(desk, part('old-2', 2, 3))).toBe(null);
    // Fewer pages, other terms, another first page: each begins again.
    expect(await peer.ask(desk, part('new-1', 1, 2))).toBe(null);
    expect(await peer.ask(desk, part('new-1', 1, 2, 50_000))).toBe(null);
    expect(await peer.ask(desk, part('last-1', 1, 2, 50_000))).toBe(null);
    expect(created(cluster)).toBe(0);
    expect(await peer.ask(desk, part('last-2', 2, 2, 50_000))).toMatchObject({ created: true });
    await cluster.time.runFor(5_000);
    const { runtime } = cluster.manager('A.manager-1');
    const { actors } = runtime.query({ kind: 'workflow' });
    expect(actors.map(({ address }) => address).sort()).toEqual([
      'workflow/j1/last-1@A',
      'workflow/j1/last-2@A',
    ]);
  });

  test('in the name of a gate is refused where that one may not send jobs', async () => {
    await using cluster = await startCluster(PLAN);
    const peer = await RawPeer.join(cluster, 'client');
    const gate = { gateId: 'gate-9', elapsedMs: 0, decisionEpoch: [9_007_199_254_740_991, 0] };
    expect(await peer.ask(`desk/main@${to}`, { ...RIGHT, gate })).toMatchObject({
      reason: 'invalid',
      field: to === 'A' ? 'gate.gateId' : 'gate',
    });
    expect(created(cluster)).toBe(0);
  });
});

describe('a gate', () => {
  test('refuses a datacenter that it does not have', async () => {
    await using cluster = await startCluster(PLAN);
    const peer = await RawPeer.join(cluster, 'client');
    const terms = { timeoutMs: 60_000, targetDatacenters: ['A', 'Z'] };
    expect(await peer.ask('desk/main@gate-1', { ...RIGHT, terms })).toMatchObject({
      reason: 'invalid',
      field: 'targetDatacenters',
    });
    expect(created(cluster)).toBe(0);
  });
});
