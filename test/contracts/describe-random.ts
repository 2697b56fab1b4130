/**
 * Contract of every Random. The bounds on averages are over twenty standard deviations wide: they find a
 * broken adapter and no unlucky run.
 */

import { describe, expect, test } from 'vitest';
import type { Random } from '../../runtime/ports/random.ts';

export function describeRandom(name: string, open: () => Random): void {
  describe(`${name} keeps the random contract`, () => {
    test('gives numbers from 0 to below 1', () => {
      const random = open();
      const numbers = Array.from({ length: 10_000 }, () => random.next());
      expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    });

    test('favours no part of the range', () => {
      const random = open();
      const counts = new Array<number>(10).fill(0);
      for (let draw = 0; draw < 10_000; draw++) {
        const part = Math.floor(random.next() * 10);
        counts[part] = (counts[part] as number) + 1;
      }
      expect(Math.min(...counts)).toBeGreaterThan(400);
      expect(Math.max(...counts)).toBeLessThan(1_600);
    });

    test('gives ids that are short, fit into an address, and differ', () => {
      const random = open();
      const ids = Array.from({ length: 10_000 }, () => random.id());
      expect(ids.filter((id) => !/^[A-Za-z0-9_-]{8,64}$/.test(id))).toEqual([]);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });
}
