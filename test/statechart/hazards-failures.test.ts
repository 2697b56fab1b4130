/**
 * Steps, spawns and children that fail: nothing changes, nothing leaks, nothing is left
 * behind, and code that needs a restore is told so.
 */

import { describe, expect, test } from 'vitest';
import { assign, createMachine, raise, sendTo, setup } from 'xstate';
import { codeOf, machineOf, Stepper } from './stepping.ts';

describe('a step that throws', () => {
  const machine = createMachine({
    context: { n: 0 },
    initial: 'a',
    states: {
      a: {
        on: {
          GUARD: { guard: 'broken', target: 'b' },
          ASSIGN: {
            target: 'b',
            actions: [
              'first',
              raise({ type: 'late' }, { delay: 5 }),
              assign(() => {
                throw new Error('no assign');
              }),
            ],
          },
          NULL: {
            actions: assign(() => {
              throw null;
            }),
          },
          TWICE: {
            actions: [assign({ n: 1 }), sendTo(({ self }) => self, { type: 'GUARD' })],
          },
          MISSING: { guard: 'nobody wrote it' },
          COUNT: { actions: [assign({ n: ({ context }) => context.n + 1 }), 'count'] },
        },
      },
      b: {},
    },
  }).provide({
    guards: {
      broken: () => {
        throw new Error('no guard');
      },
    },
  } as never);

  test.each(['GUARD', 'ASSIGN', 'NULL', 'TWICE', 'MISSING'])(
    'leaves a tree without children as it was: %s',
    (type) => {
      const stepper = new Stepper(machine);
      const { text } = stepper;
      const { snapshot } = stepper.tree;
      let thrown: unknown = 'nothing';
      try {
        stepper.send(type);
      } catch (caught) {
        thrown = caught;
      }
      expect(thrown).not.toBe('nothing');
      expect(stepper.tree.snapshot).toBe(snapshot);
      expect(stepper.text).toBe(text);
      expect(stepper.tree.hasChildren).toBe(false);
    },
  );

  test('lets no effect leak into the next one', () => {
    const stepper = new Stepper(machine);
    expect(() => stepper.send('ASSIGN')).toThrow('no assign');
    expect(stepper.send('COUNT').asked).toEqual(['count']);
  });

  test('throws what was thrown, even null', () => {
    const stepper = new Stepper(machine);
    expect(() => stepper.send('GUARD')).toThrow('no guard');
    let thrown: unknown = 'nothing';
    try {
      stepper.send('NULL');
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toBeNull();
  });

  test('finds its action executor in place again', () => {
    const stepper = new Stepper(machine);
    for (const type of ['GUARD', 'ASSIGN', 'COUNT', 'NULL', 'COUNT']) {
      try {
        stepper.send(type);
      } catch {
        // What matters is the next one.
      }
    }
    expect(stepper.asked).toEqual(['count']);
    expect(stepper.context).toEqual({ n: 2 });
  });

  test('takes back the children that it gave birth to, and their numbers', () => {
    const child = createMachine({});
    const parent = setup({ actors: { child } }).createMachine({
      initial: 'a',
      states: {
        a: { on: { BAD: { target: 'b', actions: assign({ is: true }) } } },
        b: {
          invoke: { src: 'child', id: 'c', systemId: 'the child' },
          always: {
            guard: ({ context }) => {
              if (context['is'] !== 'fine') throw new Error('not yet');
              return false;
            },
          },
        },
      },
    });
    const stepper = new Stepper(parent);
    expect(() => stepper.send('BAD')).toThrow('not yet');
    // The system id is free again: the same error and not "already exists".
    expect(() => stepper.send('BAD')).toThrow('not yet');
    expect(stepper.tree.hasChildren).toBe(false);
    expect(stepper.tree.sessions()).toBeUndefined();
  });
});

describe('a birth that goes wrong throws', () => {
  test.each([
    ['in the context', { context: () => fail() }],
    ['in an initial assign', { entry: assign(() => fail()) }],
    ['in an initial guard', { initial: 'a', states: { a: { always: { guard: () => fail() } } } }],
  ])('%s', (_, config) => {
    expect(() => new Stepper(createMachine(config as never))).toThrow('broken birth');
  });

  test('in a cycle of first steps', () => {
    const machine = createMachine({
      initial: 'a',
      states: { a: { always: 'b' }, b: { always: 'a' } },
    });
    expect(codeOf(() => new Stepper(machine))).toBe('MICROSTEPS_EXCEEDED');
  });

  test('for an initial state that does not exist, as early as the machine is registered', () => {
    const machine = createMachine({ initial: 'nowhere', states: { a: {} } } as never);
    expect(() => new Stepper(machine)).toThrow('Initial state node "nowhere" not found');
  });

  function fail(): never {
    throw new Error('broken birth');
  }
});

describe('a child that fails', () => {
  const child = machineOf({
    id: 'child',
    after: { 50: {} },
    on: {
      BAD: {
        guard: () => {
          throw new Error('broken child');
        },
      },
    },
  });

  test('is an event for a parent with onError', () => {
    const parent = machineOf(
      {
        context: { error: '' },
        initial: 'on',
        states: {
          on: {
            invoke: {
              src: 'child',
              id: 'c',
              onError: {
                target: 'off',
                actions: assign({
                  error: ({ event }) => String(event['error']),
                }),
              },
            },
            on: { GO: { actions: sendTo('c', { type: 'BAD' }) } },
          },
          off: {},
        },
      },
      { child },
    );
    const stepper = new Stepper(parent).send('GO');
    expect(stepper.value).toBe('off');
    expect(stepper.context['error']).toContain('broken child');
    expect(stepper.asked).toEqual(['cancelAll 1']);
  });

  test('fails the turn of a parent without, and the tree asks to be restored', () => {
    const parent = machineOf(
      {
        initial: 'on',
        on: { FAIL: { guard: 'nobody wrote it' } },
        states: {
          on: {
            invoke: { src: 'child', id: 'c' },
            on: { GO: { actions: sendTo('c', { type: 'BAD' }) }, LEAVE: 'off' },
          },
          off: { entry: sendTo(({ self }) => self, { type: 'FAIL' }) },
        },
      },
      { child },
    );
    const stepper = new Stepper(parent);
    const { text } = stepper;
    // At LEAVE the child was stopped before the turn failed.
    for (const [type, error] of [
      ['GO', 'broken child'],
      ['LEAVE', 'nobody wrote it'],
    ] as const) {
      expect(() => stepper.send(type)).toThrow(error);
      expect(stepper.value).toBe('on');
      expect(stepper.tree.hasChildren).toBe(true);
      expect(stepper.restore(text).text).toBe(text);
    }
  });

  test('takes its own children with it', () => {
    const middle = machineOf(
      {
        invoke: { src: 'child', id: 'c' },
        on: {
          BAD: {
            guard: () => {
              throw new Error('broken middle');
            },
          },
        },
      },
      { child },
    );
    const parent = machineOf(
      {
        invoke: { src: 'middle', id: 'm', onError: {} },
        on: { GO: { actions: sendTo('m', { type: 'BAD' }) } },
      },
      { middle },
    );
    const stepper = new Stepper(parent).send('GO');
    expect(stepper.asked).toEqual(['cancelAll 1', 'cancelAll 2']);
    expect(stepper.tree.hasChildren).toBe(false);
  });
});
