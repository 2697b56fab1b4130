/**
 * `simulate --seeds N`: clusters of the jobs system under faults, a plan of chance for each seed,
 * on all cores, judged by every invariant.
 *
 * Exit 0 when nothing was broken, 1 when something was. What a batch never exercised is told, and
 * with `--strict` is a failure too.
 */

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import signals from 'node:process';
import { durationMs } from '../../runtime/base/duration.ts';
import {
  drawPlan,
  JOBS_MENU,
  jobsInvariants,
  MARKS,
  type SwarmOptions,
} from '../../simulator/jobs.ts';
import {
  type Coverage,
  type FaultFigures,
  Tally,
  type TallyFigures,
} from '../../simulator/simulation.ts';
import type { SimulateOptions } from '../commands/simulate.ts';
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts';
import { counted, type Output } from '../render/output.ts';
import { coverageLines, seldomIn } from './coverage.ts';
import { playSeeds } from './players.ts';

interface SeedsOptions {
  readonly from: number;
  readonly count: number;
  readonly swarm: SwarmOptions;
  readonly players?: number;
  readonly json: boolean;
  readonly isStrict: boolean;
}

/** Report of a batch, as `--json` prints it. */
export interface BatchReport extends TallyFigures {
  readonly from: number;
  readonly seeds: number;
  /** It was asked to stop before all of them were played. */
  readonly isInterrupted: boolean;
  /** Runs that could not be played at all, and why. */
  readonly unplayed: ReadonlyArray<{ readonly seed: number; readonly message: string }>;
  readonly neverExercised: readonly string[];
  /** Invariants that had something to say in less than one run of a hundred. */
  readonly seldomExercised: readonly string[];
  readonly neverMarked: readonly string[];
  readonly coverage: ReturnType<Coverage['figures']>;
  readonly tookMs: number;
}

/** Failures after which a batch has shown what it can. */
const FAILURES_MAX = 10;
const PROGRESS_EVERY_MS = 250;

const SEEDS_MAX = 10_000_000;
const PROCESSES_MAX = 256;
const UNTIL_MAX_MS = 24 * 3_600_000;

/** Reports that are written of one batch; each takes up to a minute. */
const REPORTS_MAX = 3;

export async function simulateSeeds(asked: SimulateOptions, output: Output): Promise<ExitCode> {
  const options = readOptions(asked);
  const { swarm, json, from } = options;
  if (asked.trace === true) {
    const { showPlan } = await import('./replay.ts');
    return showPlan(drawPlan(from, swarm), `seed ${from}`, asked, output);
  }
  const report = await runSeeds(options, output);
  if (json) output.line(JSON.stringify(report, null, 2));
  else printBatch(report, output);
  if (!json && asked.coverage === true) for (const line of coverageLines(report)) output.line(line);
  if (asked.report && !json) await reportFailures(report, options, asked.out ?? '.', output);
  return hasFailed(report, options.isStrict) ? EXIT.broken : EXIT.done;
}

/** The first of each invariant that was broken. */
async function reportFailures(
  { failures }: BatchReport,
  { swarm }: SeedsOptions,
  out: string,
  output: Output,
): Promise<void> {
  const first = new Map<string, number>();
  for (const { seed, violations } of failures)
    for (const { invariant } of violations.slice(0, 1))
      if (!first.has(invariant)) first.set(invariant, seed);
  const { writeReport } = await import('./report.ts');
  for (const [invariant, seed] of [...first].slice(0, REPORTS_MAX)) {
    output.line();
    const folder = join(out, `${seed}-${invariant}`);
    await writeReport({ plan: drawPlan(seed, swarm), invariant, folder }, output);
  }
}

function readOptions({
  seed,
  seeds = 1,
  from,
  processes,
  ...asked
}: SimulateOptions): SeedsOptions {
  const { json = false, strict = false } = asked;
  const first = seed ?? from;
  const count = seed === undefined ? seeds : 1;
  if (count < 1 || count > SEEDS_MAX)
    throw usage(`--seeds is from 1 to ${SEEDS_MAX}, got ${count}`);
  if (!Number.isSafeInteger(first + count)) throw usage('The last seed would be no whole number');
  if (processes !== undefined && (processes < 1 || processes > PROCESSES_MAX))
    throw usage(`--processes is from 1 to ${PROCESSES_MAX}, got ${processes}`);
  return {
    from: first,
    count,
    swarm: swarmOf(asked),
    ...(processes !== undefined && { players: processes }),
    json,
    isStrict: strict,
  };
}

function swarmOf({
  until,
  nemesis,
  tiny,
}: Pick<SimulateOptions, 'until' | 'nemesis' | 'tiny'>): SwarmOptions {
  const untilMs = until === undefined ? undefined : untilOf(until);
  const known = JOBS_MENU.map(({ kind }) => kind);
  const isNone = nemesis?.includes('none') ?? false;
  const unknown = nemesis?.find((kind) => kind !== 'none' && !known.includes(kind));
  if (unknown !== undefined)
    throw usage(`There is no nemesis "${unknown}". There are: none, ${known.join(', ')}`);
  return {
    ...(untilMs !== undefined && { untilMs }),
    ...(nemesis !== undefined && { nemeses: isNone ? [] : nemesis }),
    ...(tiny !== undefined && { tiny }),
  };
}

function untilOf(text: string): number {
  const untilMs = durationMs(text) ?? 0;
  if (untilMs >= 1_000 && untilMs <= UNTIL_MAX_MS) return untilMs;
  throw usage(`--until is a duration from 1s to 24h, such as 30m, got "${text}"`);
}

function usage(what: string): CommandFailure {
  return new CommandFailure(EXIT.usage, `${what}.`);
}

