/**
 * `simulate --replay FILE`: plays a saved plan, and says whether every invariant held.
 *
 * Guarantees: the file is checked whole before anything is played; one that is no plan, or a plan of
 * another version or release unless it is forced, is exit 65. With `--trace` every record of the run is a line; with `--json` standard
 * output is one object and nothing else.
 */

import { readFileSync, statSync } from 'node:fs';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { lineOf, moment, nodeName } from '../../simulator/explanation.ts';
import {
  jobsInvariants,
  PLAN_LENGTH_MAX,
  type Plan,
  planLines,
  play,
  type Run,
  readPlan,
} from '../../simulator/jobs.ts';
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts';
import { ownVersion } from '../own-version.ts';
import { counted, type Output, printable } from '../render/output.ts';

export interface ReplayOptions {
  readonly trace?: boolean;
  readonly json?: boolean;
  /** A plan of another version or release too. */
  readonly force?: boolean;
}

/** Lines that are handed over before their reader is waited for. */
const LINES_AT_ONCE = 500;

export async function replayPlan(
  path: string,
  options: ReplayOptions,
  output: Output,
): Promise<ExitCode> {
  const { force: isForced = false } = options;
  const plan = readPlan(readPlanText(path), path, { release: ownVersion(), isForced });
  return showPlan(plan, path, options, output);
}

/** Plays a plan that has a name, and prints what came of it. */
export async function showPlan(
  plan: Plan,
  name: string,
  { trace = false, json = false }: ReplayOptions,
  output: Output,
): Promise<ExitCode> {
  output.progress(`playing ${printable(name)}`);
  const run = await playOrRefuse(plan, name);
  output.progress(undefined);
  if (json) output.line(JSON.stringify(resultOf(run, trace), null, 2));
  else {
    if (trace) await printTrace(run, output);
    printRun(plan, run, output);
  }
  return run.judgement.violations.length === 0 ? EXIT.done : EXIT.broken;
}

/** Whatever a plan asks for that cannot be done is wrong with the plan, but for a leak in the simulator. */
async function playOrRefuse(plan: Plan, path: string): Promise<Run> {
  try {
    return await play(plan);
  } catch (thrown) {
    if (thrown instanceof RuntimeError && thrown.code === 'SEALED') throw thrown;
    throw new CommandFailure(EXIT.badData, `${path}: cannot be played: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

/** @throws {CommandFailure} when it is too large or no text. */
export function readPlanText(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile()) throw new CommandFailure(EXIT.badData, `${path}: is no file.`);
  // No character takes less than a byte, and none more than four.
  if (stats.size > 4 * PLAN_LENGTH_MAX)
    throw new CommandFailure(
      EXIT.badData,
      `${path}: has ${stats.size.toLocaleString('en-GB')} bytes, which is more than a plan has.`,
    );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new CommandFailure(EXIT.badData, `${path}: is no text in UTF-8.`);
  }
}

function resultOf({ plan, endedAtMs, events, traceHash, judgement, history }: Run, trace: boolean) {
  const { violations, exercised } = judgement;
  return {
    name: plan.name,
    seed: plan.seed,
    holds: violations.length === 0,
    endedAtMs,
    events,
    traceHash,
    violations,
    exercised,
    ...(trace && { trace: history.records.map(lineOf) }),
  };
}

async function printTrace({ history, judgement }: Run, output: Output): Promise<void> {
  const seen = new Map(judgement.violations.map(({ record, invariant }) => [record, invariant]));
  for (const record of history.records) {
    if (output.isClosed) return;
    const broken = seen.get(record.index);
    output.line(printable(lineOf(record)));
    if (broken !== undefined) output.line(output.paint('red', `  ^ ${broken} broke here`));
    if (record.index % LINES_AT_ONCE === 0) await output.flushed();
  }
}

function printRun(plan: Plan, run: Run, output: Output): void {
  const { judgement, endedAtMs, events, traceHash } = run;
  output.line(`seed=${plan.seed} ${printable(plan.name)}`);
  for (const line of planLines(plan)) output.line(`  ${printable(line)}`);
  output.line(
    `${counted(events, 'event')}, ended at T=${moment(endedAtMs)}, trace hash ${traceHash}`,
  );
  const { violations } = judgement;
  for (const { invariant, says, what, atMs, node } of violations) {
    output.line(output.paint('red', `FAIL ${invariant}  ${says}`));
    output.line(`  at T=${moment(atMs)}  ${printable(nodeName(node))}  ${printable(what)}`);
  }
  if (violations.length === 0)
    output.line(output.paint('green', `All ${jobsInvariants.length} invariants held.`));
}
