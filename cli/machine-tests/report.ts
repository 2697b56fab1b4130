/** Reports of test runs, coverage and mutants, as text. */

import type { Coverage } from '../../testing/model/coverage.ts';
import type { LiveFailure } from '../../testing/model/live.ts';
import { MEASURES, type Measure } from '../../testing/model/noting.ts';
import { wordsOf } from '../../testing/model/step.ts';
import type { MutationScore } from '../../testing/mutants/mutation-score.ts';
import { grouped, type Output, printable } from '../render/output.ts';
import { printTable } from '../render/table.ts';

const MISSING_MAX = 10;

export function percent(reached: number, all: number): number {
  return all === 0 ? 100 : Math.floor((reached * 1_000) / all) / 10;
}

export function printFailure(failure: LiveFailure, path: string | undefined, output: Output): void {
  const { test, afterStep, what, expected, seen } = failure;
  output.line(output.paint('red', `✗ ${printable(what)}`));
  if (test.input !== '') output.line(`  input      ${printable(test.input)}`);
  for (const [index, step] of test.steps.entries()) {
    const mark = index + 1 === afterStep ? '→' : ' ';
    output.line(`  ${mark} ${String(index + 1).padStart(3)}  ${printable(wordsOf(step))}`);
  }
  output.line(`  expected   ${printable(expected)}`);
  output.line(`  seen       ${printable(seen)}`);
  if (path === undefined) return;
  output.line(`  again      escapement test replay ${printable(path)}`);
  output.line(`  look       escapement test replay ${printable(path)} --inspect`);
}

export function printCoverage(
  { shares, idleExcuses }: Coverage,
  wanted: readonly Measure[],
  output: Output,
): void {
  const rows = MEASURES.filter((measure) => wanted.includes(measure));
  printTable(
    [
      { title: 'covered', text: (measure) => measure },
      {
        title: 'reached',
        side: 'right',
        text: (measure) => `${shares[measure].reached} of ${shares[measure].all}`,
      },
      {
        title: '%',
        side: 'right',
        text: (measure) => String(percent(shares[measure].reached, shares[measure].all)),
        format: (measure) => (shares[measure].missing.length === 0 ? 'green' : 'yellow'),
      },
    ],
    rows,
    output,
  );
  for (const measure of rows) {
    const { missing, excused } = shares[measure];
    for (const name of missing.slice(0, MISSING_MAX))
      output.line(`  not reached: ${measure}: ${printable(name)}`);
    if (missing.length > MISSING_MAX)
      output.line(`  … and ${grouped(missing.length - MISSING_MAX)} more (--json has all)`);
    if (excused > 0) output.line(`  said to be unreachable: ${measure}: ${grouped(excused)}`);
  }
  for (const name of idleExcuses)
    output.line(
      output.paint(
        'yellow',
        `  said to be unreachable, and is reached or unknown: ${printable(name)}`,
      ),
    );
}

export function printScore(
  score: MutationScore & { readonly suite?: { readonly late: readonly string[] } },
  output: Output,
): void {
  const { killed, killable, equivalent, survivors, untried } = score;
  output.line(
    `${killed} of ${killable} mutants killed (${percent(killed, killable)} %), ${equivalent.length} equal to the machine within ${grouped(score.boundSteps)} looks`,
  );
  if (untried.length > 0)
    output.line(
      `  ${grouped(untried.length)} could not be put in its place, and count for nothing`,
    );
  const late = score.suite?.late ?? [];
  if (late.length > 0)
    output.line(`  ${grouped(late.length)} of them by the limit of time: your tests did not end`);
  for (const { mutant, test } of survivors) {
    output.line(output.paint('yellow', `  lives  ${printable(mutant)}`));
    output.line('         killed by');
    for (const step of test.steps) output.line(`           ${printable(wordsOf(step))}`);
  }
}
