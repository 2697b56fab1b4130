/**
 * Now and then a book beside the jobs system: entries made by calls with ids, more of them at once than there is
 * room for, by a clerk and for a book that both die again and again.
 */

import type { Chance } from '../../world.ts';
import type { PlannedBook } from '../plan.ts';

const PROBABILITY = 0.08;
/** It is over before the faults of a run are. */
const LASTS_MS = 60_000;
const DOWN_MAX_MS = 3_000;

/** Undefined in most runs. */
export function drawBook(chance: Chance, healAtMs: number): PlannedBook | undefined {
  if (!chance.is(PROBABILITY) || healAtMs < LASTS_MS) return undefined;
  const entries: PlannedBook['entries'][number][] = [];
  const deaths: PlannedBook['deaths'][number][] = [];
  const rounds = chance.whole(3, 8);
  for (let round = 1; round <= rounds; round += 1) {
    const fromMs = chance.whole(1_000, LASTS_MS / 2);
    if (chance.is(0.7)) {
      const pages = chance.whole(2, 4);
      entries.push({ atMs: fromMs, id: `t${round}`, pages });
      // Between the refusal of a page and the next try of its task.
      const downMs = Math.round(chance.scaled(1, DOWN_MAX_MS));
      deaths.push({ atMs: fromMs + 100 * pages + chance.whole(50, 1_000), node: 'book', downMs });
    }
    const withinMs = chance.pick([20, 400]);
    const count = chance.whole(2, 12);
    for (let number = 1; number <= count; number += 1)
      entries.push({ atMs: fromMs + chance.whole(0, withinMs), id: `e${round}.${number}` });
  }
  const others = Array.from({ length: chance.whole(0, 6) }, () => ({
    atMs: chance.whole(1_000, LASTS_MS - DOWN_MAX_MS - 1),
    node: chance.is(0.5) ? 'book' : 'clerk',
    downMs: Math.round(chance.scaled(1, DOWN_MAX_MS)),
  }));
  return {
    entries: entries.sort((one, other) => one.atMs - other.atMs),
    deaths: [...deaths, ...others].sort((one, other) => one.atMs - other.atMs),
    commitMs: Math.round(chance.scaled(1, 200)),
    mailboxMax: chance.pick([2, 3, 8]),
    outboxMax: chance.pick([4, 16]),
    // Where nobody is forgotten there is room for all.
    ...chance.pick([
      { sendersMax: 4, dedupRetentionMs: 2_000 },
      { sendersMax: 8, dedupRetentionMs: 10_000 },
      { sendersMax: 1_000, dedupRetentionMs: 600_000 },
    ]),
  };
}
