/**
 * Every trap of XState's stepping that the seam must disarm, one test each.
 * The other hazards files hold timers, failures, children and stored state.
 */

import { describe, expect, test } from 'vitest';
import {
  type AnyActorRef,
  assign,
  createActor,
  createMachine,
  emit,
  enqueueActions,
  log,
  raise,
  sendParent,
  sendTo,
  setup,
} from 'xstate';
import { hint, to } from '../../runtime/machine.ts';
import { codeOf, Stepper } from './stepping.ts';

describe('effects come as data', () => {
  test('in the order in which XState would carry them out: exit, transition, entry', () => {
    const machine = createMachine({
      initial: 'a',
      states: {
        a: { exit: ['leave', log('left')], on: { GO: { target: 'b', actions: 'move' } } },
        b: { entry: ['arrive', emit({ type: 'arrived' }), sendTo(to('job/1'), { type: 'go' })] },
      },
    });
    expect(new Stepper(machine).send('GO').asked).toEqual([
      'leave',
      'log left',
      'move',
      'arrive',
      'emit arrived',
      'send job/1 go',
    ]);
  });

  test('a custom action carries its resolved params and its own implementation, and is not run', () => {
    let runs = 0;
    const machine = setup({
      actions: {
        pay: (_, _params: { amount: number }) => {
          runs += 1;
        },
      },
    }).createMachine({
      context: { amount: 3 },
      on: {
        PAY: {
          actions: [
            assign({ amount: 5 }),
            { type: 'pay', params: ({ context }) => ({ amount: context.amount }) },
          ],
        },
      },
    });
    const [pay] = new Stepper(machine).send('PAY').of('action');
    expect(pay).toMatchObject({ name: 'pay', params: { amount: 5 }, session: 0 });
    expect(runs).toBe(0);
    pay?.run?.(pay.args, pay.params);
    expect(runs).toBe(1);
  });

  test('an inline function without a name is an action all the same', () => {
    const machine = createMachine({ on: { E: { actions: [() => {}, function named() {}] } } });
    expect(new Stepper(machine).send('E').asked).toEqual(['(anonymous)', 'named']);
  });

  test('enqueueActions, emit with a function, log with a label', () => {
    const machine = createMachine({
      context: { n: 1 },
      on: {
        E: {
          actions: enqueueActions(({ enqueue, check }) => {
            enqueue.assign({ n: 2 });
            if (check(({ context }) => context.n === 1)) enqueue('old');
            enqueue.emit(({ context }: { context: { n: number } }) => ({ type: `n.${context.n}` }));
            enqueue(log(({ context }) => context.n, 'n is'));
          }),
        },
      },
    });
    expect(new Stepper(machine).send('E').asked).toEqual(['old', 'log n is 2', 'emit n.2']);
  });

  test('a hint and a foreign target with a delay say so', () => {
    const machine = createMachine({
      on: {
        E: {
          actions: [
            sendTo(hint('peer/1'), { type: 'progress' }),
            sendTo(to('peer/2'), { type: 'late' }, { delay: 10, id: 'l' }),
          ],
        },
      },
    });
    const stepper = new Stepper(machine).send('E');
    expect(stepper.of('send')).toMatchObject([{ to: 'peer/1', isHint: true }]);
    expect(stepper.armed('l')).toMatchObject({ to: 'peer/2', delayMs: 10, isHint: false });
  });

  test('sending to an object that is no address and no part of the tree is refused', () => {
    const other: unknown = createActor(createMachine({}));
    const machine = createMachine({
      on: {
        E: { actions: sendTo(() => other as AnyActorRef, { type: 'x' }) },
        LATER: { actions: sendTo(() => other as AnyActorRef, { type: 'x' }, { delay: 1 }) },
      },
    });
    const stepper = new Stepper(machine);
    expect(codeOf(() => stepper.send('E'))).toBe('EVENT_REFUSED');
    expect(codeOf(() => stepper.send('LATER'))).toBe('EVENT_REFUSED');
  });

  test('a send to nobody, and to the parent of a root, throws', () => {
    const machine = createMachine({
      on: {
        E: { actions: sendTo('nobody', { type: 'x' }) },
        P: { actions: sendParent({ type: 'x' }) },
      },
    });
    const stepper = new Stepper(machine);
    expect(() => stepper.send('E')).toThrow("Unable to send event to actor 'nobody'");
    expect(() => stepper.send('P')).toThrow("Unable to send event to actor '#_parent'");
  });

  test('an event to itself is taken in the same turn, after this one', () => {
    const machine = createMachine({
      context: { seen: '' },
      on: {
        E: {
          actions: [
            sendTo(({ self }) => self, { type: 'F' }),
            assign({ seen: ({ context }) => `${context.seen}E` }),
          ],
        },
        F: { actions: assign({ seen: ({ context, event }) => `${context.seen}F${event.at}` }) },
      },
    });
    expect(new Stepper(machine).send('E').context).toEqual({ seen: 'EF2' });
  });
});

