/** Good and bad histories of leases that end while somebody lies. */

import { expect, test } from 'vitest';
import type { HistoryFact } from '../../../simulator/history/history.ts';
import { remitIsKept } from '../../../simulator/jobs/invariants/byzantine.ts';
import { frame, history, node, type Story, whatBroke } from './builders.ts';

const LIAR = 'A.worker-liar-1';
const LIE: HistoryFact = {
  ...frame('a-1', {}, 'delivered'),
  frame: '{"v":1,"hello":{"outranked":[["A",9,false]]}}',
};
const LOST: HistoryFact = { type: 'lease', place: 'A', change: 'lost', fence: 1 };

/** A lease that ends in the moment of a lie. */
const told = (before: readonly HistoryFact[] = []): Story =>
  history()
    .at(1_000)
    .add('a-1', ...before)
    .add(LIAR, LIE)
    .add('a-1', LOST);

test('BY-1 is broken: a lease ends when a liar says so', () => {
  expect(whatBroke(remitIsKept, told())).toHaveLength(1);
});

test('BY-1 holds: it had ended while its node stood still, and the lie had waited for it', () => {
  expect(whatBroke(remitIsKept, told([node('resumed')]))).toEqual([]);
});
