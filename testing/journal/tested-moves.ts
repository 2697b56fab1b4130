/** Tested moves: the changes of state that test cases bring about, and those that were only ever seen live. */

import type { AnyStateMachine } from 'xstate';
import { SPAWN_EVENT } from '../../runtime/base/event-types.ts';
import type { Samples } from '../model/samples.ts';
import type { TestCase } from '../model/step.ts';
import { Subject } from '../model/subject.ts';
import { canonical, nameOf } from './journal.ts';
import type { JournalReport, SeenMove } from './judge.ts';

/** Names of all moves of the cases. */
export function testedMoves(
  machine: AnyStateMachine,
  { inputs }: Pick<Samples, 'inputs'>,
  cases: Iterable<TestCase>,
): Set<string> {
  const subject = new Subject(machine);
  const moves = new Set<string>();
  const here = (): string => canonical(subject.snapshot.value);
  subject.onTaken = (event, before) => {
    moves.add(nameOf({ from: canonical(before.value), event, to: here() }));
  };
  for (const { input, steps } of cases) {
    subject.begin(inputs[input]);
    if (subject.thrown === undefined)
      moves.add(nameOf({ from: '', event: SPAWN_EVENT, to: here() }));
    for (const step of steps) subject.perform(step);
  }
  return moves;
}

/** What was seen live and is in no test, the most frequent first. */
export function untested(
  { seen }: Pick<JournalReport, 'seen'>,
  tested: ReadonlySet<string>,
): SeenMove[] {
  return [...seen.values()]
    .filter((move) => !tested.has(nameOf(move)))
    .sort((one, other) => other.count - one.count);
}
