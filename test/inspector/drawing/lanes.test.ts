/** Lanes of a timeline, made of turns. */

import { expect, test } from 'vitest';
import { laneOf } from '../../../inspector/turn-lines.ts';

const actor = { address: 'job/1@A', node: 'A.manager-1', state: 'running' };
const turn = (number: number, at: number, state?: string) => ({
  address: actor.address,
  turn: number,
  at,
  event: 'tick',
  ...(state !== undefined && { state }),
});

test('a stay that began before the history lasts all the same', () => {
  const { bars, since } = laneOf(actor, [turn(90, 5_000), turn(91, 6_000)]);
  expect(bars).toEqual([{ sort: 'state', from: 5_000, label: 'running' }]);
  expect(since).toBe(5_000);
});

test('each change of the state begins a bar, in true time where it is known', () => {
  const turns = [turn(1, 100, 'open'), turn(2, 200), { ...turn(3, 300, 'running'), trueAt: 290 }];
  expect(laneOf({ ...actor, endedAt: 400 }, turns).bars).toEqual([
    { sort: 'state', from: 100, to: 290, label: 'open' },
    { sort: 'state', from: 290, to: 400, label: 'running' },
  ]);
});

test('an actor of which no turn is known has no bars', () => {
  expect(laneOf(actor, []).bars).toEqual([]);
});
