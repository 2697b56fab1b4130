/**
 * Cost of enforcing limits: CPU time of a run of 1,000 agents at once, of this process and of all its commands, against
 * the same run whose agents have no limit.
 *
 * Both sides take turns, at least 20 pairs. The interval is that of the median of the pairs, by order statistics; the goal
 * is met when its upper end is below, and nothing is said where it is wider than the goal.
 */

import { readFileSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';
import { runOnce } from './mapreduce-scene.ts';
import { collectGarbage, median, medianInterval, rangeOf, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const AGENTS = 1_000;
const PAIRS = 20;
const QUICK_AGENTS = 60;
const QUICK_PAIRS = 3;
const GOAL_PERCENT = 1;
/** Clock ticks of /proc in a second, on every Linux. */
const TICKS = 100;

export const mapReduceOverhead: Field = {
  name: 'overheadPercent',
  about: `CPU time of a run of ${AGENTS} agents at once, above that of one without limits, in percent`,
  better: 'lower',
  goal: GOAL_PERCENT,
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const agents = options.sizes.held ?? (options.isQuick ? QUICK_AGENTS : AGENTS);
  const pairs = options.isQuick ? QUICK_PAIRS : Math.max(PAIRS, options.rounds);
  const limited: number[] = [];
  const free: number[] = [];
  options.progress('  warm-up');
  await cpuOf(agents, true);
  await cpuOf(agents, false);
  const begin = performance.now();
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const isLimited of pair % 2 === 0 ? [true, false] : [false, true])
      (isLimited ? limited : free).push(await cpuOf(agents, isLimited));
    const leftMs = ((performance.now() - begin) / (pair + 1)) * (pairs - pair - 1);
    options.progress(
      `  pair ${pair + 1} of ${pairs}: ${limited.at(-1)} s with limits, ${free.at(-1)} s without; about ${Math.round(leftMs / 1_000)} s left`,
    );
  }
  const overheads = limited.map((seconds, pair) => (seconds / (free[pair] as number) - 1) * 100);
  const [lower, upper] = medianInterval(overheads);
  const isWide = upper - lower > GOAL_PERCENT;
  return {
    value: rounded(median(overheads)),
    range: rangeOf(overheads),
    rounds: overheads.length,
    details: {
      verdict: isWide ? 'inconclusive' : upper < GOAL_PERCENT ? 'met' : 'missed',
      interval95: [rounded(lower), rounded(upper)],
      goal: `upper end below ${GOAL_PERCENT}`,
      agents,
      cpuSeconds: { limited: summary(limited), free: summary(free) },
    },
    raw: { limited, free, overheadPercent: overheads.map(rounded) },
  };
}

/** Seconds of CPU time, of this process and of all commands that it has waited for. */
async function cpuOf(items: number, isLimited: boolean): Promise<number> {
  collectGarbage();
  const before = cpuSeconds();
  await runOnce(
    { items, shell: 'sleep 1', map: { max_parallel: items, agent_timeout_secs: 600 } },
    undefined,
    {},
    (prepared) =>
      isLimited ? prepared : { ...prepared, limits: { ...prepared.limits, agentLimitMs: null } },
  );
  // The time of a child counts once it was waited for, and the launcher ends last.
  while (hasChildren()) await passed(5);
  return rounded(cpuSeconds() - before);
}

const hasChildren = (): boolean =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim() !== '';

function cpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [childUser = '0', childSystem = '0'] = fields.slice(13, 15);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (Number(childUser) + Number(childSystem)) / TICKS;
}
