/**
 * Lines of a failure report: seed and options first, what broke, how to see it again, how small it got,
 * why, and the nearest run that passes.
 */

import { type Because, count, moment, nodeName, partingLines, short } from '../../explanation.ts';
import type { Violation } from '../../invariants.ts';
import type { Run } from '../run.ts';
import type { PassingRun } from './nearest-passing.ts';
import { sizeOf, sizeWords } from './plan-size.ts';
import { planLines, swarmWords } from './plan-words.ts';
import type { Shrunk } from './shrink.ts';

/** All that is known of a failure. */
export interface Findings {
  /** As it was found. */
  readonly original: Run;
  /** Run of the smallest plan. */
  readonly run: Run;
  /** In that run. */
  readonly violation: Violation;
  readonly shrunk: Pick<Shrunk, 'tries' | 'isMinimal'>;
  readonly confirmed: { readonly times: number; readonly of: number };
  readonly why: Because;
  readonly passing: PassingRun | undefined;
}

export interface ReportWords {
  readonly folder: string;
  readonly about: string;
  /** How long shrinking took. */
  readonly shrunkMs?: number;
}

export function reportLines(
  findings: Findings,
  { folder, about, shrunkMs }: ReportWords,
): string[] {
  const { original, run, violation, why, passing } = findings;
  const { invariant, says, what, atMs, node } = violation;
  const [noise = '', knobs = ''] = swarmWords(original.plan);
  const path = `${folder}/plan.json`;
  return [
    `FAIL ${invariant}  seed=${run.plan.seed}  ${about}`.trimEnd(),
    `  ${noise}`,
    `  ${knobs}`,
    `  ${says}`,
    `  at T=${moment(atMs)}  ${nodeName(node)}  ${short(what, 400)}`,
    `replay:  escapement simulate --replay ${isPlain(path) ? path : JSON.stringify(path)} --trace`,
    ...minimalLines(findings, shrunkMs),
    'plan:',
    ...indented(planLines(run.plan)),
    'why:',
    ...indented(why.lines.length > 0 ? why.lines : ['nothing led to it that the history tells of']),
    ...passingLines(passing),
  ];
}

/** Needs no quotes in a shell. */
function isPlain(path: string): boolean {
  return /^[\w./@:-]+$/.test(path);
}

function minimalLines(findings: Findings, shrunkMs: number | undefined): readonly string[] {
  const { original, run, shrunk, confirmed } = findings;
  const { events } = run;
  const took = shrunkMs === undefined ? '' : ` in ${(shrunkMs / 1_000).toFixed(0)} s`;
  const how = `shrunk${took}, ${count(shrunk.tries, 'try', 'tries')}, reproduced ${confirmed.times}/${confirmed.of}`;
  const end = shrunk.isMinimal ? '' : ', not to its end';
  return [
    `minimal: ${sizeWords(sizeOf(run.plan))}, ${count(events, 'event')}   [${how}${end}]`,
    `   from: ${sizeWords(sizeOf(original.plan))}, ${count(original.events, 'event')}`,
  ];
}

function passingLines(passing: PassingRun | undefined): readonly string[] {
  if (passing === undefined) return ['nearest passing run: none was found'];
  const { change, parting } = passing;
  const head = `nearest passing run: the same ${change}; every invariant holds`;
  if (parting === undefined) return [head];
  return [head, ...indented(['the runs part:', ...partingLines(parting)])];
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
