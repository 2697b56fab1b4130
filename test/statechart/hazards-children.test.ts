/**
 * Traps of machine children: nothing of a child may be lost, late or left behind.
 * Spawning, system ids and circles are in hazards-spawning.test.ts, promises and
 * callbacks in hazards-acting.test.ts, children that fail in hazards-failures.test.ts.
 */

import { describe, expect, test } from 'vitest';
import {
  type AnyActorRef,
  assign,
  emit,
  fromTransition,
  log,
  sendParent,
  sendTo,
  spawnChild,
} from 'xstate';
import { type Loose, machineOf, Stepper, see } from './stepping.ts';

describe('a machine child', () => {
  const child = machineOf({
    id: 'child',
    context: { seen: [] },
    entry: [sendParent({ type: 'HELLO' }), emit({ type: 'born' }), log('alive'), 'childAction'],
    initial: 'a',
    states: {
      a: { after: { 50: 'b' }, on: { PING: { actions: [see, sendParent({ type: 'PONG' })] } } },
      b: { entry: sendParent({ type: 'LATE' }), on: { END: 'z' } },
      z: { type: 'final' },
    },
    output: { is: 'done' },
  });
  const parent = machineOf(
    {
      id: 'parent',
      context: { seen: [], output: null },
      initial: 'on',
      on: { HELLO: { actions: see }, PONG: { actions: see }, LATE: { actions: see } },
      states: {
        on: {
          invoke: {
            src: 'child',
            id: 'c',
            onDone: {
              target: 'off',
              actions: [see, assign({ output: ({ event }) => event.output })],
            },
          },
          on: {
            GO: { actions: [see, sendTo('c', { type: 'PING' })] },
            FINISH: { actions: sendTo('c', { type: 'END' }) },
            LEAVE: 'off',
            AGAIN: { target: 'on', reenter: true },
          },
        },
        off: {},
      },
    },
    { child },
  );

  test('speaks to its parent, arms its timer, emits and acts in its first state', () => {
    const stepper = new Stepper(parent);
    expect(stepper.context['seen']).toEqual(['HELLO@1']);
    expect(stepper.asked).toEqual([
      'log alive',
      'childAction',
      'emit born',
      'arm xstate.after.50.child.a 50',
    ]);
    expect(stepper.effects.every((effect) => 'session' in effect && effect.session === 1)).toBe(
      true,
    );
    expect(stepper.armed('xstate.after.50.child.a').target).toBe(1);
  });

  test('answers within the same turn, with its time', () => {
    const stepper = new Stepper(parent).send('GO');
    expect(stepper.context['seen']).toEqual(['HELLO@1', 'GO@2', 'PONG@2']);
    expect(stepper.child('c')?.context).toEqual({ seen: ['PING@2'] });
  });

  test('takes its own timers, ends, and tells its parent with its output', () => {
    const stepper = new Stepper(parent).fire('xstate.after.50.child.a');
    expect(stepper.child('c')?.value).toBe('b');
    expect(stepper.context['seen']).toContain('LATE@2');
    stepper.send('FINISH');
    expect(stepper.value).toBe('off');
    expect(stepper.context).toMatchObject({ output: { is: 'done' } });
    expect(stepper.context['seen']).toContain('xstate.done.actor.c@3');
    expect(stepper.asked).toEqual(['cancelAll 1']);
    expect(stepper.tree.hasChildren).toBe(false);
  });

  test('goes with its timers when its state is left', () => {
    const stepper = new Stepper(parent).send('LEAVE');
    expect(stepper.asked).toEqual(['cancelAll 1']);
    expect(stepper.tree.hasChildren).toBe(false);
    expect(stepper.tree.sessions()).toEqual({ sessions: {}, booked: 1 });
  });

  test('is another one, with another number, when its state is entered again', () => {
    const stepper = new Stepper(parent);
    const old = stepper.armed('xstate.after.50.child.a');
    stepper.send('AGAIN');
    expect(stepper.armed('xstate.after.50.child.a').target).toBe(2);
    const effects: never[] = [];
    stepper.tree.fire({ event: old.event, dueAt: 50, target: old.target }, 50, effects);
    expect(effects).toEqual([]);
    expect(stepper.child('c')?.value).toBe('a');
  });

  test('knows the moment of its birth from its input', () => {
    const born = machineOf({ context: ({ input }: Loose) => ({ at: (input as Loose)['at'] }) });
    const starter = machineOf(
      {
        on: { GO: { actions: spawnChild('born' as never, { id: 'b', input: { n: 1 } } as never) } },
      },
      { born },
    );
    expect(new Stepper(starter).send('GO').child('b')?.context).toEqual({ at: 2 });
  });
});

