/**
 * Items per second of commands that do nothing, two at a time, against GNU parallel and against a plain loop
 * of spawns with the same commands.
 */

import { spawn, spawnSync } from 'node:child_process';
import { runOnce } from './mapreduce-scene.ts';
import { interleave, median, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const ITEMS = 400;
const QUICK_ITEMS = 60;
const AT_A_TIME = 2;

export const mapReduceItems: Field = {
  name: 'itemsVsParallel',
  about: 'items per second ÷ those of GNU parallel, the same commands, two at a time',
  better: 'higher',
  goal: 1,
  others: [
    {
      name: 'itemsVsSpawn',
      about: 'items per second ÷ those of a plain loop of spawns, two at a time',
      better: 'higher',
      goal: 0.6,
    },
  ],
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const items = options.isQuick ? QUICK_ITEMS : ITEMS;
  const perSecond = (ms: number): number => (items * 1_000) / ms;
  const work = { items, shell: ':', map: { max_parallel: AT_A_TIME } };
  const cases = [
    { name: 'runs', run: async () => perSecond(await runOnce(work)) },
    { name: 'parallel', run: () => perSecond(parallelOnce(items)) },
    { name: 'spawns', run: async () => perSecond(await spawnAll(items)) },
  ];
  const raw = await interleave(cases, options);
  const measured = (other: string) => {
    const found = ratios(raw, 'runs', other);
    return { value: rounded(median(found)), range: rangeOf(found), rounds: found.length };
  };
  return {
    ...measured('parallel'),
    others: { itemsVsSpawn: measured('spawns') },
    details: {
      items,
      itemsPerSecond: summary(raw.runs ?? []),
      parallelPerSecond: summary(raw.parallel ?? []),
      spawnsPerSecond: summary(raw.spawns ?? []),
    },
    raw,
  };
}

function parallelOnce(items: number): number {
  const input = Array.from({ length: items }, (_, index) => index).join('\n');
  const begin = performance.now();
  const args = ['--will-cite', '--jobs', String(AT_A_TIME), ': {}'];
  const { status, error } = spawnSync('parallel', args, { input });
  if (status !== 0)
    throw new Error(
      `GNU parallel is needed (apt-get install parallel): ${error?.message ?? status}`,
    );
  return performance.now() - begin;
}

async function spawnAll(items: number): Promise<number> {
  const begin = performance.now();
  let left = items;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await new Promise((resolve) => {
        const child = spawn('/bin/sh', ['-c', ':'], {
          detached: true,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        child.stdout.resume();
        child.stderr.resume();
        child.once('close', resolve);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
  return performance.now() - begin;
}
