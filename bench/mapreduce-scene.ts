/** A map-reduce run for measurements: a folder that is gone after it, and its document. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Host } from '../programs/mapreduce/host.ts';
import {
  followRun,
  inputOf,
  type Prepared,
  prepare,
  type RunOptions,
  startRun,
} from '../programs/mapreduce/run.ts';

export interface Work {
  readonly items: number;
  readonly shell: string;
  readonly map?: object;
  readonly timeout?: object;
}

/** Runs it, lets `look` see the host at its end, and gives the ms from its first item to its last. */
export async function runOnce(
  { items, shell, map, timeout }: Work,
  look: (host: Host, runId: string) => unknown = () => {},
  options: RunOptions = {},
  change: (prepared: Prepared) => Prepared = (prepared) => prepared,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-bench-mapreduce-'));
  const file = join(folder, 'workflow.yml');
  const section = {
    input: 'items.json',
    agent_template: [{ shell }],
    timeout_config: { cleanup_grace_period_secs: 0.5, ...timeout },
    ...map,
  };
  writeFileSync(file, JSON.stringify({ mode: 'mapreduce', map: section }));
  writeFileSync(
    join(folder, 'items.json'),
    JSON.stringify(Array.from({ length: items }, (_, index) => index)),
  );
  const host = await Host.open({ data: join(folder, 'data'), ...options });
  try {
    const prepared = change(prepare(file));
    const begin = performance.now();
    const runId = await startRun(host, prepared, inputOf(prepared), options);
    await followRunQuietly(host, runId);
    const tookMs = performance.now() - begin;
    await look(host, runId);
    return tookMs;
  } finally {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function followRunQuietly(host: Host, runId: string): Promise<void> {
  await followRun(host, runId, {});
}
