/** `testJournal`, `describeJournal`: turns of a real run as tests, in a team's own test files. */

import type { AnyStateMachine } from 'xstate';
import { runner } from '../model/test-paths.ts';
import { type JournalTurn, wordsOfMove } from './journal.ts';
import { type JournalIssue, type JournalReport, Judge } from './judge.ts';

/** A machine does not do what was recorded; the message has the turns. */
export class JournalError extends Error {
  readonly issues: readonly JournalIssue[];

  constructor(issues: readonly JournalIssue[]) {
    super(issues.map(textOfIssue).join('\n\n'));
    this.name = 'JournalError';
    this.issues = issues;
  }
}

/** Holds a machine against the turns of a journal. @throws {JournalError} */
export function testJournal(
  machine: AnyStateMachine,
  turns: Iterable<JournalTurn>,
): Omit<JournalReport, 'seen'> {
  const judge = new Judge(machine);
  for (const actor of byActor(turns).values()) judge.actor(actor);
  const { seen: _, ...report } = judge.report;
  if (report.issues.length > 0) throw new JournalError(report.issues);
  return report;
}

/** Defines a test for each actor of a journal in a file of vitest; `await` it at the top level. */
export async function describeJournal(
  machine: AnyStateMachine,
  turns: Iterable<JournalTurn>,
): Promise<void> {
  const { describe, test } = await runner();
  describe(`${machine.id}, as recorded`, () => {
    for (const [address, own] of byActor(turns))
      test(`${address}: ${own.length} turns`, async () => {
        testJournal(machine, own);
      });
  });
}

export function byActor(turns: Iterable<JournalTurn>): Map<string, JournalTurn[]> {
  const actors = new Map<string, JournalTurn[]>();
  for (const turn of turns) {
    const own = actors.get(turn.address);
    if (own === undefined) actors.set(turn.address, [turn]);
    else own.push(turn);
  }
  return actors;
}

export function textOfIssue({ address, turn, move, ...issue }: JournalIssue): string {
  const { what, recorded, machine, count } = issue;
  const more = count > 1 ? `, and ${count - 1} more like it` : '';
  return [
    `${what}: turn ${turn} of ${address}${more}`,
    `  ${wordsOfMove(move)}`,
    `  recorded   ${recorded}`,
    `  machine    ${machine}`,
  ].join('\n');
}
