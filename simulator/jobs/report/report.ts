/**
 * The report of a failure: the smallest plan found that breaks the same invariant, why it breaks, how
 * to see it again, and the files for all of that.
 *
 * Guarantees: whatever it tells of was played. It reads no clock: the caller says how long it may take
 * and how long it took. Nothing is written to disk here.
 */

import { type Because, because, historyLines } from '../../explanation.ts';
import type { Violation } from '../../invariants.ts';
import type { JobsInvariant } from '../facts.ts';
import { jobsInvariants } from '../invariants/index.ts';
import type { Plan } from '../plan.ts';
import { type PlayOptions, play, type Run } from '../run.ts';
import { nearestPassing, type PassingRun } from './nearest-passing.ts';
import { planText } from './plan-file.ts';
import { type Findings, reportLines } from './report-lines.ts';
import { reproductionTest } from './reproduction.ts';
import { type ShrinkOptions, shrink } from './shrink.ts';
import { JOBS_SUBJECTS } from './subjects.ts';

export interface ReportOptions extends Pick<ShrinkOptions, 'triesMax' | 'mayGoOn' | 'onTry'> {
  readonly plan: Plan;
  /** Its id. */
  readonly invariant: string;
  /** Default: all there are for jobs, and this one has to be among them. */
  readonly invariants?: readonly JobsInvariant[];
  readonly play?: (plan: Plan, options: PlayOptions) => Promise<Run>;
  /** How often the result is played again, each time with the same hash. Default 20. */
  readonly confirmations?: number;
  /** How long it has taken so far. */
  readonly elapsedMs?: () => number;
  /** Where the files will be, as the command to replay names it. */
  readonly folder: string;
  /** What played it: `escapement=0.1.0 node=20.20.2`. */
  readonly about?: string;
  /** Release of Escapement: its plans say so. */
  readonly release?: string;
  /** What the test that is written imports. Default: the package. */
  readonly entry?: string;
}

export interface FailureReport {
  readonly lines: readonly string[];
  /** Files by name, for the folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly plan: Plan;
  /** Of the plan, as it was played last. */
  readonly run: Run;
  readonly violation: Violation;
  readonly why: Because;
  readonly passing: PassingRun | undefined;
  readonly tries: number;
  /** Number of plays, and how many of them gave the same run. */
  readonly confirmed: { readonly times: number; readonly of: number };
}

const CONFIRMATIONS = 20;
/** Undefined when the plan does not break the invariant. */
export async function reportFailure(options: ReportOptions): Promise<FailureReport | undefined> {
  const { plan, invariant, invariants = jobsInvariants, folder, about = '' } = options;
  const playing = options.play ?? play;
  const only = invariants.filter(({ id }) => id === invariant);
  const original = await playing(plan, { invariants });
  if (!broke(original, invariant)) return undefined;
  const shrunk = await shrink(plan, invariant, {
    ...options,
    play: (one) => playing(one, { invariants: only, endsAtViolation: true }),
  });
  if (shrunk === undefined) return undefined;
  const shrunkMs = options.elapsedMs?.();
  const run = await playing(shrunk.plan, { invariants });
  const violation = broke(run, invariant) ?? shrunk.violation;
  const confirmed = await confirm(run, options, (one) => playing(one, { invariants: only }));
  const passing = await nearestPassing(run, shrunk.passing, (one) => playing(one, { invariants }));
  const { places } = run.facts;
  const why = because(run.history.records, violation, { places, subjects: JOBS_SUBJECTS });
  const findings: Findings = { original, run, violation, shrunk, confirmed, why, passing };
  const lines = reportLines(findings, {
    folder,
    about,
    ...(shrunkMs !== undefined && { shrunkMs }),
  });
  const files = {
    'plan.json': planText(shrunk.plan, options.release),
    'original-plan.json': planText(plan, options.release),
    'history.jsonl': historyLines(run.history.records, violation.record),
    'repro.test.ts': reproductionTest(shrunk.plan, invariant, options.entry),
    'report.txt': `${lines.join('\n')}\n`,
  };
  const { plan: smallest, tries } = shrunk;
  return { lines, files, plan: smallest, run, violation, why, passing, tries, confirmed };
}

function broke({ judgement }: Run, invariant: string): Violation | undefined {
  return judgement.violations.find((violation) => violation.invariant === invariant);
}

/** A failure that comes and goes is one of the simulator. */
async function confirm(
  { plan, traceHash }: Run,
  { invariant, confirmations = CONFIRMATIONS }: ReportOptions,
  replay: (plan: Plan) => Promise<Run>,
): Promise<FailureReport['confirmed']> {
  let times = 0;
  for (let count = 0; count < confirmations; count++) {
    const again = await replay(plan);
    if (again.traceHash === traceHash && broke(again, invariant) !== undefined) times += 1;
  }
  return { times, of: confirmations };
}
