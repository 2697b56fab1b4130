import { describe, expect, test } from 'vitest';
import { inPortions } from '../../programs/jobs/jobs-service/portions.ts';
import { submissionParts } from '../../programs/jobs/submission/parts.ts';
import { systemClock } from '../../runtime/system/clock.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Runs `work` and says how often the event loop came round meanwhile. */
async function roundsDuring(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  let isOver = false as boolean;
  const look = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  return rounds;
}

describe('a long list in portions', () => {
  const clock = systemClock();

  test('is taken in order, each item once, with the event loop let go in between', async () => {
    const portions: Array<readonly number[]> = [];
    const size = { max: 10, weigh: (item: number) => (item === 7 ? 100 : 2) };
    const rounds = await roundsDuring(() =>
      inPortions(clock, numbers(20), size, (some) => portions.push(some)),
    );
    expect(portions).toEqual([
      [0, 1, 2, 3, 4],
      [5, 6],
      [7],
      [8, 9, 10, 11, 12],
      [13, 14, 15, 16, 17],
      [18, 19],
    ]);
    expect(rounds).toBeGreaterThanOrEqual(5);
  });

  test('that is one portion is taken at once', async () => {
    const rounds = await roundsDuring(() =>
      inPortions(clock, numbers(20), { max: 20, weigh: () => 1 }, () => {}),
    );
    expect(rounds).toBe(0);
  });

  test('goes on when the portion before is done, and ends when one fails', async () => {
    let underWay = 0;
    const taken: number[] = [];
    const take = async (some: readonly number[]): Promise<void> => {
      expect(underWay).toBe(0);
      underWay += 1;
      taken.push(...some);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      if (some.includes(4)) throw new Error('no more');
    };
    const size = { max: 2, weigh: () => 1 };
    await expect(inPortions(clock, numbers(20), size, take)).rejects.toThrow('no more');
    expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('is how a submission is measured for its pages', async () => {
    const workflows = numbers(40_000).map((index) => ({ id: `w${index}` }));
    let pages: Awaited<ReturnType<typeof submissionParts<{ id: string }>>> = [];
    const rounds = await roundsDuring(async () => {
      pages = await submissionParts(clock, workflows);
    });
    expect(pages.map(({ workflows: some }) => some.length)).toEqual(numbers(80).map(() => 500));
    expect(pages.flatMap(({ workflows: some }) => some)).toEqual(workflows);
    expect(rounds).toBeGreaterThanOrEqual(15);
  });
});
