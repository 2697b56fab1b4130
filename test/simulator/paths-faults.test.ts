/** The machine-generated paths can fail: what they find, and what they say of it. */

import { describe, expect, test } from 'vitest';
import { type AnyStateMachine, assign, cancel, createMachine, emit, raise, sendTo } from 'xstate';
import { hint, to } from '../../runtime/machine.ts';
import type { PathPlan } from '../paths/plan.ts';
import { faultsOf } from '../paths/report.ts';
import { replayAll, shortestPaths, walkPaths } from '../paths/walk.ts';

/** A plan in which nothing carries anything, and nothing of the context matters. */
const planOf = (
  machine: AnyStateMachine,
  types: readonly string[],
  more: Partial<PathPlan> = {},
): PathPlan => ({
  machine,
  inputs: { it: undefined },
  events: () => types.map((type) => ({ type })),
  key: () => null,
  ...more,
});

const faults = async (plan: PathPlan) => faultsOf(await walkPaths(plan));

describe('a machine that does not do the same twice', () => {
  test('is reported with the shortest path in words', async () => {
    let isOpen = true;
    const door = createMachine({
      id: 'door',
      initial: 'shut',
      states: {
        shut: { on: { unlock: 'unlocked' } },
        unlocked: {
          on: { lock: 'shut', push: { guard: () => isOpen, target: 'wide' } },
          after: { 5000: 'shut' },
        },
        wide: { on: { push: 'shut' } },
      },
    });
    const plan = planOf(door, ['unlock', 'lock', 'push']);
    const found = shortestPaths(plan);
    isOpen = false;
    const [first] = faultsOf({ ...found, differences: await replayAll(plan, found.paths) });
    expect(first).toBe(
      [
        "The engine's state differs.",
        '  born as "it"',
        '  1. send {"type":"unlock"}',
        '  2. send {"type":"push"}',
        '  pure   "wide"',
        '  engine "unlocked"',
      ].join('\n'),
    );
  });

  test('is found out by a restart where it keeps what no record can keep', async () => {
    const counting = createMachine({
      id: 'counting',
      context: { seen: new Set<string>() },
      initial: 'few',
      states: {
        few: {
          always: { guard: ({ context }) => context.seen.size > 1, target: 'many' },
          on: { add: { actions: 'add' } },
        },
        many: { on: { add: { actions: 'add' } } },
      },
    }).provide({
      actions: {
        add: assign(({ context: { seen } }) => ({
          seen: new Set([...seen, `n${seen.size}`]),
        })) as never,
      },
    });
    const size = ({ seen }: { readonly seen: Set<string> }) => seen.size;
    const [first] = await faults(planOf(counting, ['add'], { key: size, stepsMax: 3 }));
    expect(first).toMatch(/^The engine's \w+ differs/);
  });
});

describe('a deadline', () => {
  const waiting = createMachine({
    id: 'waiting',
    initial: 'here',
    states: {
      here: {
        after: { 50: 'gone' },
        initial: 'asleep',
        states: { asleep: { after: { 100: 'awake' } }, awake: {} },
      },
      gone: {},
    },
  });

  test('never comes before an earlier one', async () => {
    expect(await faults(planOf(waiting, []))).toEqual([
      'No path reaches waiting.here.awake.',
      'No path reaches waiting.here.asleep after 100.',
    ]);
  });

  test('that was armed first comes first of two at the same moment', async () => {
    const machine = createMachine({
      id: 'tied',
      initial: 'racing',
      states: {
        racing: {
          type: 'parallel',
          states: {
            left: { initial: 'runs', states: { runs: { after: { 30: '#tied.leftWon' } } } },
            right: { initial: 'runs', states: { runs: { after: { 30: '#tied.rightWon' } } } },
          },
        },
        leftWon: {},
        rightWon: {},
      },
    });
    expect(await faults(planOf(machine, []))).toEqual([
      'No path reaches tied.rightWon.',
      'No path reaches tied.racing.right.runs after 30.',
    ]);
  });

  test('may be passed by an event that is taken late', async () => {
    const machine = createMachine({
      id: 'late',
      initial: 'here',
      states: {
        here: { on: { stay: 'inTime' }, after: { 50: 'gone' } },
        inTime: { initial: 'still', states: { still: {} } },
        gone: {},
      },
    });
    const late = () => [{ event: { type: 'stay' }, lateMs: 80 }];
    const { paths, differences } = await walkPaths(planOf(machine, ['stay'], { late }));
    const states = paths.flatMap(({ steps }) => steps.map(({ after }) => after.snapshot.value));
    expect(differences).toEqual([]);
    expect(states).toContainEqual({ inTime: 'still' });
  });
});

describe('the report', () => {
  const lamp = createMachine({
    id: 'lamp',
    initial: 'off',
    states: {
      off: { on: { press: 'on' } },
      on: { on: { press: 'off', 'bulb.burnt': 'broken' } },
      broken: {},
    },
  });

  test('names what no event of the plan leads to', async () => {
    expect(await faults(planOf(lamp, ['press']))).toEqual([
      'No path reaches lamp.broken.',
      'No path reaches lamp.on on bulb.burnt.',
      ...['lamp', 'lamp.off', 'lamp.on'].map((state) => `No path reaches ${state} × bulb.burnt.`),
      ...['press', 'bulb.burnt'].map((type) => `No path reaches lamp.broken × ${type}.`),
    ]);
  });

  test('is empty where what is missing is excused, with all that would begin there', async () => {
    const unreachable = { 'lamp.broken': 'Nobody breaks it.', 'bulb.burnt': 'It never burns.' };
    expect(await faults(planOf(lamp, ['press'], { unreachable }))).toEqual([]);
  });

  test('names an excuse for what is reached, or does not exist', async () => {
    const unreachable = { 'lamp.broken': 'Nobody breaks it.', 'lamp.lost': 'Nobody loses it.' };
    expect(await faults(planOf(lamp, ['press', 'bulb.burnt'], { unreachable }))).toEqual([
      'lamp.broken is excused, and is reached or does not exist.',
      'lamp.lost is excused, and is reached or does not exist.',
    ]);
  });

  test('tells on which path a machine throws', async () => {
    const brittle = createMachine({
      id: 'brittle',
      initial: 'whole',
      states: {
        whole: { on: { touch: 'touched' } },
        touched: {
          on: {
            touch: {
              actions: assign(() => {
                throw new Error('It breaks.');
              }),
            },
          },
        },
      },
    });
    const found = await faults(planOf(brittle, ['touch']));
    expect(found).toContain('No path reaches brittle.touched on touch.');
    expect(found).toContain(
      [
        'The machine throws: It breaks.',
        '  born as "it"',
        '  1. send {"type":"touch"}',
        '  2. send {"type":"touch"}',
      ].join('\n'),
    );
  });

  test('refuses machines with children', () => {
    const parent = createMachine({
      initial: 'busy',
      states: { busy: { invoke: { src: createMachine({}) } } },
    });
    expect(() => shortestPaths(planOf(parent, []))).toThrow(
      'Machines with children have no paths.',
    );
  });
});

/** The runtime gives it to every event, raised ones included. */
const timeOf = (event: object): number => (event as { readonly at: number }).at;

test('everything that a machine without children can ask for is compared', async () => {
  const everything = createMachine({
    id: 'everything',
    initial: 'first',
    context: { toldAt: 0 },
    on: { '*': { actions: ['noteIt', assign(({ event }) => ({ toldAt: timeOf(event) }))] } },
    states: {
      first: {
        entry: [
          sendTo(() => to('one/1@far'), { type: 'hello' }),
          sendTo(() => hint('two/1@far'), { type: 'maybe' }),
          sendTo(() => to('three/1@far'), { type: 'later' }, { delay: 40, id: 'letter' }),
          raise({ type: 'self.told' }, { delay: 20, id: 'note' }),
          emit({ type: 'shown' }),
        ],
        on: { next: { target: 'second', actions: cancel('letter') }, 'self.told': {} },
      },
      second: {
        type: 'parallel',
        on: { back: 'past', out: 'first' },
        states: {
          left: { initial: 'a', states: { a: { on: { turn: 'b' } }, b: { type: 'final' } } },
          right: { initial: 'a', states: { a: { on: { turn: 'b' } }, b: { type: 'final' } } },
          memory: { type: 'history', history: 'deep' },
        },
        onDone: { actions: raise({ type: 'all.turned' }) },
      },
      past: { on: { next: 'second.memory' }, always: { guard: () => false, target: 'first' } },
    },
  }).provide({ actions: { noteIt: () => {} } });
  const unreachable = { 'everything.past always': 'Its guard never holds.' };
  const types = ['next', 'turn', 'back', 'out', 'self.told'];
  const walked = await walkPaths(planOf(everything, types, { unreachable }));
  expect(faultsOf(walked)).toEqual([]);
  const kinds = walked.paths.flatMap(({ first, steps }) => [
    ...(first.hints.length > 0 ? ['hint'] : []),
    ...(first.emitted.length > 0 ? ['emitted'] : []),
    ...steps.map(({ step }) => step.type),
    ...steps.flatMap(({ after }) => after.asked.map(({ type }) => type)),
  ]);
  expect(new Set(kinds)).toEqual(new Set(['hint', 'emitted', 'send', 'wait', 'noteIt']));
});
