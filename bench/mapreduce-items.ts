/**
 * Items per second of commands that do nothing, two at a time, against GNU parallel and against a plain loop
 * of spawns with the same commands.
 */

import { spawnSync } from 'node:child_process';
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
    { name: 'spawns', run: () => perSecond(spawnAll(items)) },
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

/** A loop of spawns that does nothing else, in a process of its own: a fork costs what its process has in memory. */
const SPAWN_LOOP = `
  const { spawn } = require('node:child_process');
  let left = Number(process.argv[1]);
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await new Promise((resolve) => {
        const stdio = ['ignore', 'pipe', 'pipe'];
        const child = spawn('/bin/sh', ['-c', ':'], { detached: true, stdio });
        child.stdout.resume();
        child.stderr.resume();
        child.once('close', resolve);
      });
    }
  };
  const begin = performance.now();
  Promise.all(Array.from({ length: Number(process.argv[2]) }, lane)).then(() =>
    console.log(performance.now() - begin));
`;

function spawnAll(items: number): number {
  const args = ['-e', SPAWN_LOOP, String(items), String(AT_A_TIME)];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The loop of spawns has failed: ${stderr}`);
  return Number(stdout);
}
