/** Good and bad histories of clients that ask. */

import { expect, test } from 'vitest';
import type { AnswerFact, CallFact } from '../../../simulator/history.ts';
import { everyCallIsAnswered } from '../../../simulator/invariants/answers.ts';
import { history, howOften, whatBroke } from './builders.ts';

const asked: CallFact = {
  type: 'call',
  call: 'call-1',
  to: 'A',
  request: 'cancel',
  jobId: 'j1',
  body: null,
};
const answered = (outcome: AnswerFact['outcome']) =>
  history()
    .add('client-1', asked)
    .at(10_000)
    .add('client-1', { type: 'answer', call: 'call-1', outcome, about: null });

test.each(['ok', 'refused'] as const)('TS-7 holds: the answer is %s', (outcome) => {
  expect(whatBroke(everyCallIsAnswered, answered(outcome))).toEqual([]);
  expect(howOften(everyCallIsAnswered, answered(outcome))).toBe(1);
});

test('TS-7 holds: it may be lost where anything goes wrong', () => {
  const facts = { isFaultFree: false };
  expect(whatBroke(everyCallIsAnswered, answered('unknown'), facts)).toEqual([]);
  expect(howOften(everyCallIsAnswered, answered('unknown'), facts)).toBe(0);
});

test('TS-7 is broken: nobody answered', () => {
  expect(whatBroke(everyCallIsAnswered, answered('unknown'))).toEqual([
    'Nobody answered cancel of j1 at A.',
  ]);
});
