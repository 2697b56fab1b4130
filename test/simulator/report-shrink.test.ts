/** Shrinking: what is left of a plan, what it still breaks, and that it ends. */

import { describe, expect, test } from 'vitest';
import type { Violation } from '../../simulator/invariants/invariant.ts';
import type { Plan } from '../../simulator/jobs/plan.ts';
import { shrink } from '../../simulator/jobs/report/shrink.ts';
import { play, type Run } from '../../simulator/jobs/run.ts';
import { withoutParts } from '../../simulator/simulation/parts.ts';
import { commitMsOf } from '../../simulator/world/commit-pace.ts';
import { nemesis, noNewLeader, noTimeout, planOf, playing } from './report-fixtures.ts';

/** A player that knows without playing; for what only concerns the search. */
const judging =
  (breaks: (plan: Plan) => readonly string[]) =>
  async (plan: Plan): Promise<Run> => {
    const violations = breaks(plan).map(
      (invariant): Violation => ({ invariant, says: '', what: '', atMs: 900, node: '', record: 7 }),
    );
    return { plan, judgement: { violations, exercised: {} } } as unknown as Run;
  };

const SIX = [
  nemesis('n1', 'slowDisk', { targets: ['B'], params: { meanMs: 5, isEven: true } }),
  nemesis('n2', 'slowNodes', { targets: ['B.worker-1'], params: { factor: 2 } }),
  nemesis('n3', 'crashNodes', { targets: ['A.manager-1'], atMs: 7_000, durMs: 40_000 }),
  nemesis('n4', 'pauseNodes', { targets: ['B.worker-1'] }),
  nemesis('n5', 'progressStarvation', { targets: ['B'] }),
  nemesis('n6', 'connectionResets', { targets: ['B.worker-1'], params: { everyMs: 900 } }),
];

