/**
 * The mapreduce suite: what runs of commands cost and how punctual their limits are.
 *
 * `itemsVsParallel` needs GNU parallel, of the Debian package of that name.
 */

import { mapReduceItems } from './mapreduce-items.ts';
import { mapReduceLateness } from './mapreduce-lateness.ts';
import { mapReduceOverhead } from './mapreduce-overhead.ts';
import { mapReduceTracked } from './mapreduce-tracked.ts';
import type { Suite } from './suite.ts';

export const mapreduce: Suite = {
  name: 'mapreduce',
  about: 'commands for many items, bounded in time',
  fields: [mapReduceItems, mapReduceOverhead, mapReduceLateness, mapReduceTracked],
};