describe('order', () => {
  test('a send from the entry of a state reaches the child that the state invokes', () => {
    const child = machineOf({ context: { seen: [] }, on: { EARLY: { actions: see } } });
    const parent = machineOf(
      {
        initial: 'off',
        states: {
          off: { on: { GO: 'on' } },
          on: { entry: sendTo('c', { type: 'EARLY' }), invoke: { src: 'child', id: 'c' } },
        },
      },
      { child },
    );
    expect(new Stepper(parent).send('GO').child('c')?.context).toEqual({ seen: ['EARLY@2'] });
  });

  test("children start before the root's first actions, as under createActor", () => {
    const child = machineOf({ entry: 'ofChild' });
    const parent = machineOf({ entry: 'ofRoot', invoke: { src: 'child', id: 'c' } }, { child });
    expect(new Stepper(parent).asked).toEqual(['ofChild', 'ofRoot']);
  });

  test("a parent's guard sees the child as it is now", () => {
    const child = machineOf({
      context: { n: 0 },
      on: {
        INC: {
          actions: [assign({ n: ({ context }) => context['n'] + 1 }), sendParent({ type: 'ASK' })],
        },
      },
    });
    const parent = machineOf(
      {
        context: ({ spawn }: { spawn: (src: string, options: Loose) => unknown }) => ({
          ref: spawn('child', { id: 'c' }),
        }),
        initial: 'a',
        states: {
          a: {
            on: {
              GO: { actions: sendTo('c', { type: 'INC' }) },
              ASK: {
                target: 'b',
                guard: ({ context }: { context: { ref: AnyActorRef } }) =>
                  context.ref.getSnapshot().context.n === 2,
              },
            },
          },
          b: {},
        },
      },
      { child },
    );
    const stepper = new Stepper(parent).send('GO');
    expect(stepper.value).toBe('a');
    expect(stepper.send('GO').value).toBe('b');
  });

  test('grandchildren are part of the same turn, each under its own path', () => {
    const grandchild = machineOf({
      id: 'g',
      on: { DOWN: { actions: sendParent({ type: 'UP' }) } },
      after: { 5: {} },
    });
    const child = machineOf(
      {
        invoke: { src: 'grandchild', id: 'g/1' },
        on: {
          DOWN: { actions: sendTo('g/1', { type: 'DOWN' }) },
          UP: { actions: sendParent({ type: 'UP' }) },
        },
      },
      { grandchild },
    );
    const parent = machineOf(
      {
        context: { seen: [] },
        invoke: [
          { src: 'child', id: 'c' },
          { src: 'grandchild', id: 'c/g/1' },
        ],
        on: { GO: { actions: sendTo('c', { type: 'DOWN' }) }, UP: { actions: see } },
      },
      { child, grandchild },
    );
    const stepper = new Stepper(parent).send('GO');
    expect(stepper.context).toEqual({ seen: ['UP@2'] });
    const { sessions } = stepper.tree.sessions() ?? {};
    expect(Object.keys(sessions ?? {}).length).toBe(3);
    expect(stepper.restore().tree.sessions()?.sessions).toEqual(sessions);
  });

  test('onSnapshot hears of the birth and of every event of the child', () => {
    const child = machineOf({ context: { n: 0 }, on: { INC: { actions: assign({ n: 5 }) } } });
    const parent = machineOf(
      {
        context: { seen: [] },
        invoke: { src: 'child', id: 'c', onSnapshot: { actions: see } },
        on: { GO: { actions: sendTo('c', { type: 'INC' }) } },
      },
      { child },
    );
    const stepper = new Stepper(parent).send('GO');
    expect(stepper.context).toEqual({ seen: ['xstate.snapshot.c@1', 'xstate.snapshot.c@2'] });
  });

  test('a reducer is stepped like a machine and ends with its state', () => {
    const sum = fromTransition(
      (total: number, event: { type: string; by?: number }) => total + (event.by ?? 0),
      1,
    );
    const parent = machineOf(
      {
        invoke: { src: 'sum', id: 's' },
        on: { ADD: { actions: sendTo('s', { type: 'add', by: 4 }) } },
      },
      { sum },
    );
    const stepper = new Stepper(parent).send('ADD');
    expect(stepper.child('s')?.context).toBe(5);
    expect(stepper.asked).toEqual([]);
    expect(stepper.restore().send('ADD').child('s')?.context).toBe(9);
    expect(stepper.tree.settle(1, { type: 'done', output: 0 }, 9, [])).toBe(false);
  });
});
