/** Good and bad histories of a datacenter in which too much waits. */

import { expect, test } from 'vitest';
import type { AnswerFact, CallFact, CommitFact } from '../../../simulator/history/history.ts';
import { shedLeavesNothing } from '../../../simulator/jobs/invariants/overload.ts';
import { history, howOften, whatBroke } from './builders.ts';

const call = (number: number): CallFact => ({
  ...{ type: 'call', call: `call-${number}`, to: 'A', request: 'submit', jobId: 'j1', body: null },
});
const shed = (number: number): AnswerFact => ({
  ...{ type: 'answer', call: `call-${number}`, outcome: 'refused' },
  about: { reason: 'overloaded', retryAfterMs: 1_000 },
});
const stored = (address: string): CommitFact => ({
  ...{ type: 'commit', place: 'A', shard: 'A', fence: 1, change: 'settled', error: undefined },
  writes: [{ address, record: '{}' }],
  addresses: [address],
});

test('OV-1 holds: nothing is stored, and later it is submitted again and taken', () => {
  const good = history()
    .add('client-1', call(1))
    .add('A.manager-1', stored('job/other@A'))
    .add('client-1', shed(1))
    .add('client-1', call(2))
    .add('A.manager-1', stored('job/j1@A'));
  expect(whatBroke(shedLeavesNothing, good)).toEqual([]);
  expect(howOften(shedLeavesNothing, good)).toBe(1);
});

test('OV-1 says nothing of a job that another client submitted meanwhile and was granted', () => {
  const granted: AnswerFact = { type: 'answer', call: 'call-2', outcome: 'ok', about: {} };
  const good = history()
    .add('client-1', call(1))
    .add('client-2', call(2))
    .add('A.manager-1', stored('job/j1@A'))
    .add('client-2', granted)
    .add('client-1', shed(1));
  expect(whatBroke(shedLeavesNothing, good)).toEqual([]);
  expect(howOften(shedLeavesNothing, good)).toBe(0);
});

test('OV-1 is broken: it is there when its client is refused', () => {
  const bad = history()
    .add('client-1', call(1))
    .add('A.manager-1', stored('workflow/j1/w1@A'))
    .add('client-1', shed(1));
  expect(whatBroke(shedLeavesNothing, bad)).toEqual([
    'j1 was refused as overload, and there is workflow/j1/w1@A',
  ]);
});

test('OV-1 is broken: it is there afterwards', () => {
  const bad = history()
    .add('client-1', call(1))
    .add('client-1', shed(1))
    .add('A.manager-1', stored('job/j1@A'));
  expect(whatBroke(shedLeavesNothing, bad)).toEqual([
    'j1 was refused as overload, and now there is job/j1@A',
  ]);
});

test('OV-1 says nothing of other refusals, and of runs with faults', () => {
  const other: AnswerFact = { ...shed(1), about: { reason: 'overloaded' } };
  const refused = history().add('client-1', call(1)).add('client-1', other);
  expect(howOften(shedLeavesNothing, refused)).toBe(0);
  const faulty = history().add('client-1', call(1)).add('client-1', shed(1));
  expect(howOften(shedLeavesNothing, faulty, { isFaultFree: false })).toBe(0);
});
