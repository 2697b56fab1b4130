/** The last turns of an actor: read once, and then only what came since. */

import { expect, test } from 'vitest';
import { RecentTurns } from '../../../inspector/live/recent-turns.ts';
import type { TurnLine } from '../../../inspector/protocol.ts';

function history() {
  const rows: TurnLine[] = [];
  const reads: number[] = [];
  const recent = new RecentTurns((_, limit) => {
    reads.push(limit);
    return rows.slice(-limit);
  });
  const take = (count: number, at: number): void => {
    for (let each = 0; each < count; each += 1)
      rows.push({ address: 'a', turn: (rows.at(-1)?.turn ?? 0) + 1, at, event: 'tick' });
  };
  const numbers = (count: number): number[] => recent.of('a', count).map(({ turn }) => turn);
  return { rows, reads, recent, take, numbers };
}

test('what is known is not read again, and what came since is', () => {
  const { reads, take, numbers } = history();
  take(3, 1);
  expect(numbers(3)).toEqual([1, 2, 3]);
  expect(numbers(3)).toEqual([1, 2, 3]);
  take(2, 2);
  expect(numbers(5)).toEqual([1, 2, 3, 4, 5]);
  expect(reads).toEqual([100, 1, 3]);
});

test('no more than a hundred are kept, and a long absence is read whole', () => {
  const { reads, take, numbers } = history();
  take(150, 1);
  expect(numbers(150)).toHaveLength(100);
  take(60, 2);
  expect(numbers(210).at(0)).toBe(111);
  take(300, 3);
  expect(numbers(510).at(-1)).toBe(510);
  expect(reads).toEqual([100, 61, 100]);
});

test('a new life of the actor, and a turn that is not in the history yet, are no mistake', () => {
  const { rows, recent, take, numbers } = history();
  take(5, 1);
  expect(numbers(6)).toEqual([1, 2, 3, 4, 5]);
  take(1, 2);
  expect(numbers(6)).toEqual([1, 2, 3, 4, 5, 6]);
  rows.length = 0;
  take(2, 3);
  expect(numbers(2)).toEqual([1, 2]);
  rows.length = 0;
  take(4, 4);
  expect(recent.of('a', 4).map(({ at }) => at)).toEqual([4, 4, 4, 4]);
});

test('of many actors the ones that were looked at last are kept', () => {
  const { reads, recent, take } = history();
  take(1, 1);
  for (let actor = 0; actor < 40; actor += 1) recent.of(`actor-${actor}`, 1);
  recent.of('actor-39', 1);
  expect(reads.filter((limit) => limit === 100)).toHaveLength(40);
  recent.of('actor-0', 1);
  expect(reads.filter((limit) => limit === 100)).toHaveLength(41);
});
