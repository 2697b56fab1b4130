/** Seeds of runs with crashes, interruptions and stubborn commands: each of the invariants of map-reduce holds. */

import { expect, test } from 'vitest';
import { playSeed } from './pretend-world.ts';

const SEEDS = 60;

test(`the invariants hold over ${SEEDS} seeds`, async () => {
  const broken: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { breaches } = await playSeed(seed);
    broken.push(...breaches.map((breach) => `seed ${seed}: ${breach}`));
  }
  expect(broken).toEqual([]);
});
