import { expect, test } from 'vitest';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { memoryLeaseBoard } from '../../stores/lease-board.ts';
import { describeLeaseBoard } from './describe-lease-board.ts';

describeLeaseBoard('the board in memory', async () => {
  const clock = new SimulatedClock();
  const board = memoryLeaseBoard(clock);
  return {
    one: board,
    other: board,
    pass: async (durationMs) => clock.advanceBy(durationMs),
    close: async () => {},
  };
});

test('the board in memory takes a lease away, and says who has one', async () => {
  const board = memoryLeaseBoard(new SimulatedClock());
  board.revoke('A');
  const fence = (await board.acquire('A', 'm1', 1_000)) ?? 0;
  expect(board.holderOf('A')).toBe('m1');
  board.revoke('A');
  expect(board.holderOf('A')).toBeUndefined();
  expect(await board.renew('A', 'm1', fence, 1_000)).toBe(false);
});
