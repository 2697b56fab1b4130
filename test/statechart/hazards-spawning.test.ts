/**
 * Traps of children that come and go: ids and system ids taken twice, children that
 * could not be stored, too many of them, machines that answer each other for ever.
 */

import { describe, expect, test } from 'vitest';
import {
  type AnyActorRef,
  assign,
  enqueueActions,
  raise,
  sendParent,
  sendTo,
  spawnChild,
  stopChild,
} from 'xstate';
import { to } from '../../runtime/machine.ts';
import { codeOf, type Loose, machineOf, Stepper, see } from './stepping.ts';

describe('spawning', () => {
  const leaf = machineOf({
    id: 'leaf',
    context: { n: 1 },
    on: { INC: { actions: assign({ n: 2 }) } },
  });

  test('with spawnChild, stopChild and spawn, ids taken again after a stop', () => {
    const parent = machineOf(
      {
        on: {
          SPAWN: { actions: spawnChild('leaf' as never, { id: 'l' } as never) },
          STOP: { actions: stopChild('l') },
          SWAP: { actions: [stopChild('l'), spawnChild('leaf' as never, { id: 'l' } as never)] },
        },
      },
      { leaf },
    );
    const stepper = new Stepper(parent).send('SPAWN').send('SWAP');
    expect(stepper.tree.sessions()).toEqual({ sessions: { l: 2 }, booked: 2 });
    expect(stepper.send('STOP').tree.sessions()).toEqual({ sessions: {}, booked: 2 });
  });

  test('an id given away twice leaves two children, of which the snapshot shows the later one', () => {
    const parent = machineOf(
      { on: { SPAWN: { actions: spawnChild('leaf' as never, { id: 'l' } as never) } } },
      { leaf },
    );
    const stepper = new Stepper(parent).send('SPAWN').send('SPAWN');
    expect(stepper.asked).toEqual([]);
    expect(stepper.tree.sessions()?.sessions).toEqual({ '%1': 1, l: 2 });
    expect(stepper.restore().tree.sessions()?.sessions).toEqual({ l: 2, '%1': 1 });
    expect(stepper.tree.hasMember(1)).toBe(true);
  });

  test('without an id keeps every child, under a name that survives the text', () => {
    const parent = machineOf(
      {
        on: {
          SPAWN: { actions: spawnChild('leaf' as never) },
          INC: { actions: sendTo('x:1', { type: 'INC' }) },
        },
      },
      { leaf },
    );
    const stepper = new Stepper(parent).send('SPAWN').send('SPAWN');
    expect(stepper.tree.sessions()?.sessions).toEqual({ 'x:1': 1, 'x:2': 2 });
    expect(stepper.restore().send('INC').child('x:1')?.context).toEqual({ n: 2 });
    expect(stepper.tree.sessions()?.sessions).toEqual({ 'x:1': 1, 'x:2': 2 });
  });

  test('of a logic object, or of one that nobody registered, is refused: it could not be stored', () => {
    const parent = machineOf({
      on: {
        OBJECT: { actions: spawnChild(leaf as never, { id: 'l' } as never) },
        SPAWN: {
          actions: assign({ ref: ({ spawn }) => spawn(leaf as never, { id: 'l' } as never) }),
        },
        UNKNOWN: { actions: spawnChild('nobody' as never, { id: 'l' } as never) },
        INVOKE: '.invoking',
      },
      initial: 'idle',
      states: { idle: {}, invoking: { invoke: { src: 'nobody', id: 'l' } } },
    });
    const stepper = new Stepper(parent);
    for (const type of ['OBJECT', 'SPAWN', 'UNKNOWN', 'INVOKE']) {
      expect(codeOf(() => stepper.send(type))).toBe('CHILD_UNREGISTERED');
      expect(stepper.tree.hasChildren).toBe(false);
    }
  });

  test('of an object written into the invoke is fine: its place in the machine is its name', () => {
    const parent = machineOf({
      invoke: { src: leaf, id: 'l' },
      on: { INC: { actions: sendTo('l', { type: 'INC' }) } },
    });
    expect(new Stepper(parent).restore().send('INC').child('l')?.context).toEqual({ n: 2 });
  });

  test('more than the limit is ACTOR_TOO_LARGE, also when the children are of one child', () => {
    const many = enqueueActions(({ enqueue }) => {
      for (let n = 0; n < 9; n += 1) enqueue.spawnChild('leaf' as never, { id: `l${n}` } as never);
    });
    const middle = machineOf({ entry: many }, { leaf });
    const parent = machineOf(
      {
        on: {
          MANY: { actions: many },
          MIDDLE: { actions: spawnChild('middle' as never, { id: 'm' } as never) },
        },
      },
      { leaf, middle },
    );
    const stepper = new Stepper(parent);
    expect(codeOf(() => stepper.send('MANY'))).toBe('ACTOR_TOO_LARGE');
    expect(codeOf(() => stepper.send('MIDDLE'))).toBe('ACTOR_TOO_LARGE');
    expect(stepper.tree.hasChildren).toBe(false);
  });

  test('a child that is stopped before it starts is gone without a trace', () => {
    const loud = machineOf({ entry: 'loud' });
    const parent = machineOf(
      {
        initial: 'a',
        states: {
          a: { on: { GO: 'b' } },
          b: { invoke: { src: 'loud', id: 'l', systemId: 'key' }, always: 'c' },
          c: { on: { AGAIN: 'b' } },
        },
      },
      { loud },
    );
    const stepper = new Stepper(parent).send('GO');
    expect(stepper.asked).toEqual([]);
    expect(stepper.tree.hasChildren).toBe(false);
    expect(stepper.send('AGAIN').value).toBe('c');
  });

  test('only a child of its own can be stopped by a machine', () => {
    const middle = machineOf({ invoke: { src: 'leaf', id: 'l' } }, { leaf });
    const parent = machineOf(
      {
        invoke: { src: 'middle', id: 'm' },
        on: {
          STOP: {
            actions: stopChild(
              (({ self }: { self: AnyActorRef }) =>
                self.getSnapshot().children.m.getSnapshot().children.l) as never,
            ),
          },
        },
      },
      { middle },
    );
    expect(() => new Stepper(parent).send('STOP')).toThrow('is not a child');
  });
});

