/**
 * Crash cycles of a map-reduce run: it is killed with SIGKILL at drawn moments and continued, until it is done.
 *
 * Judged is what commands have written themselves, against what was on record when the runner was killed: an
 * item on record as done never runs again, no item is lost, no process of an attempt is left. Half of the items have
 * children that ignore SIGTERM.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { openStoredData } from '../../programs/mapreduce/stored-data.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { MarkedRun } from './marked-run.ts';

export interface MapReduceReport {
  readonly hasHeld: boolean;
  readonly kills: number;
  readonly items: number;
  readonly done: number;
  readonly attempts: number;
  /** Items that ran again though they were on record as done. */
  readonly runAgain: number;
  readonly lost: number;
  readonly processesLeft: number;
  readonly seconds: number;
}

interface Options {
  readonly cycles: number;
  readonly seed: number;
  readonly progress?: (line: string) => void;
}

const RUN = 'r1';
const ITEMS_PER_KILL = 8;
const LATEST_KILL_MS = 900;
/** A command marks its beginning and its end in a file of its attempt. */
const COMMAND = [
  'echo begin >> "log/$ESCAPEMENT_ITEM_ID"',
  'if [ $((ESCAPEMENT_ITEM_ID % 2)) = 0 ]; then (trap "" TERM; sleep 0.1) & fi',
  'sleep 0.05; wait',
].join('; ');

export async function runMapReduceCycles({
  cycles,
  seed,
  progress,
}: Options): Promise<MapReduceReport> {
  const begin = performance.now();
  const run = new MarkedRun('mapreduce', 'test/crash/mapreduce-victim.ts', (at) => [at, RUN]);
  const items = cycles * ITEMS_PER_KILL;
  write(run, items);
  const random = new SeededRandom(seed, 'mapreduce-crash');
  const beginnings = new Map<string, number>();
  let [kills, runAgain] = [0, 0];
  for (; kills < cycles; kills++) {
    await run.killed(Math.floor(random.next() * LATEST_KILL_MS));
    runAgain += await judge(run, beginnings);
    progress?.(
      `${kills + 1} of ${cycles} kills, ${beginnings.size} of ${items} items on record as done`,
    );
  }
  await run.ended();
  runAgain += await judge(run, beginnings);
  const { attempts, done } = await countOf(run);
  const lost = items - done;
  const processesLeft = run.processesLeft();
  run.remove();
  const hasHeld = runAgain === 0 && lost === 0 && processesLeft === 0;
  const seconds = Math.round((performance.now() - begin) / 100) / 10;
  return { hasHeld, kills, items, done, attempts, runAgain, lost, processesLeft, seconds };
}

export function describeMapReduce(report: MapReduceReport): string {
  const { kills, seconds, items, done, attempts, runAgain, lost, processesLeft } = report;
  return [
    `${report.hasHeld ? 'HELD' : 'FAIL'}  ${kills} kills, ${seconds} s`,
    `${done} of ${items} items done in ${attempts} attempts`,
    `successes run again ${runAgain}, lost ${lost}, processes left ${processesLeft}`,
    '',
  ].join('\n');
}

function write(run: MarkedRun, items: number): void {
  const values = Array.from({ length: items }, (_, index) => ({ id: index }));
  writeFileSync(run.file('items.json'), JSON.stringify(values));
  const map = {
    input: 'items.json',
    max_parallel: 4,
    timeout_config: { cleanup_grace_period_secs: 0.2 },
    agent_template: [{ shell: COMMAND }],
  };
  const setup = [{ shell: 'mkdir -p log' }];
  writeFileSync(run.file('workflow.yml'), JSON.stringify({ mode: 'mapreduce', setup, map }));
}

/**
 * Items on record as done whose command has begun since they were. What is found done now is remembered with how
 * often it has begun by then.
 */
async function judge(run: MarkedRun, beginnings: Map<string, number>): Promise<number> {
  const data = await openStoredData(run.file('data'));
  let again = 0;
  for (const [index, { state }] of data.stored.items(RUN)) {
    if (state !== 'done') continue;
    const begun = beginningsOf(run, String(index));
    const before = beginnings.get(String(index));
    if (before !== undefined && begun > before) again += 1;
    beginnings.set(String(index), begun);
  }
  await data.close();
  return again;
}

function beginningsOf(run: MarkedRun, itemId: string): number {
  const file = run.file('log', itemId);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}

async function countOf(
  run: MarkedRun,
): Promise<{ readonly attempts: number; readonly done: number }> {
  const data = await openStoredData(run.file('data'));
  const rows = [...data.stored.items(RUN).values()];
  await data.close();
  const attempts = rows.reduce((sum, row) => sum + row.attempts, 0);
  return { attempts, done: rows.filter(({ state }) => state === 'done').length };
}
