/**
 * Exits that `explain` names for every state of every machine, from the definition of the machine alone:
 * those of the project and of its examples, and machines of others that end their states in every way.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AnyStateMachine, and, fromPromise, not, setup } from 'xstate';
import { exitLines } from '../../runtime/api/explain-exits.ts';
import { exitsOf } from '../../runtime/statechart/xstate-exits.ts';
import { activeNodes } from '../../runtime/statechart/xstate-outline.ts';
import { allNodes, type StateNode } from '../../runtime/statechart/xstate-sets.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { folderOf, listProjectFiles, ROOT, readProjectFile } from '../project-files.ts';

const isMachine = (one: unknown): one is AnyStateMachine =>
  typeof one === 'object' && one !== null && '__xstatenode' in one;

/** As a project that has installed the package, for a file that imports it by its name. */
async function imported(file: string): Promise<object> {
  const path = join(ROOT, file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes("'escapement/machine'")) return import(path);
  const folder = join(ROOT, 'test', '.tmp');
  mkdirSync(folder, { recursive: true });
  const own = mkdtempSync(join(folder, 'machines-'));
  const copy = join(own, 'machines.js');
  writeFileSync(
    copy,
    text.replace("'escapement/machine'", `'${join(ROOT, 'runtime/machine.ts')}'`),
  );
  try {
    return await import(copy);
  } finally {
    rmSync(own, { recursive: true });
  }
}

async function machinesOf(file: string): Promise<AnyStateMachine[]> {
  const { kinds = {}, ...exports } = (await imported(file)) as { readonly kinds?: object };
  return [...Object.values(exports), ...Object.values(kinds)].filter(isMachine);
}

const nodesOf = (machine: AnyStateMachine): StateNode[] =>
  allNodes(machine.root as unknown as StateNode).filter(
    ({ type, path }) => type !== 'history' && path.length > 0,
  );

/** The snapshot of a machine that is in this state, and elsewhere where it begins. */
function snapshotIn(machine: AnyStateMachine, { path }: StateNode) {
  const value = path.toReversed().reduce<object>((below, key) => ({ [key]: below }), {});
  return machine.resolveState({ value, context: {} } as never);
}

/** States without states of their own of which it says that nothing ends them; of all others it says what does. */
function endless(machine: AnyStateMachine): string[] {
  return nodesOf(machine)
    .filter(({ states }) => Object.keys(states).length === 0)
    .filter(({ type, parent }) => !(type === 'final' && parent?.parent === undefined))
    .map((node) => {
      const path = node.path.join('.');
      const snapshot = snapshotIn(machine, node);
      const isNamed = exitsOf(activeNodes(snapshot)).some(({ left }) => left.includes(path));
      const isDenied = exitLines(snapshot).includes(`  exit      "${path}": nothing ends it`);
      expect([path, isNamed, isDenied]).toEqual([path, isNamed, !isNamed]);
      return isNamed ? '' : path;
    })
    .filter((path) => path !== '');
}

const FOLDERS = ['machines', 'programs', 'runtime', 'examples', 'demo'];
const files = listProjectFiles().filter(
  (file) =>
    FOLDERS.includes(folderOf(file)) &&
    /\.[jt]s$/.test(file) &&
    readProjectFile(file).includes('.createMachine('),
);

/** Where a life ends without an end of the actor; by the id of the machine. */
const LAST: Readonly<Record<string, readonly string[]>> = {
  datacenter: ['run.final', 'run.refused', 'run.late'],
  desk: ['open'],
  parcel: ['onItsWay'],
  order: ['paid', 'expired', 'refused'],
};

describe('names what ends every state', () => {
  test.each(files)('%s', async (file) => {
    const machines = await machinesOf(file);
    expect(machines).not.toEqual([]);
    for (const machine of machines) {
      const last = LAST[machine.id] ?? [];
      expect(endless(machine).filter((path) => !last.includes(path))).toEqual([]);
    }
  });
});

const helper = setup({}).createMachine({ id: 'helper', initial: 'on', states: { on: {} } });

/** Ends its states in every way that there is. */
const foreign = setup({
  types: {
    events: {} as { type: 'go' } | { type: 'stay' } | { type: 'shut' } | { type: 'key.turned' },
  },
  actors: { pay: fromPromise(async () => 1), helper },
  guards: { isOpen: () => true, isLate: () => false },
  delays: { patience: 5_000 },
}).createMachine({
  id: 'foreign',
  initial: 'first',
  on: { shut: { target: '.closed' }, 'key.*': '.locked' },
  states: {
    first: {
      always: { guard: and(['isOpen', not('isLate')]), target: 'second' },
      after: { patience: 'second', 60000: { guard: 'isLate', target: 'closed' } },
      on: { go: [{ guard: 'isOpen', target: 'second' }, { target: 'closed' }] },
    },
    second: {
      invoke: { src: 'pay', id: 'payment', onDone: 'third', onError: 'closed' },
      on: { shut: {}, '*': 'first' },
    },
    third: {
      type: 'parallel',
      onDone: 'closed',
      states: {
        left: {
          initial: 'open',
          states: {
            open: { on: { go: 'shut', stay: { target: 'open', reenter: true } } },
            shut: { type: 'final' },
          },
        },
        right: {
          initial: 'open',
          states: { open: { after: { patience: 'shut' } }, shut: { type: 'final' } },
        },
      },
    },
    locked: { initial: 'once', states: { once: {}, again: {}, last: { type: 'history' } } },
    closed: {},
  },
});

const linesIn = (path: string): string[] => {
  const node = nodesOf(foreign).find((one) => one.path.join('.') === path) as StateNode;
  return exitLines(snapshotIn(foreign, node)).map((line) => line.slice('  exit      '.length));
};

describe('a machine of somebody else', () => {
  test.each([
    [
      'first',
      [
        '"first" → "closed": "shut"; "go" otherwise; after "60000" if isLate',
        '"first" → "locked": any "key.*"',
        '"first" → "second": "go" if isOpen; after "patience"; at once if isOpen and not isLate',
      ],
    ],
    [
      'second',
      [
        '"second" → "third": "payment" done',
        '"second" → "closed": "payment" failed',
        '"second" → "first": any other event',
      ],
    ],
    [
      'third',
      [
        '"third" → "closed": "shut"; all of it done',
        '"third" → "locked": any "key.*"',
        '"third.left.open" → "third.left.shut": "go"',
        '"third.left.open" → itself, again: "stay"',
        '"third.right.open" → "third.right.shut": after "patience"',
      ],
    ],
    ['locked.again', ['"locked" → "closed": "shut"', '"locked" → itself, again: any "key.*"']],
    ['closed', ['"closed" → itself, again: "shut"', '"closed" → "locked": any "key.*"']],
  ])('in %s', (path, lines) => {
    expect(linesIn(path).sort()).toEqual(lines.sort());
  });

  test('is explained with the moments of its deadlines, and the charts that it keeps', async () => {
    const rt = await testRuntime({
      kinds: { foreign, helper },
      options: {
        foreign: { charts: () => ({ inner: helper.resolveState({ value: 'on', context: {} }) }) },
      } as never,
    });
    await rt.spawn('foreign/1');
    await rt.settle();
    const text = await rt.explain('foreign/1');
    expect(text).toMatch(
      /exit {6}"third.right.open" → "third.right.shut": after "patience", due in 5s \(/,
    );
    expect(text).toContain('chart     "inner" is "on"\n    exit      "on": nothing ends it');
  });
});
