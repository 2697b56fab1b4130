/** Work in slices, counted: what a slice weighs, whatever the speed of the machine. */

import { expect, test } from 'vitest';
import { resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { inSlices, type Steps } from '../../programs/jobs/jobs-service/slices.ts';
import { findWrongDependency } from '../../programs/jobs/submission/breach.ts';
import { isBreach, Submissions } from '../../programs/jobs/submission.ts';
import type { Clock } from '../../runtime/ports/clock.ts';

/** Counts how often others had their turn. */
class TurnClock implements Clock {
  turns = 0;

  now(): number {
    return 0;
  }

  schedule(): () => void {
    return () => {};
  }

  defer(task: () => void): void {
    this.turns += 1;
    setImmediate(task);
  }
}

/** The largest weight between two turns of others, and of one step. */
async function slicesOf<T>(steps: Steps<T>, weightMax: number) {
  const clock = new TurnClock();
  let turns = 0;
  let weight = 0;
  let heaviest = 0;
  let heaviestStep = 0;
  function* watched(): Steps<T> {
    for (;;) {
      const step = steps.next();
      if (clock.turns > turns) weight = 0;
      turns = clock.turns;
      if (step.done === true) return step.value;
      weight += step.value;
      heaviest = Math.max(heaviest, weight);
      heaviestStep = Math.max(heaviestStep, step.value);
      yield step.value;
    }
  }
  const result = await inSlices(clock, watched(), weightMax);
  return { result, heaviest, heaviestStep, turns: clock.turns };
}

const COUNT = 600;
/** Each after all before it. */
const chained = Array.from({ length: COUNT }, (_, n) => ({
  id: `w${n}`,
  handler: 'h',
  payload: '',
  cores: 1,
  dependsOn: Array.from({ length: n }, (_before, m) => `w${m}`),
}));
const EDGES = (COUNT * (COUNT - 1)) / 2;

test('what is less than a slice is done at once', async () => {
  const { turns, result } = await slicesOf(findWrongDependency(chained.slice(0, 5)), 1_000);
  expect([turns, result]).toEqual([0, undefined]);
});

test('dependencies without number are looked at in slices, and no slice is more than one step too heavy', async () => {
  const { turns, heaviest, heaviestStep, result } = await slicesOf(
    findWrongDependency(chained),
    1_000,
  );
  expect(result).toBeUndefined();
  expect(heaviestStep).toBe(COUNT);
  expect(heaviest).toBeLessThanOrEqual(1_000 + heaviestStep);
  // Each is looked at three times: counted, turned round, taken away.
  expect(turns).toBeGreaterThanOrEqual((3 * EDGES) / (1_000 + heaviestStep));
});

test.each([
  [
    'a circle',
    { ...chained[0], dependsOn: ['w599'] },
    'workflows[0].dependsOn',
    'part of a circle',
  ],
  ['a name twice', { ...chained[0], id: 'w7' }, 'workflows[7].id', 'there twice'],
  ['a name of nobody', { ...chained[0], dependsOn: ['x'] }, 'workflows[0].dependsOn', 'names no'],
])('a mistake is found all the same: %s', async (_, first, field, detail) => {
  const wrong = [first as (typeof chained)[0], ...chained.slice(1)];
  const { result } = await slicesOf(findWrongDependency(wrong), 1_000);
  expect(result).toMatchObject({ field, detail: expect.stringContaining(detail) });
});

test('a submission of many dependencies lets others have their turn', async () => {
  const clock = new TurnClock();
  const page = { jobId: 'j', terms: { timeoutMs: 1_000 }, workflows: chained, page: 1, pages: 1 };
  const whole = await new Submissions(
    clock,
    resolveConfiguration({ dependenciesMax: 1_000_000 }),
    1_000,
  ).take('ada', page);
  expect(whole !== null && !isBreach(whole) && whole.workflows).toHaveLength(COUNT);
  expect(clock.turns).toBeGreaterThan(EDGES / 1_000);
});
