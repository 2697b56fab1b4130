/** The engine suite: what a turn, a deadline, an end, a spawn, an idle actor and a restart cost. */

import { durable } from './engine-durable.ts';
import { idle } from './engine-idle.ts';
import { lateness } from './engine-lateness.ts';
import { spawnGrowth, stopGrowth } from './engine-population.ts';
import { rearm } from './engine-rearm.ts';
import { recovery } from './engine-recovery.ts';
import { transition } from './engine-transition.ts';
import type { Suite } from './suite.ts';

export const engine: Suite = {
  name: 'engine',
  about:
    'turns, deadlines, ends and births of one node, in memory and on disk; idle actors, restarts',
  fields: [transition, durable, rearm, lateness, stopGrowth, spawnGrowth, idle, recovery],
};