describe('events', () => {
  test('to a machine that is done change nothing and run nothing', () => {
    const machine = createMachine({
      initial: 'a',
      states: { a: { on: { END: 'z' } }, z: { type: 'final' } },
      on: { ROOT: { actions: 'rootAction' } },
    });
    const stepper = new Stepper(machine).send('END');
    const { snapshot } = stepper.tree;
    expect(stepper.status).toBe('done');
    expect(stepper.send('ROOT').asked).toEqual([]);
    expect(stepper.tree.snapshot).toBe(snapshot);
  });

  test('of XState cannot come from outside', () => {
    const stepper = new Stepper(createMachine({ on: { '*': { actions: 'any' } } }));
    for (const type of ['xstate.stop', 'xstate.init', 'xstate.done.actor.c', 'xstate.after.1.x']) {
      expect(codeOf(() => stepper.send(type))).toBe('EVENT_RESERVED');
    }
    expect(stepper.status).toBe('active');
    expect(stepper.send('xstate').asked).toEqual(['any']);
  });

  test('that nobody handles leave the very same snapshot', () => {
    const stepper = new Stepper(createMachine({}));
    const { snapshot } = stepper.tree;
    stepper.send('UNKNOWN');
    expect(stepper.tree.snapshot).toBe(snapshot);
  });

  test('without a type throw and harm nothing', () => {
    const stepper = new Stepper(createMachine({ on: { E: { actions: 'e' } } }));
    expect(() => stepper.send(undefined as never)).toThrow();
    expect(stepper.send('E').asked).toEqual(['e']);
  });

  test('in a circle end with MICROSTEPS_EXCEEDED: always, raise, self', () => {
    const machine = createMachine({
      context: { n: 0 },
      initial: 'rest',
      states: {
        rest: {
          on: {
            ALWAYS: 'there',
            RAISE: { actions: raise({ type: 'RAISE' }) },
            SELF: { actions: sendTo(({ self }) => self, { type: 'SELF' }) },
            E: { actions: 'fine' },
          },
        },
        there: { always: 'back' },
        back: { always: 'there' },
      },
    });
    const stepper = new Stepper(machine);
    for (const type of ['ALWAYS', 'RAISE', 'SELF']) {
      expect(codeOf(() => stepper.send(type))).toBe('MICROSTEPS_EXCEEDED');
      expect(stepper.value).toBe('rest');
    }
    expect(stepper.send('E').asked).toEqual(['fine']);
  });

  test("keep to the machine's own bound on microsteps when that is lower", () => {
    const machine = createMachine({
      options: { maxIterations: 3 },
      context: { n: 0 },
      on: {
        E: {
          actions: [
            assign({ n: ({ context }) => context.n + 1 }),
            enqueueActions(({ enqueue, context }) => {
              if (context.n < 5) enqueue.raise({ type: 'E' });
            }),
          ],
        },
      },
    });
    expect(codeOf(() => new Stepper(machine).send('E'))).toBe('MICROSTEPS_EXCEEDED');
  });
});

describe('memory', () => {
  test('of event types that a wildcard lets in is bounded', () => {
    const stepper = new Stepper(
      createMachine({
        type: 'parallel',
        context: { n: 0 },
        states: { x: {}, y: {} },
        on: { '*': { actions: assign({ n: ({ context }) => context.n + 1 }) } },
      }),
    );
    let asked = 0;
    const { transitions } = stepper.chart.machine.root as unknown as {
      transitions: Map<string, unknown>;
    };
    const keys = transitions.keys.bind(transitions);
    transitions.keys = () => {
      asked += 1;
      return keys();
    };
    const send = (from: number) => {
      for (let n = from; n < from + 1_000; n += 1) stepper.send(`type.${n}`);
      return asked;
    };
    const first = send(0);
    expect(send(0)).toBe(first);
    const second = send(1_000);
    expect(send(1_000)).toBe(second + (second - first));
    expect(stepper.context).toEqual({ n: 4_000 });
  });
});
