/** The same seed is the same run: in another process, order, time zone and locale. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { play } from '../../simulator/jobs/run.ts';
import { drawPlan } from '../../simulator/jobs/swarm/draw-plan.ts';
import { compiledProgram } from '../kit/compiled.ts';

const SEEDS = [1, 2, 3];
const ELSEWHERE = { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };

const run = promisify(execFile);

async function hashesElsewhere(seeds: readonly number[]): Promise<Record<string, string>> {
  const args = [compiledProgram('test/simulator/hashes.ts'), ...seeds.map(String)];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...ELSEWHERE } });
  return JSON.parse(stdout) as Record<string, string>;
}

test('seeds give the same hashes elsewhere', async () => {
  const there = await hashesElsewhere([...SEEDS].reverse());
  for (const seed of SEEDS) {
    const here = await play(drawPlan(seed, { untilMs: 300_000 }));
    expect([seed, there[seed]]).toEqual([seed, here.traceHash]);
  }
  expect(new Set(Object.values(there)).size).toBe(SEEDS.length);
});
