/**
 * A failure of a simulation: what broke, with what little of the run it takes, and how it came to that,
 * in words.
 */

import { brief, count, length, moment, partingLines, tell } from '../explanation.ts';
import type { Nemesis } from '../faults.ts';
import type { HistoryRecord } from '../history.ts';
import type { SimulationPlan } from './plan.ts';
import type { Shrunk } from './shrink.ts';
import { STEP_BEGAN, STEP_REFUSED } from './workload.ts';

export interface Failure {
  readonly seed: number;
  /** The user's sentence, or the name of one of the engine's. */
  readonly invariant: string;
  readonly says: string;
  /** How it did not hold. */
  readonly what: string;
  /** True time since the beginning of the run. */
  readonly atMs: number;
  /** The fewest steps and faults that break the same invariant still. */
  readonly plan: SimulationPlan;
  /** What happened last before that, a line each. */
  readonly why: readonly string[];
  /** The smallest change that was found after which everything holds, and where the two runs part. */
  readonly nearest?: { readonly change: string; readonly parts: readonly string[] };
  /** How to play it again: `simulate({ ...options, plan })` with this plan. */
  readonly replay: { readonly plan: SimulationPlan };
  /** Hash of that run: the same again when it is replayed. */
  readonly traceHash: string;
}

/** Lines of what led to a failure. */
const WHY_MAX = 24;
const CONTEXT_MAX = 100;

/** Makes the failure of a run from its first violation. */
export function failureOf({ run, passing }: Shrunk): Failure {
  const { plan, records, judgement, traceHash } = run;
  const [violation] = judgement.violations;
  if (violation === undefined) throw new Error('Nothing was broken in this run.');
  const { invariant, says, what, atMs } = violation;
  // The run has ended there, so what comes behind it is of the same moment.
  const why = records.flatMap(lineOf).slice(-WHY_MAX);
  return {
    seed: plan.seed,
    invariant,
    says,
    what,
    atMs,
    plan,
    why,
    ...(passing && {
      nearest: {
        change: passing.change,
        parts: passing.parting === undefined ? [] : partingLines(passing.parting),
      },
    }),
    replay: { plan },
    traceHash,
  };
}

/** For people. */
export function textOf({ seed, invariant, says, what, atMs, plan, why, nearest }: Failure): string {
  const name = invariant === says ? `"${says}"` : `${invariant} "${says}"`;
  const indented = (lines: readonly string[]) => lines.map((line) => `    ${line}`);
  return [
    `seed ${seed} breaks ${name}`,
    `  ${what}`,
    `  at ${moment(atMs)}. It takes ${count(plan.steps.length, 'step')} and ${count(plan.nemeses.length, 'fault')}:`,
    ...indented(plan.steps.map((step) => `step "${step}"`)),
    ...indented(plan.nemeses.map(faultText)),
    '  What led there:',
    ...indented(why),
    ...(nearest === undefined
      ? []
      : [`  The same ${nearest.change} holds. The runs part:`, ...indented(nearest.parts)]),
    '  Play it again:',
    `    ${replayOf(plan)}`,
  ].join('\n');
}

export const replayOf = (plan: SimulationPlan): string =>
  `simulate({ ...options, plan: ${JSON.stringify(plan)} })`;

function faultText({ kind, targets, atMs, durMs, params }: Nemesis): string {
  const whom = targets.length === 0 ? '' : ` on ${targets.join(', ')}`;
  const how = Object.keys(params).length === 0 ? '' : ` ${JSON.stringify(params)}`;
  return `fault ${kind}${whom} at ${moment(atMs)} for ${length(durMs)}${how}`;
}

/** What people want to read of a record: one line, or none. */
function lineOf(record: HistoryRecord): string[] {
  const { atMs, node } = record;
  if (atMs < 0) return [];
  const line = (what: string): string[] => [`${moment(atMs)}  ${what.replaceAll(/ {2,}/g, ' ')}`];
  switch (record.type) {
    case 'log':
      if (record.message === STEP_BEGAN) return line(`step "${String(record.fields.step)}"`);
      if (record.message === STEP_REFUSED)
        return line(`step "${String(record.fields.step)}": ${String(record.fields.error)}`);
      return record.fields.event === undefined ? [] : line(`${node} ${tell(record)}`);
    case 'turn':
      return line(`${tell(record)} ${brief(record.context, CONTEXT_MAX)}`);
    case 'node':
    case 'lease':
      return line(`${node} ${tell(record)}`);
    case 'fault':
      return record.change === 'hit' ? [] : line(`fault ${tell(record)}`);
    case 'undelivered':
      return line(tell(record));
    default:
      return [];
  }
}