describe('shrinking a plan', () => {
  test('leaves the one nemesis of six that matters', async () => {
    const steps: Plan['steps'] = [
      { atMs: 0, do: 'submit', job: { jobId: 'j1', to: 'A', timeoutMs: 60_000, workflows: [] } },
      { atMs: 1_000, do: 'get', jobId: 'j1', to: 'A' },
    ];
    const plan = planOf({ nemeses: SIX, steps, config: { checkIntervalMs: 20_000 } });
    const shrunk = await shrink(plan, 'XX-1', { play: playing(noNewLeader) });
    expect(shrunk?.plan.nemeses.map(({ id }) => id)).toEqual(['n3']);
    expect(shrunk?.plan).toMatchObject({ steps: [], config: {}, topology: { gates: 0 } });
    expect(shrunk?.plan.topology.datacenters).toEqual({ A: { managers: 2, workers: 0 } });
    expect(shrunk?.plan.untilMs).toBeLessThan(60_000);
    expect(shrunk?.violation).toMatchObject({ invariant: 'XX-1', node: 'A.manager-2' });
    expect(shrunk?.isMinimal).toBe(true);
    // The plan is as small as it can be: again it stays what it is.
    const again = await shrink(shrunk?.plan as Plan, 'XX-1', { play: playing(noNewLeader) });
    expect(again?.plan).toEqual(shrunk?.plan);
    // And without that nemesis it holds.
    expect(shrunk?.passing[0]?.plan.nemeses).toEqual([]);
  });

  test('keeps the job that breaks it, with the workflow it needs', async () => {
    const work = (id: string) => ({ id, runsMs: 100 });
    const submit = (jobId: string, runsMs: number) => ({
      atMs: 100,
      do: 'submit' as const,
      job: { jobId, to: 'B', timeoutMs: 12_345, workflows: [work('w1'), { id: 'w2', runsMs }] },
    });
    const plan = planOf({
      steps: [submit('j1', 50), submit('j2', 55_555), submit('j3', 70)],
      topology: { gates: 0, datacenters: { B: { managers: 1, workers: 2 } } },
    });
    const shrunk = await shrink(plan, 'XX-2', { play: playing(noTimeout) });
    expect(shrunk?.violation.what).toContain('is timed out');
    expect(shrunk?.plan.steps).toHaveLength(1);
    const [step] = shrunk?.plan.steps ?? [];
    expect(step?.do === 'submit' && step.job.workflows).toHaveLength(1);
  });

  test('keeps disks that take their time where it takes that, and no fault for their sake', async () => {
    const plan = planOf({ nemeses: SIX });
    const breaks = (one: Plan) => (commitMsOf(one)[1] > 0 ? ['XX-1'] : []);
    const shrunk = await shrink(plan, 'XX-1', { play: judging(breaks) });
    expect(shrunk?.plan).toMatchObject({ nemeses: [], commitMs: [1, 3] });
    const indifferent = await shrink(plan, 'XX-1', { play: judging(() => ['XX-1']) });
    expect(indifferent?.plan).toMatchObject({ nemeses: [] });
    expect(indifferent?.plan).not.toHaveProperty('commitMs');
  });

  test('a fault after the end does to a run what the pace of disks does', async () => {
    const late = planOf({ nemeses: [nemesis('n1', 'slowDisk', { atMs: 70_000, targets: ['B'] })] });
    const slow = await play(late);
    const paced = await play(planOf({ commitMs: [1, 3] }));
    const prompt = await play(planOf());
    expect(paced.traceHash).toBe(slow.traceHash);
    expect(paced.traceHash).not.toBe(prompt.traceHash);
  });

  test('does not go over to a plan that breaks something else', async () => {
    const plan = planOf({ nemeses: SIX });
    const breaks = ({ nemeses }: Plan) => (nemeses.length >= 4 ? ['XX-1'] : ['XX-2']);
    const shrunk = await shrink(plan, 'XX-1', { play: judging(breaks) });
    expect(shrunk?.plan.nemeses).toHaveLength(4);
    expect(shrunk?.violation.invariant).toBe('XX-1');
  });

  test('takes a plan that cannot be played for none', async () => {
    const play = async (plan: Plan): Promise<Run> => {
      if (plan.nemeses.length < 6) throw new Error('The cluster took too long to come up.');
      return judging(() => ['XX-1'])(plan);
    };
    const shrunk = await shrink(planOf({ nemeses: SIX }), 'XX-1', { play });
    expect(shrunk?.plan.nemeses).toHaveLength(6);
    // It does not pass either.
    expect(shrunk?.passing).toEqual([]);
  });

  test('says so when the plan breaks nothing', async () => {
    expect(await shrink(planOf(), 'XX-1', { play: judging(() => []) })).toBeUndefined();
  });

  test('stops when it has had its tries or its time, with what it has', async () => {
    const plan = planOf({ nemeses: SIX });
    const isBroken = ({ nemeses }: Plan) => (nemeses.some(({ id }) => id === 'n3') ? ['XX-1'] : []);
    const few = await shrink(plan, 'XX-1', { play: judging(isBroken), triesMax: 4 });
    expect(few).toMatchObject({ tries: 4, isMinimal: false });
    let asked = 0;
    const mayGoOn = () => ++asked < 6;
    const short = await shrink(plan, 'XX-1', { play: judging(isBroken), mayGoOn });
    expect(short?.isMinimal).toBe(false);
    expect(short?.plan.nemeses.map(({ id }) => id)).toContain('n3');
  });

  test('tries no plan twice', async () => {
    const seen = new Map<string, number>();
    const play = async (plan: Plan): Promise<Run> => {
      const text = JSON.stringify(plan);
      seen.set(text, (seen.get(text) ?? 0) + 1);
      return judging(({ nemeses }) => (nemeses.length >= 3 ? ['XX-1'] : []))(plan);
    };
    await shrink(planOf({ nemeses: SIX }), 'XX-1', { play });
    expect([...seen.values()].filter((times) => times > 1)).toEqual([]);
  });
});

describe('taking parts out of a list', () => {
  test('begins with all and ends with each alone', () => {
    const outs = [...withoutParts([1, 2, 3, 4])].map(({ out }) => out);
    expect(outs).toEqual([[1, 2, 3, 4], [1, 2], [3, 4], [1], [2], [3], [4]]);
  });

  test('reaches each alone in lists of any length', () => {
    for (const length of [1, 2, 3, 5, 7, 12]) {
      const list = Array.from({ length }, (_, index) => index);
      const alone = [...withoutParts(list)].filter(({ out }) => out.length === 1);
      expect(alone.length).toBeGreaterThanOrEqual(length);
    }
    expect([...withoutParts([])]).toEqual([]);
  });
});
