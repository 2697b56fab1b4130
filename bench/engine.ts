/** The engine suite: what a turn, a deadline, an end and a birth cost. */

import { lateness } from './engine-lateness.ts';
import { spawnGrowth, stopGrowth } from './engine-population.ts';
import { rearm } from './engine-rearm.ts';
import { transition } from './engine-transition.ts';
import type { Suite } from './suite.ts';

export const engine: Suite = {
  name: 'engine',
  about: 'turns, deadlines, ends and births in one process, in memory',
  fields: [transition, rearm, lateness, stopGrowth, spawnGrowth],
};
