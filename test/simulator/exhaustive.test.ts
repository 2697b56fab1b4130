/**
 * Slices of the small world that is looked at whole, and whether a fault in a machine is found in it.
 * The whole of each scope takes minutes and is looked at by hand, or by a benchmark.
 */

import { describe, expect, test } from 'vitest';
import { assign } from 'xstate';
import { type GateJobContext, gateJobMachine } from '../../machines/jobs/gate-job.ts';
import { type JobContext, jobMachine } from '../../machines/jobs/job.ts';
import { checkAgreement } from '../exhaustive/agreement.ts';
import { type ExploreOptions, explore } from '../exhaustive/explore.ts';
import { SCOPES, type Scope } from '../exhaustive/scope.ts';

/** Deadlines of the first end, and none after it. */
const untilTheEnd = { horizonMs: 2_100 };
const calm: Scope = { ...SCOPES.takeover, crashes: 0 };
const leaderDies: Scope = { ...SCOPES.takeover, ...untilTheEnd, mortal: ['A'] };
const oneDelay: Scope = { ...SCOPES.delays, delays: 1 };
const dispatching: Scope = { ...SCOPES.dispatch, ...untilTheEnd, crashes: 0 };
const lateSubmission: Scope = {
  ...SCOPES.lateSubmission,
  ...untilTheEnd,
  crashes: 0,
  work: ['none', 'none'],
};
describe('the small world', () => {
  // The second and third had 22,883 and 23,297 states while the acknowledgement of a job's first report was a
  // hint, which may come late, twice or never. Since a job waits for it to begin, it is a message that arrives.
  // The fourth and fifth had more than 15,000 while a job told its gate of its end before its workflows.
  test.each([
    ['in which nothing goes wrong', calm, 300],
    ['in which the leader of A dies', leaderDies, 40_000],
    ['in which a message is late and one comes twice', oneDelay, 10_000],
    ['in which datacenters take the job early, late or never', dispatching, 14_000],
    ['in which a job that is taken late waits for its gate', lateSubmission, 13_000],
  ])('%s keeps every invariant, and comes to an end from everywhere', (_name, scope, statesMin) => {
    const found = explore({ scope });
    expect(found.violations).toEqual([]);
    expect(found.isComplete).toBe(true);
    expect(found.states).toBeGreaterThan(statesMin);
    expect(found.terminals).toBeGreaterThan(0);
  });

  test('is the same each time', () => {
    expect(explore({ scope: calm })).toEqual(explore({ scope: calm }));
  });

  test('says that it is not whole when there are too many worlds', () => {
    const found = explore({ scope: calm, statesMax: 100 });
    expect(found).toMatchObject({ isComplete: false, violations: [] });
    expect(found.states).toBeLessThan(120);
  });

  test('is the same when nothing is forgotten', () => {
    const terms = { ...calm.terms, timeoutMs: 3_000 };
    const scopes = [
      { ...oneDelay, copies: 0 },
      { ...SCOPES.takeover, terms, horizonMs: 3_000 },
    ];
    for (const scope of scopes) {
      const [kept, forgotten] = [new Set<string>(), new Set<string>()];
      explore({ scope, onWorld: (world) => forgotten.add(world) });
      const whole = explore({ scope, isForgetful: false, onWorld: (world) => kept.add(world) });
      expect(whole.states).toBeGreaterThan(forgotten.size);
      expect(forgotten.size).toBe(kept.size);
      expect([...kept].filter((world) => !forgotten.has(world))).toEqual([]);
    }
  });
});

/** What is found when machines are not as they should be. */
function findingOf(scope: Scope, machines: ExploreOptions['machines']) {
  const [violation] = explore({ scope, ...(machines && { machines }) }).violations;
  return violation;
}

describe('a fault is found', () => {
  test('FE-3: a job that obeys whatever fence a decision echoes', () => {
    const guards = { isForAnotherLeader: () => false, isForFormerLeader: () => false };
    const found = findingOf(leaderDies, { job: jobMachine.provide({ guards }) });
    expect(found?.invariant).toBe('FE-3');
    expect(found?.what).toBe('the job in A: fence 1 obeyed while it is 2');
    expect(found?.trace.slice(-4)).toEqual([
      '2001 ms: overallLimit of the gate is due',
      'the node that leads at A dies',
      'somebody takes over at A',
      'timeout.declared (reason overall, decisionEpoch 1,1, leaderFence 1) from the gate to A arrives',
    ]);
  });

  test('FB-1: a fallback that does not wait for the gate', () => {
    const job = jobMachine.provide({ delays: { fallbackLimit: 0 } });
    expect(findingOf(calm, { job })?.invariant).toBe('FB-1');
  });

  test('TO-1: a time budget that is a millisecond too short', () => {
    const overallLimit = ({ context, event }: { context: JobContext; event: { at: number } }) =>
      Math.max(0, context.baseAt + context.timeoutMs - event.at);
    const job = jobMachine.provide({ delays: { overallLimit } });
    expect(findingOf(calm, { job })?.invariant).toBe('TO-1');
  });

  test('OUT-1: an outcome that is not that of the ends', () => {
    const outcome = {
      status: 'completed',
      reason: null,
      at: 0,
      unconfirmed: [],
      results: [],
    } as const;
    const gateJob = gateJobMachine.provide({ actions: { publish: assign({ outcome }) } as never });
    expect(findingOf(calm, { gateJob })?.invariant).toBe('OUT-1');
  });

  test('TS-1: an end that is overwritten', () => {
    const cancelLate = assign({ status: 'cancelled' });
    const job = jobMachine.provide({ actions: { takeAck: cancelLate } as never });
    expect(findingOf(calm, { job })?.invariant).toMatch(/^TS-/);
  });

  test('TS-2: a job that never ends, with the way to where nothing happens any more', () => {
    const job = jobMachine.provide({ guards: { isDone: () => false } as never });
    const found = findingOf(calm, { job });
    expect(found).toMatchObject({ invariant: 'TS-2', what: 'nothing can happen any more' });
    expect(found?.trace.at(-1)).toContain('ackOf final.reported');
  });

  test('OUT-4: a job that was taken late and does not wait for its gate', () => {
    const job = jobMachine.provide({ guards: { isInTime: () => true } as never });
    const found = findingOf(lateSubmission, { job });
    expect(found).toMatchObject({
      invariant: 'OUT-4',
      what: 'the job in B begins after its outcome was published',
    });
    expect(found?.trace.at(-1)).toBe('B takes the job');
  });

  test('RT-3: a machine that throws', () => {
    const isNotDone = () => {
      throw new Error('broken');
    };
    const job = jobMachine.provide({ guards: { isStuckWatched: isNotDone } as never });
    expect(findingOf(leaderDies, { job })?.invariant).toBe('RT-3');
  });

  test.each([
    ['OUT-2', { final: { status: 'completed', reason: null }, leaderFence: 1 }],
    ['FE-1', { final: null, leaderFence: 3 }],
    ['FE-2', { final: null, leaderFence: 1 }],
  ])('%s: a gate and a datacenter that do not agree', (invariant, record) => {
    const gate = { datacenters: { A: record }, gateBoot: 1, counter: 1 };
    const job = {
      status: 'timedOut',
      reason: 'global',
      leaderFence: 1,
      obeyedDecisionEpoch: [1, 2],
    };
    const found = checkAgreement(gate as unknown as GateJobContext, 'A', job as never);
    expect(found?.invariant).toBe(invariant);
  });
});
