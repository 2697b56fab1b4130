/** The invariants of agent runs over seeds with crashes, pauses, drains, quotas and humans. */

import { beforeAll, expect, test } from 'vitest';
import { playSeed } from './pretend-world.ts';

const SEEDS = 30;
const IDS = Array.from({ length: 15 }, (_, index) => `AG-${index + 1}`);
const found: string[] = [];

beforeAll(async () => {
  // One seed says enough.
  for (let seed = 1; seed <= SEEDS && found.length === 0; seed++) {
    const { breaches } = await playSeed(seed);
    found.push(...breaches.map((breach) => `${breach} (seed ${seed})`));
  }
});

test.each(IDS)(`%s holds over ${SEEDS} seeds`, (id) => {
  expect(found.filter((breach) => breach.startsWith(`${id} `))).toEqual([]);
});
