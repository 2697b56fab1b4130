/** Submissions whose pages come slowly. */

import { expect, test } from 'vitest';
import { resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { isBreach, Submissions } from '../../programs/jobs/submission.ts';
import { turnKnobs } from '../../runtime/base/knob.ts';
import { SimulatedClock } from '../../simulator/testing.ts';

const PAGES = 5;

function start() {
  const clock = new SimulatedClock();
  const submissions = new Submissions(clock, resolveConfiguration());
  const take = (page: number, jobId = 'j') => {
    const workflows = [{ id: `w${page}`, handler: 'sleep' }];
    const terms = { timeoutMs: 60_000 };
    return submissions.take('ada', { jobId, terms, workflows, page, pages: PAGES });
  };
  return { clock, take };
}

test('a submission is waited for as long as pages come, within ten seconds of each other', async () => {
  const { clock, take } = start();
  for (let page = 1; page < PAGES; page += 1) {
    expect(await take(page)).toBeNull();
    clock.advanceBy(9_999);
  }
  const whole = await take(PAGES);
  expect(whole !== null && !isBreach(whole) && whole.workflows).toHaveLength(PAGES);
});

test('the same page again is no news of it', async () => {
  const { clock, take } = start();
  for (let page = 1; page < PAGES; page += 1) expect(await take(page)).toBeNull();
  clock.advanceBy(9_000);
  expect(await take(1)).toBeNull();
  clock.advanceBy(1_000);
  expect(await take(PAGES)).toBeNull();
});

test('two submissions of one job have their pages apart, in whatever order those come', async () => {
  const submissions = new Submissions(new SimulatedClock(), resolveConfiguration());
  const take = (requestId: string, page: number) => {
    const workflows = [{ id: `w${page}`, handler: requestId }];
    const terms = { timeoutMs: 60_000 };
    return submissions.take('ada', { requestId, jobId: 'j', terms, workflows, page, pages: 2 });
  };
  expect(await take('one', 1)).toBeNull();
  expect(await take('two', 1)).toBeNull();
  for (const requestId of ['one', 'two']) {
    const whole = await take(requestId, 2);
    const handlers =
      whole !== null && !isBreach(whole) && whole.workflows.map((one) => one.handler);
    expect(handlers).toEqual([requestId, requestId]);
  }
});

test('where too many are unfinished another one is told to come again, and not that it is wrong', async () => {
  const { clock, take } = start();
  const turnBack = turnKnobs({ submissionsUnfinishedMax: 1 });
  try {
    expect(await take(1)).toBeNull();
    expect(await take(1, 'k')).toMatchObject({ reason: 'overloaded', retryAfterMs: 1_000 });
    clock.advanceBy(10_000);
    expect(await take(1, 'k')).toBeNull();
  } finally {
    turnBack();
  }
});
