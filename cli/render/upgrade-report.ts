/**
 * Upgrade report of a rehearsal as text: the verdict first, then by kind what was found, the worst first,
 * then how the machines differ.
 *
 * Everything that comes from data or from the user's modules is made printable here.
 */

import type { FindingGroup, Level, Rehearsal } from '../../runtime/rehearsal.ts';
import { differs, type MachineDifference } from '../../runtime/rehearsal.ts';
import { counted, type Output, printable } from './output.ts';

const COLOURS = { error: 'red', warning: 'yellow', note: 'cyan' } as const satisfies Record<
  Level,
  string
>;
const INDENT = '             ';

export function printReport(
  rehearsal: Rehearsal,
  leftOut: readonly string[],
  output: Output,
): void {
  output.line(verdict(rehearsal, output));
  const { kinds, findings, differences = [] } = rehearsal;
  const names = [...kinds, ...findings, ...differences.filter(differs)].map(({ kind }) => kind);
  for (const kind of [...new Set(names)].sort()) {
    output.line();
    printKind(kind, rehearsal, output);
  }
  if (leftOut.length > 0) output.line();
  for (const text of leftOut) output.line(`Left out: ${text}.`);
}

function verdict({ holds, records, affected, findings }: Rehearsal, output: Output): string {
  if (holds)
    return `${output.paint('green', 'HOLDS')}: ${counted(records, 'record')} rehearsed, nothing would break.`;
  const isAboutRecords = affected > 0;
  const worse = findings.filter(({ level }) => level !== 'note').length;
  const what = isAboutRecords
    ? `${counted(affected, 'record')} of ${records.toLocaleString('en-GB')}`
    : counted(worse, 'finding');
  return `${output.paint('red', 'BREAKS')}: ${what} would not go on as before.`;
}

function printKind(kind: string, rehearsal: Rehearsal, output: Output): void {
  const difference = rehearsal.differences?.find((one) => one.kind === kind);
  const totals = rehearsal.kinds.find((one) => one.kind === kind);
  const parts = [
    totals === undefined ? 'no records' : counted(totals.records, 'record'),
    ...(totals === undefined ? [] : [`${totals.restored.toLocaleString('en-GB')} restored`]),
    ...(difference === undefined ? [] : [versions(difference)]),
  ];
  output.line(`${output.paint('bold', printable(kind))}: ${parts.join(', ')}`);
  for (const group of rehearsal.findings) if (group.kind === kind) printGroup(group, output);
  if (difference !== undefined) printDifference(difference, output);
}

function versions({ oldVersion, newVersion }: MachineDifference): string {
  if (oldVersion === undefined) return `new, version ${newVersion}`;
  if (newVersion === undefined) return `gone, was version ${oldVersion}`;
  return oldVersion === newVersion
    ? `version ${newVersion} as before`
    : `version ${oldVersion} → ${newVersion}`;
}

function printGroup(group: FindingGroup, output: Output): void {
  const { level, name, count, detail, fix, examples } = group;
  const shown = output.paint(COLOURS[level], level.padEnd(7));
  const times = count === 0 ? '' : ` (${counted(count, 'record')})`;
  output.line(`  ${shown}    ${name}${times}: ${printable(detail)}`);
  if (fix !== undefined) output.line(`${INDENT}fix: ${printable(fix)}`);
  // Examples of what is only told would hide what has to be looked at.
  if (level === 'note' || examples.length === 0) return;
  const more = count > examples.length ? ', …' : '';
  output.line(`${INDENT}such as ${examples.map(printable).join(', ')}${more}`);
}

function printDifference({ states, events, timers }: MachineDifference, output: Output): void {
  for (const [what, { added, removed }] of Object.entries({ states, events, timers })) {
    if (added.length + removed.length === 0) continue;
    const changes = [...removed.map((name) => `− ${name}`), ...added.map((name) => `+ ${name}`)];
    output.line(`  ${what.padEnd(7)}    ${changes.map(printable).join(', ')}`);
  }
}
