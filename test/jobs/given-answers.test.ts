/** Answers of submissions that are given once: what a copy of a question hears, and for how long. */

import { expect, test } from 'vitest';
import type { SubmissionAnswer } from '../../machines/jobs/messages/client.ts';
import { GivenAnswers } from '../../programs/jobs/jobs-service/given-answers.ts';
import { turnKnobs } from '../../runtime/base/knob.ts';

const answer = (reason: SubmissionAnswer['reason']): SubmissionAnswer => ({
  ...{ jobId: 'j1', accepted: reason === null, created: reason === null },
  ...{ status: reason === null ? 'submitted' : null, reason },
});

function answersOf(given: GivenAnswers, answers: Array<SubmissionAnswer | null>) {
  return (question: string) => given.once(question, async () => answers.shift() ?? null);
}

test('a copy of a question has the answer that was given, and it is counted once', async () => {
  const counted: unknown[] = [];
  const given = new GivenAnswers({ add: (name, labels) => void counted.push([name, labels]) });
  const ask = answersOf(given, [answer('overloaded'), answer(null)]);
  expect((await ask('ask/1@c'))?.reason).toBe('overloaded');
  expect((await ask('ask/1@c'))?.reason).toBe('overloaded');
  expect((await ask('ask/2@c'))?.reason).toBe(null);
  expect(counted).toEqual([['job_submissions_refused_total', { reason: 'overloaded' }]]);
});

test('a part of a submission is no answer: the next one is found', async () => {
  const given = new GivenAnswers({ add: () => {} });
  const ask = answersOf(given, [null, answer(null)]);
  expect(await ask('ask/1@c')).toBe(null);
  expect((await ask('ask/1@c'))?.accepted).toBe(true);
});

test('the oldest is forgotten where more are given than are kept', async () => {
  const restore = turnKnobs({ submissionAnswersKept: 2 });
  try {
    const given = new GivenAnswers({ add: () => {} });
    const ask = answersOf(
      given,
      (['conflict', 'invalid', null, 'overloaded'] as const).map(answer),
    );
    for (const question of ['ask/1@c', 'ask/2@c', 'ask/3@c']) await ask(question);
    expect((await ask('ask/2@c'))?.reason).toBe('invalid');
    expect((await ask('ask/1@c'))?.reason).toBe('overloaded');
  } finally {
    restore();
  }
});