async function runSeeds(options: SeedsOptions, output: Output): Promise<BatchReport> {
  const { from, count, swarm, players = availableParallelism() } = options;
  const tally = new Tally();
  const unplayed: Array<{ seed: number; message: string }> = [];
  const startedAt = performance.now();
  let failures = 0;
  let isInterrupted = false;
  // Asked once to stop, it tells what it has found by then; asked again, it is ended as usual.
  const interrupt = (): void => {
    isInterrupted = true;
  };
  signals.once('SIGINT', interrupt);
  let shownAt = 0;
  const show = (coverage: Coverage): void => {
    const now = performance.now();
    if (now - shownAt < PROGRESS_EVERY_MS) return;
    shownAt = now;
    output.progress(progressText(tally.figures(), coverage, count, now - startedAt));
  };
  const coverage = await playSeeds({
    seeds: seedsFrom(from, count),
    players: Math.min(players, count),
    swarm,
    onPlayed: (figures, seen) => {
      tally.take(figures);
      if (figures.violations.length > 0) failures += 1;
      show(seen);
    },
    onFailed: (seed, message) => {
      unplayed.push({ seed, message });
      failures += 1;
    },
    isOver: () => isInterrupted || failures >= FAILURES_MAX,
  });
  signals.off('SIGINT', interrupt);
  output.progress(undefined);
  const figures = tally.figures();
  return {
    from,
    seeds: count,
    ...figures,
    isInterrupted,
    unplayed,
    neverExercised: jobsInvariants.map(({ id }) => id).filter((id) => !figures.exercised[id]),
    seldomExercised: seldomIn(figures),
    neverMarked: MARKS.map(({ mark }) => mark).filter((mark) => !figures.marks[mark]),
    coverage: coverage.figures(),
    tookMs: Math.round(performance.now() - startedAt),
  };
}

function hasFailed(report: BatchReport, isStrict: boolean): boolean {
  if (report.failures.length + report.unplayed.length > 0) return true;
  return isStrict && report.neverExercised.length + report.neverMarked.length > 0;
}

/** For people. */
function printBatch(report: BatchReport, output: Output): void {
  const { runs, faultFreeRuns, simulatedMs, tookMs, events, coverage, faults } = report;
  const perSecond = Math.round((events / tookMs) * 1_000);
  const speedup = Math.round(simulatedMs / tookMs);
  output.line(
    `${counted(runs, 'run')} (${faultFreeRuns} without faults), ${hours(simulatedMs)} simulated in ${(tookMs / 1_000).toFixed(1)} s: ${speedup.toLocaleString('en-GB')} times as fast, ${perSecond.toLocaleString('en-GB')} events/s`,
  );
  if (report.isInterrupted)
    output.line(
      output.paint('yellow', `stopped after ${runs} of ${counted(report.seeds, 'seed')}`),
    );
  const { injected, effective } = sumOf(faults);
  output.line(`faults: ${counted(injected, 'injected', 'injected')}, ${effective} effective`);
  const { states, transitions } = coverage;
  output.line(
    `seen: ${states.seen} of ${states.all} states, ${transitions.seen} of ${transitions.all} transitions, ${Object.keys(report.marks).length} of ${MARKS.length} marks`,
  );
  if (report.neverExercised.length > 0)
    output.line(output.paint('yellow', `never exercised: ${report.neverExercised.join(', ')}`));
  if (report.seldomExercised.length > 0)
    output.line(
      output.paint('yellow', `in less than 1 % of the runs: ${report.seldomExercised.join(', ')}`),
    );
  if (report.neverMarked.length > 0)
    output.line(output.paint('yellow', `never reached: ${report.neverMarked.join(', ')}`));
  for (const { seed, message } of report.unplayed)
    output.line(output.paint('red', `seed ${seed} could not be played: ${message}`));
  for (const { seed, violations } of report.failures) {
    const [first] = violations;
    if (first === undefined) continue;
    output.line(output.paint('red', `seed ${seed} broke ${first.invariant}: ${first.what}`));
  }
  const isClean = report.failures.length + report.unplayed.length === 0;
  if (isClean) output.line(output.paint('green', 'No invariant was broken.'));
}

function* seedsFrom(from: number, count: number): Generator<number> {
  for (let seed = from; seed < from + count; seed++) yield seed;
}

function sumOf(faults: TallyFigures['faults']): FaultFigures {
  const all = Object.values(faults);
  return {
    injected: all.reduce((sum, { injected }) => sum + injected, 0),
    effective: all.reduce((sum, { effective }) => sum + effective, 0),
  };
}

/** Two lines: how fast it is, and what it has met. */
export function progressText(
  figures: TallyFigures,
  coverage: Coverage,
  count: number,
  tookMs: number,
): string {
  const { runs, simulatedMs, failures, events, marks } = figures;
  const rate = ((runs / tookMs) * 1_000).toFixed(1);
  const perSecond = Math.round((events / tookMs) * 1_000).toLocaleString('en-GB');
  const broken = failures.length === 0 ? '' : `, ${counted(failures.length, 'failure')}`;
  const { injected, effective } = sumOf(figures.faults);
  const { states, transitions } = coverage.figures();
  return [
    `${runs} of ${count} runs, ${rate}/s, ${hours(simulatedMs)} simulated, ${perSecond} events/s${broken}`,
    `${counted(injected, 'fault')}, ${effective} effective; ${states.seen}/${states.all} states, ${transitions.seen}/${transitions.all} transitions, ${Object.keys(marks).length}/${MARKS.length} marks`,
  ].join('\n');
}

function hours(ms: number): string {
  const whole = ms / 3_600_000;
  return whole >= 10 ? `${Math.round(whole).toLocaleString('en-GB')} h` : `${whole.toFixed(1)} h`;
}
