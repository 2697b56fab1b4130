/**
 * Charts of agent runs against the design they come from: every state and edge that it draws is in the machine, and
 * what the machine has beside that is listed, with its reason, in the README of the machines.
 */

import { describe, expect, test } from 'vitest';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { agentMachine } from '../../../machines/agents/agent.ts';
import { delegationMachine } from '../../../machines/agents/delegation.ts';
import { orchestrationMachine } from '../../../machines/agents/orchestration.ts';
import { taskMachine } from '../../../machines/agents/task.ts';
import { readProjectFile } from '../../project-files.ts';

interface Drawing {
  readonly machine: AnyStateMachine;
  /** By their paths; those that contain them follow from that. */
  readonly states: readonly string[];
  /** Names of regions, which are at work at once. */
  readonly regions: readonly string[];
  /** `from event to`; the event is a delay by its name, or `always` where the machine asks by itself. */
  readonly edges: readonly string[];
}

const words = (text: string): string[] => text.trim().split(/\s+/);
/** `FROM, FROM --EVENT, EVENT--> TO, TO` as one edge for each of them. */
const edges = (rows: string): string[] =>
  rows
    .trim()
    .split('\n')
    .flatMap((row) => {
      const [from = [], events = [], to = []] = row
        .split(/--(?:> )?/)
        .map((part) => part.trim().split(', '));
      return from.flatMap((state) =>
        events.flatMap((event) => to.map((each) => `${state} ${event} ${each}`)),
      );
    });

const DRAWINGS: readonly Drawing[] = [
  {
    machine: taskMachine,
    states: words(
      'blocked available running awaitingHuman done failed unreachable skipped replaced',
    ),
    regions: [],
    edges: edges(`
      blocked --task.unblocked--> available
      blocked --dependency.failed--> unreachable
      available --task.dispatched--> running
      running --attempt.done--> done
      running --attempt.failed--> failed
      running --attempt.failed, attempt.timedOut, attempt.stalled, attempt.killed--> available, awaitingHuman
      awaitingHuman --human.answered--> available, skipped, replaced`),
  },
  {
    machine: agentMachine,
    states: words(`starting ended
      active.clock.counting active.clock.paused
      active.activity.working active.activity.awaitingExpert active.activity.awaitingHuman
      active.checkpoint.idle active.checkpoint.requested active.checkpoint.suspended
      terminating.exiting terminating.stopping terminating.killing`),
    regions: words('clock activity checkpoint'),
    edges: edges(`
      starting --process.started--> active
      starting --process.refused--> ended
      active.clock.counting --clock.stop--> active.clock.paused
      active.clock.paused --clock.continue--> active.clock.counting
      active.clock.counting --agentLimit--> terminating.stopping
      active.activity.working --delegation.requested--> active.activity.awaitingExpert
      active.activity.working --question.asked--> active.activity.awaitingHuman
      active.activity.awaitingExpert --expert.answered--> active.activity.working
      active.activity.awaitingHuman --human.answered--> active.activity.working
      active.checkpoint.idle --checkpoint.due--> active.checkpoint.requested
      active.checkpoint.requested --checkpoint.reported, checkpointWait--> active.checkpoint.idle
      active.checkpoint.idle, active.checkpoint.requested --clock.stop--> active.checkpoint.suspended
      active.checkpoint.suspended --clock.continue--> active.checkpoint.idle
      active.checkpoint.requested --checkpointWait--> terminating.stopping
      active --result.reported, failure.reported--> terminating.exiting
      active --attempt.stop, limit.exceeded, line.malformed--> terminating.stopping
      terminating.exiting --process.exited--> terminating.stopping, ended
      terminating.exiting --grace--> terminating.stopping
      terminating.stopping --grace--> terminating.killing
      terminating.stopping, terminating.killing --group.emptied--> ended`),
  },
  {
    machine: delegationMachine,
    states: words('queued running answered unsuccessful'),
    regions: [],
    edges: edges(`
      queued --expert.granted--> running
      queued --delegator.ended--> unsuccessful
      running --result.reported--> answered
      running --delegationLimit, failure.reported, process.exited--> unsuccessful
      running --delegation.requested, question.asked--> unsuccessful`),
  },
  {
    machine: orchestrationMachine,
    states: words(`recovering running compacting.collecting compacting.hook
      pausing.collecting pausing.stopping paused draining finished`),
    regions: [],
    edges: edges(`
      recovering --run.begun--> running
      running --always--> compacting.collecting, pausing.collecting, finished
      running --run.interrupt--> draining
      compacting.collecting --always, collectWindow--> compacting.hook
      compacting.hook --compaction.finished, compactionLimit--> running
      pausing.collecting --always, collectWindow--> pausing.stopping
      pausing.stopping --always--> paused
      paused --session.resumed--> running
      draining --always--> finished`),
  },
];