describe('a system id', () => {
  const keyed = machineOf({ context: { seen: [] }, on: { HI: { actions: see } } });

  test('finds its actor from anywhere in the tree, and another one after the state is entered again', () => {
    const greeter = machineOf({
      on: {
        GREET: {
          actions: sendTo(
            (({ system }: { system: { get(id: string): AnyActorRef } }) =>
              system.get('key')) as never,
            { type: 'HI' } as never,
          ),
        },
      },
    });
    const parent = machineOf(
      {
        invoke: { src: 'greeter', id: 'g' },
        initial: 'on',
        states: {
          on: {
            invoke: { src: 'keyed', id: 'k', systemId: 'key' },
            on: {
              AGAIN: { target: 'on', reenter: true },
              GREET: { actions: sendTo('g', { type: 'GREET' }) },
            },
          },
        },
      },
      { keyed, greeter },
    );
    const stepper = new Stepper(parent)
      .send('GREET')
      .send('AGAIN')
      .send('GREET')
      .restore()
      .send('GREET');
    expect(stepper.child('k')?.context).toEqual({ seen: ['HI@4', 'HI@5'] });
  });

  test('belongs to one actor at a time', () => {
    const options = { systemId: 'key' };
    const parent = machineOf(
      {
        on: {
          TWICE: {
            actions: [
              spawnChild('keyed' as never, { ...options, id: 'a' } as never),
              spawnChild('keyed' as never, { ...options, id: 'b' } as never),
            ],
          },
          ONCE: { actions: spawnChild('keyed' as never, { ...options, id: 'a' } as never) },
        },
      },
      { keyed },
    );
    const stepper = new Stepper(parent);
    expect(() => stepper.send('TWICE')).toThrow("system ID 'key' already exists");
    expect(stepper.send('ONCE').tree.sessions()?.sessions).toEqual({ a: 1 });
  });
});

describe('a circle between machines', () => {
  const ball = (target: string) => ({ actions: sendTo(target, { type: 'BALL' }) });

  test('of parent and child ends with MICROSTEPS_EXCEEDED', () => {
    const child = machineOf({ on: { BALL: { actions: sendParent({ type: 'BALL' }) } } });
    const parent = machineOf(
      { invoke: { src: 'child', id: 'c' }, on: { BALL: ball('c') } },
      { child },
    );
    expect(codeOf(() => new Stepper(parent).send('BALL'))).toBe('MICROSTEPS_EXCEEDED');
  });

  test('by way of onSnapshot ends so too, and throws nothing into the process', async () => {
    const child = machineOf({ on: { BALL: {} } });
    const parent = machineOf(
      { invoke: { src: 'child', id: 'c', onSnapshot: ball('c') }, on: { BALL: ball('c') } },
      { child },
    );
    expect(codeOf(() => new Stepper(parent))).toBe('MICROSTEPS_EXCEEDED');
    // XState rethrows from a timer what an observer throws; vitest would report it.
    await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test('by way of births and ends does as well', () => {
    const child = machineOf({ initial: 'z', states: { z: { type: 'final' } } });
    const parent = machineOf(
      {
        initial: 'on',
        states: {
          on: { invoke: { src: 'child', id: 'c', onDone: { target: 'on', reenter: true } } },
        },
      },
      { child },
    );
    expect(codeOf(() => new Stepper(parent))).toBe('MICROSTEPS_EXCEEDED');
  });

  test('within a child is an error of that child', () => {
    const child = machineOf({ on: { GO: { actions: raise({ type: 'GO' }) } } });
    const parent = (onError: Loose) =>
      machineOf(
        {
          invoke: { src: 'child', id: 'c', ...onError },
          on: { GO: { actions: sendTo('c', { type: 'GO' }) } },
        },
        { child },
      );
    expect(codeOf(() => new Stepper(parent({})).send('GO'))).toBe('MICROSTEPS_EXCEEDED');
    const stepper = new Stepper(parent({ onError: { actions: 'noticed' } })).send('GO');
    expect(stepper.asked).toEqual(['cancelAll 1', 'noticed']);
  });

  test('does not count what leaves the actor', () => {
    const parent = machineOf({
      on: {
        GO: {
          actions: enqueueActions(({ enqueue }) => {
            for (let n = 0; n < 500; n += 1) enqueue.sendTo(to(`w/${n}`), { type: 'work' });
          }),
        },
      },
    });
    expect(new Stepper(parent).send('GO').effects).toHaveLength(500);
  });
});
