/** Nothing of an agent run happens in silence: what ends, is refused or is dropped is told, edge by edge of the charts. */

import { describe, expect, test } from 'vitest';
import { MACHINES } from './pretend-world.ts';

interface Node {
  readonly id: string;
  readonly type: string;
  readonly entry: readonly unknown[];
  readonly states: Readonly<Record<string, Node>>;
  readonly transitions: ReadonlyMap<string, readonly Edge[]>;
}

interface Edge {
  readonly eventType: string;
  readonly guard?: unknown;
  readonly target?: readonly unknown[];
  readonly actions: readonly unknown[];
}

function* nodesOf(node: Node): Iterable<Node> {
  yield node;
  for (const child of Object.values(node.states)) yield* nodesOf(child);
}

const typeOf = (action: unknown): string =>
  typeof action === 'string' ? action : String((action as { readonly type?: unknown }).type);

/** Actions that write a record of the event log. */
const TELLING = /^(?:note|noteStale|noteLateResult|noteRecovered)$/;

/** Events that may change nothing without a record, and why. */
const QUIET: Readonly<Record<string, string>> = {
  'attempt.kill': 'it is at its end already, or never began',
  'attempt.recall': 'the task has no attempt',
  'attempt.stop': 'it is being ended already',
  'checkpoint.due': 'a request is outstanding: the tick is dropped',
  'checkpoint.reported': 'an expert is asked for no checkpoints',
  'cleanup.finished': 'of the program, about a state that was left',
  'clock.continue': 'of the attempt itself',
  'clock.stop': 'of the attempt itself',
  'compaction.finished': 'its time was up, which was told',
  'delegator.ended': 'an expert at work goes on',
  'dependency.failed': 'the task has begun',
  'expert.answered': 'of a delegation that is over, or not of this attempt',
  'expert.granted': 'it was stopped meanwhile',
  'group.emptied': 'of the program, about a state that was left',
  'human.answered': 'the orchestration judges answers; a copy changes nothing',
  'leadership.acquired': 'nothing of before can be left in this state',
  'limit.exceeded': 'its outcome is fixed, which was told',
  'line.malformed': 'its outcome is fixed, which was told',
  'line.seen': 'silence is not limited, or it waits',
  'message.refused': 'of an actor that has ended, which told so itself',
  'process.exited': 'it only says what is left of the process',
  'process.refused': 'it was stopped before, which was told',
  'process.started': 'it was stopped before, which was told',
  'question.asked': 'of an attempt that has ended: its task has the answer of that',
  'run.interrupt': 'it is stopping, or rests',
  'run.kill': 'nothing runs',
  'session.pause': 'it pauses or is paused already',
  'session.resumed': 'it is not paused',
  'task.dispatched': 'a copy',
  'task.removed': 'it has begun',
  'task.unblocked': 'a copy',
  'xstate.after.checkpointInterval.agent.active.interval.ticking':
    'the clock of the same moment ends the attempt',
  'result.reported': 'told by the states that may get it',
  'failure.reported': 'told by the states that may get it',
};

describe.each(Object.entries(MACHINES))('the machine %s', (_, machine) => {
  const nodes = [...nodesOf(machine.root as unknown as Node)];

  test('drops no event without a record, but where there is a reason', () => {
    const dropped = nodes.flatMap(({ transitions }) =>
      [...transitions.values()]
        .flat()
        .filter(({ target, actions }) => target === undefined && actions.length === 0)
        .map(({ eventType }) => eventType),
    );
    expect(dropped.filter((type) => QUIET[type] === undefined)).toEqual([]);
  });

  test('tells of each of its ends', () => {
    const ends = nodes.filter(({ type }) => type === 'final');
    const silent = ends.filter(({ entry }) => !entry.some((each) => TELLING.test(typeOf(each))));
    // A task that the plan has no more was told by whom the plan is from.
    expect(silent.map(({ id }) => id).filter((id) => id !== 'task.removed')).toEqual([]);
    expect(ends.length).toBeGreaterThan(0);
  });
});