describe.each(DRAWINGS)(
  'the chart of $machine.id',
  ({ machine, states, regions, edges: drawn }) => {
    const nodes = nodesOf(machine.root);
    const added = new Set(addedIn(machine.id));

    test('has the states that are drawn, and beside them what the README gives reasons for', () => {
      const containing = states.flatMap((path) =>
        path.split('.').map((_, at, names) => names.slice(0, at + 1).join('.')),
      );
      expect(nodes.map(pathOf).sort()).toEqual([...new Set([...containing, ...added])].sort());
    });

    test('has the regions that are drawn', () => {
      const found = nodes
        .filter(({ parent }) => parent?.type === 'parallel')
        .filter((node) => !added.has(pathOf(node)));
      expect(found.map(({ key }) => key)).toEqual(regions);
    });

    test.each(drawn)('goes %s', (edge) => {
      const [from = '', event = '', to = ''] = edge.split(' ');
      const node = nodes.find((each) => pathOf(each) === from) ?? expect.fail(`no state ${from}`);
      expect([...reachedFrom(node, event, added)]).toContain(to);
    });
  },
);

/** Drawn states, and those that contain them, to which an event leads, through states that are not drawn. */
function reachedFrom(node: AnyStateNode, event: string, added: ReadonlySet<string>): Set<string> {
  const reached = new Set<string>();
  const seen = new Set<AnyStateNode>();
  const enter = (target: AnyStateNode): void => {
    if (seen.has(target)) return;
    seen.add(target);
    for (let each = target; each.parent !== undefined; each = each.parent)
      reached.add(pathOf(each));
    const initial = target.type === 'compound' ? target.initial.target?.[0] : undefined;
    if (initial !== undefined) enter(initial);
    if (isPassing(target, added)) for (const [, next] of leaving(target)) enter(next);
  };
  const within = [node, ...nodesOf(node)];
  for (const each of [...within, ...ancestorsOf(node)])
    for (const [name, target] of leaving(each)) if (name === event) enter(target);
  return reached;
}

const isPassing = (node: AnyStateNode, added: ReadonlySet<string>): boolean =>
  [node, ...ancestorsOf(node)].some((each) => added.has(pathOf(each)));

function* leaving(node: AnyStateNode): Iterable<readonly [event: string, target: AnyStateNode]> {
  const delays = new Map(node.after.map(({ eventType, delay }) => [eventType, String(delay)]));
  for (const [event, transitions] of node.transitions)
    for (const { target = [] } of transitions)
      for (const each of target) yield [delays.get(event) ?? event, each];
  for (const { target = [] } of node.always ?? [])
    for (const each of target) yield ['always', each];
}

function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return Object.values(node.states).flatMap((each) => [each, ...nodesOf(each)]);
}

function ancestorsOf({ parent }: AnyStateNode): AnyStateNode[] {
  return parent?.parent === undefined ? [] : [parent, ...ancestorsOf(parent)];
}

const pathOf = ({ path }: AnyStateNode): string => path.join('.');

/** First cells of the table under a machine's heading. */
function addedIn(machine: string): string[] {
  const [, section = ''] = readProjectFile('machines/agents/README.md').split(`\n### ${machine}\n`);
  const rows = section.split('\n### ')[0]?.matchAll(/^\| `([a-zA-Z.]+)` +\| \S/gm) ?? [];
  return Array.from(rows, ([, state = '']) => state);
}
