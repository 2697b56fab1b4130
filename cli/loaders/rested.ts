/**
 * Sources at rest by their path: a data directory, a recording, a plan that is played; each as lines of a recording.
 */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedHeader, RecordedLine, SourceSort } from '../../inspector/protocol.ts';
import { readLines } from '../../inspector/recording/recorded.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { ownVersion } from '../own-version.ts';
import { type Output, printable } from '../render/output.ts';
import type { OpenStoredData } from './stored-data.ts';

export interface Rested {
  readonly sort: SourceSort;
  readonly lines: Array<RecordedHeader | RecordedLine>;
}

const BYTES_MAX = 512 * 1024 * 1024;

/** @throws {CommandFailure} @throws {RuntimeError} of a directory that is no store, or a plan that is none */
export async function openRested(
  path: string,
  open: OpenStoredData | undefined,
  output: Output,
): Promise<Rested> {
  const stats = statOf(path);
  if (stats.isDirectory()) return { sort: 'directory', lines: await linesIn(path, open) };
  if (stats.size > BYTES_MAX)
    throw new CommandFailure(EXIT.badData, `${path}: has more than ${BYTES_MAX} bytes.`);
  if (path.endsWith('.json')) return { sort: 'plan', lines: await linesOfPlan(path, output) };
  try {
    return { sort: 'recording', lines: readLines(readFileSync(path, 'utf8')) };
  } catch (thrown) {
    throw new CommandFailure(EXIT.badData, `${path}: ${messageOf(thrown)}`, { cause: thrown });
  }
}

function statOf(path: string) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return stats;
  throw new CommandFailure(EXIT.badData, `${path}: there is no such file or directory.`);
}

/**
 * What is stored in a directory, with what its nodes recorded; or what they recorded alone. A directory of runs may
 * have stores of both kinds: that of agents lies within.
 */
async function linesIn(path: string, open: OpenStoredData | undefined): Promise<Rested['lines']> {
  const { keptIn, merged } = await import('../../inspector/recording/kept.ts');
  const kept = keptIn(path);
  const stores = storesIn(path);
  const isStored = stores.length > 0 || kept.length === 0;
  return merged(isStored ? await storedIn(path, stores, open) : [], kept);
}

async function storedIn(
  path: string,
  stores: readonly string[],
  open: OpenStoredData | undefined,
): Promise<Rested['lines']> {
  if (open === undefined)
    throw new CommandFailure(EXIT.unavailable, `${path}: there is nothing here to open it with.`);
  const { linesOfStored } = await import('../../inspector/recording/stored.ts');
  const { runsInDirectory } = await import('../../inspector/recording/stored-runs.ts');
  const lines: Rested['lines'] = [];
  for (const folder of stores.length === 0 ? [path] : stores) {
    const data = await open(folder, 'look');
    try {
      const [header, ...rest] = linesOfStored(path, data);
      if (lines.length === 0 && header !== undefined) lines.push(header);
      lines.push(...rest);
      const at = rest.reduce((last, line) => Math.max(last, line.at), 0);
      const runs = await runsInDirectory(folder, at);
      if (runs !== undefined) lines.push({ type: 'runs', at, node: '', ...runs });
    } finally {
      await data.close();
    }
  }
  return lines;
}

function storesIn(path: string): readonly string[] {
  return [path, join(path, 'agents')].filter((folder) => existsSync(join(folder, 'data.mdb')));
}

async function linesOfPlan(path: string, output: Output): Promise<Rested['lines']> {
  const { readPlanText } = await import('../simulate/replay.ts');
  const { readPlan } = await import('../../simulator/jobs.ts');
  const { play } = await import('../../simulator/index.ts');
  const { linesOfRun, recordsOf } = await import('../../inspector/recording/simulated.ts');
  const plan = readPlan(readPlanText(path), path, { release: ownVersion() });
  output.progress(`playing ${printable(path)}`);
  try {
    const run = await play(plan, { invariants: [] });
    return linesOfRun(`${plan.name}, seed ${plan.seed}`, recordsOf(run));
  } finally {
    output.progress(undefined);
  }
}
