/** Explanations in the terminal: the verdict, the sums, who was silent, the chain, what to change. */

import type { Why } from '../../inspector/protocol.ts';
import { clockText, spanText } from '../../inspector/why/words.ts';
import { type Output, printable } from './output.ts';

const EXITS_SHOWN = 12;

export function printWhy(why: Why, output: Output): void {
  const {
    verdict,
    budget,
    budgetMs,
    usedMs,
    silent,
    chain,
    moreTime,
    advice,
    exits,
    compared,
    gaps,
  } = why;
  output.line(printable(verdict));
  part(output, 'time', [
    ...budget.map(({ text }) => text),
    ...(budgetMs === undefined || usedMs === undefined || budget.length === 0
      ? []
      : [
          `= ${spanText(budgetMs)}, of which ${spanText(usedMs)} ${why.endedAt === undefined ? 'are' : 'were'} used`,
        ]),
  ]);
  part(
    output,
    'silent',
    silent.map(({ text }) => text),
  );
  const shown = exits.slice(0, EXITS_SHOWN).map(({ state, to, cause, condition, dueAt, of }) => {
    const due = dueAt === undefined ? '' : `, due ${clockText(dueAt)}`;
    const where = of === undefined ? '' : `${of}: `;
    return `${where}${state === '' ? 'all of it' : state} → ${to === '' ? 'itself' : to}: ${cause}${due}${condition === '' ? '' : ` ${condition}`}`;
  });
  const more = exits.length - shown.length;
  part(output, 'what ends this next', more > 0 ? [...shown, `and ${more} more`] : shown);
  part(
    output,
    'compared',
    compared.map(({ text }) => text),
  );
  part(
    output,
    'how it came',
    chain.map(({ at, text }) => `${clockText(at)}  ${text}`),
  );
  part(output, 'with more time', moreTime === undefined ? [] : [moreTime]);
  part(output, 'what to change', advice);
  part(output, 'not known', gaps);
}

function part(output: Output, title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  output.line();
  output.line(output.paint('dim', title));
  for (const line of lines) output.line(`  ${printable(line)}`);
}
