/**
 * The drawing in the header of each machine is of that machine: it names every state in which an actor can
 * be at rest, and no other one.
 */

import { expect, test } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import * as machines from '../../../machines/index.ts';
import { datacenterMachine } from '../../../machines/jobs/datacenter.ts';
import { allNodes, type StateNode } from '../../../runtime/statechart/xstate-sets.ts';
import { listProjectFiles, readProjectFile } from '../../project-files.ts';

const isMachine = (one: unknown): one is AnyStateMachine =>
  typeof one === 'object' && one !== null && '__xstatenode' in one;

const all = [...Object.values(machines), datacenterMachine]
  .filter(isMachine)
  .filter(({ id }) => id !== 'reminder');

const charts = listProjectFiles()
  .filter((path) => /^machines\/(jobs\/)?[a-z-]+\.ts$/.test(path))
  .map((path) => readProjectFile(path));

const headerOf = (id: string): string => {
  const text = charts.find((chart) => chart.includes(`  id: '${id}',\n`)) ?? '';
  return text.slice(0, text.indexOf('*/'));
};

const isLeftAtOnce = ({ always = [] }: StateNode): boolean =>
  always.some(({ guard }) => guard === undefined);

const restingIn = (machine: AnyStateMachine): StateNode[] =>
  allNodes(machine.root as unknown as StateNode).filter(
    (node) => node.path.length > 0 && !isLeftAtOnce(node),
  );

/** The states that it has been drawn with in the design, and which no runtime would ever be in. */
const GONE = ['suspended', 'leadership.lost'];

test.each(all.map((machine) => [machine.id, machine] as const))('%s', (id, machine) => {
  const header = headerOf(id);
  const isDrawn = ({ key }: StateNode): boolean => new RegExp(`\\b${key}\\b`).test(header);
  const missing = restingIn(machine).filter((node) => !isDrawn(node));
  expect(missing.map(({ path }) => path.join('.'))).toEqual([]);
  expect(GONE.filter((name) => header.includes(name) || machine.events.includes(name))).toEqual([]);
  // A name before or after an arrow that has two words in one is a state, or an end of it.
  const keys = new Set(allNodes(machine.root as unknown as StateNode).map(({ key }) => key));
  const drawn = [...header.matchAll(/[▶◀] ?([a-z]+(?:[A-Z][a-z]+)+|[A-Z_]{5,})\b/g)].map(
    ([, name]) => name,
  );
  expect(drawn.filter((name) => !keys.has(name as string))).toEqual([]);
});
