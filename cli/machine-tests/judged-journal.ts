/** Journals, held against the machine: turns that it does not take as they were recorded, and moves that no test makes. */

import { wordsOfMove } from '../../testing/journal/journal.ts';
import { type JournalReport, Judge, type SeenMove } from '../../testing/journal/judge.ts';
import { textOfIssue } from '../../testing/journal/test-journal.ts';
import { testedMoves, untested } from '../../testing/journal/tested-moves.ts';
import type { TestCase } from '../../testing/model/step.ts';
import type { Suite } from '../../testing/model/suite.ts';
import type { TestOptions } from '../commands/test.ts';
import type { MachineModule } from '../loaders/machine-module.ts';
import { counted, grouped, type Output, printable } from '../render/output.ts';
import { readJournal } from './journal.ts';

export interface JudgedJournal extends Omit<JournalReport, 'seen'> {
  readonly path: string;
  readonly kind: string;
  /** Different moves that were seen. */
  readonly seen: number;
  readonly untested: readonly SeenMove[];
}

const PRINTED_MAX = 10;
const PROGRESS_EVERY = 1_000;

/** @throws {CommandFailure} where a path is no journal, or has no actor of the kind */
export async function judgeJournals(
  { machine, name }: MachineModule,
  { samples }: Suite,
  cases: readonly TestCase[],
  { journal: paths, kind }: TestOptions,
  output: Output,
): Promise<JudgedJournal[]> {
  const judged: JudgedJournal[] = [];
  const tested = paths.length === 0 ? new Set<string>() : testedMoves(machine, samples, cases);
  for (const path of paths) {
    const found = await readJournal(path, kind === undefined ? [name, machine.id] : [kind], output);
    const judge = new Judge(machine);
    for (const [index, turns] of found.actors.entries()) {
      if (index % PROGRESS_EVERY === 0)
        output.progress(`${path}: ${grouped(index)} of ${grouped(found.actors.length)} actors`);
      judge.actor(turns);
    }
    const { seen, ...report } = judge.report;
    judged.push({
      ...{ path, kind: found.kind, ...report },
      ...{ seen: seen.size, untested: untested({ seen }, tested) },
    });
  }
  return judged;
}

export function printJournal(journal: JudgedJournal, output: Output): void {
  const { path, kind, actors, turns, same, moves, unknown, failed, issues, seen } = journal;
  for (const issue of issues.slice(0, PRINTED_MAX)) {
    const [head = '', ...lines] = textOfIssue(issue).split('\n');
    output.line(output.paint('red', `✗ ${printable(head)}`));
    for (const line of lines) output.line(printable(line));
  }
  if (issues.length > PRINTED_MAX)
    output.line(`… and ${grouped(issues.length - PRINTED_MAX)} more (--json has all)`);
  const broken = issues.reduce((sum, { count }) => sum + count, 0);
  const verdict =
    broken === 0
      ? output.paint('green', 'it does what was recorded')
      : output.paint('red', `${counted(broken, 'turn')} it does not take so`);
  output.line(
    `${printable(path)}: ${counted(turns, 'turn')} of ${counted(actors, 'actor')} of "${printable(kind)}": ${verdict}`,
  );
  output.line(
    `  ${grouped(same)} the same with context and deadlines, ${grouped(moves)} by states and events, ${grouped(unknown)} not known, ${grouped(failed)} failed then`,
  );
  const list = journal.untested;
  output.line(`  ${grouped(list.length)} of ${counted(seen, 'move')} seen live and never tested`);
  for (const move of list.slice(0, PRINTED_MAX))
    output.line(`    ${printable(wordsOfMove(move))}  (${counted(move.count, 'time')})`);
  if (list.length > PRINTED_MAX)
    output.line(`    … and ${grouped(list.length - PRINTED_MAX)} more`);
}
