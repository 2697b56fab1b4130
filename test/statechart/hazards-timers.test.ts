/**
 * Traps of time: what is armed, cancelled and fired, which delays are none, and the time
 * that is on every event.
 */

import { describe, expect, test } from 'vitest';
import { assign, cancel, createMachine, enqueueActions, raise, sendTo, setup } from 'xstate';
import { codeOf, Stepper } from './stepping.ts';

const after = (ms: number | string, state = 'a') => `xstate.after.${ms}.m.${state}`;

describe('a timer', () => {
  test('is armed on entry, cancelled on exit, and carries the event to take', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { after: { 1000: 'b' }, on: { GO: 'b' } }, b: {} },
    });
    const stepper = new Stepper(machine);
    expect(stepper.armed(after(1000))).toMatchObject({
      session: 0,
      target: 0,
      delayMs: 1000,
      event: { type: after(1000) },
    });
    expect(stepper.send('GO').asked).toEqual([`cancel ${after(1000)}`]);
  });

  test('fires with the time it was due at beside the time it is', () => {
    const machine = createMachine({
      id: 'm',
      context: { times: {} },
      initial: 'a',
      states: {
        a: {
          after: {
            10: { target: 'b', actions: assign({ times: ({ event }) => ({ ...event }) }) },
          },
        },
        b: {},
      },
    });
    const stepper = new Stepper(machine).fire(after(10), 11);
    expect(stepper.value).toBe('b');
    expect(stepper.context).toEqual({ times: { type: after(10), at: 2, dueAt: 11 } });
    expect(stepper.asked).toEqual([`cancel ${after(10)}`]);
  });

  test('of a state that is entered again is cancelled and then armed under the same id', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { after: { 5: 'b' }, on: { AGAIN: { target: 'a', reenter: true } } }, b: {} },
    });
    expect(new Stepper(machine).send('AGAIN').asked).toEqual([
      `cancel ${after(5)}`,
      `arm ${after(5)} 5`,
    ]);
  });

  test('of a state that is entered and left in one step is armed and then cancelled', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'z',
      states: { z: { on: { GO: 'a' } }, a: { after: { 5: 'b' }, always: 'b' }, b: {} },
    });
    expect(new Stepper(machine).send('GO').asked).toEqual([
      `arm ${after(5)} 5`,
      `cancel ${after(5)}`,
    ]);
  });

  test('takes its delay by name, from a function, and from a chosen id', () => {
    const machine = setup({
      delays: { fixed: 7, worked: ({ context }) => (context as { ms: number }).ms },
    }).createMachine({
      context: { ms: 9 },
      on: {
        E: {
          actions: [
            raise({ type: 'X' }, { delay: 'fixed', id: 'one' }),
            raise({ type: 'X' }, { delay: 'worked', id: 'two' }),
            raise({ type: 'X' }, { delay: ({ context }) => context.ms + 1, id: 'three' }),
            cancel('one'),
            cancel(() => 'two'),
          ],
        },
      },
    });
    const asked = ['arm one 7', 'arm two 9', 'arm three 10', 'cancel one', 'cancel two'];
    expect(new Stepper(machine).send('E').asked).toEqual(asked);
  });

  test('without an id gets a counted one, so that a run repeats', () => {
    const machine = createMachine({
      on: {
        E: {
          actions: [
            raise({ type: 'X' }, { delay: 1 }),
            sendTo(({ self }) => self, { type: 'Y' }, { delay: 2 }),
          ],
        },
        X: { actions: 'x' },
      },
    });
    const stepper = new Stepper(machine).send('E');
    expect(stepper.asked).toEqual(['arm delay.1 1', 'arm delay.2 2']);
    expect(stepper.restore().send('E').asked).toEqual(['arm delay.3 1', 'arm delay.4 2']);
    expect(stepper.fire('delay.3').asked).toEqual(['x']);
  });

  test('that several transitions share is one timer', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: {
        a: { after: { 5: [{ guard: () => false, target: 'b' }, { target: 'c' }] } },
        b: {},
        c: {},
      },
    });
    const stepper = new Stepper(machine);
    expect(stepper.asked).toEqual([`arm ${after(5)} 5`]);
    expect(stepper.fire(after(5)).value).toBe('c');
  });

  test('of a machine that ends goes with it, whatever its id', () => {
    const machine = createMachine({
      initial: 'a',
      states: { a: { on: { END: 'z' } }, z: { type: 'final' } },
      entry: raise({ type: 'X' }, { delay: 5, id: 'x' }),
    });
    expect(new Stepper(machine).send('END').asked).toEqual(['cancelAll 0']);
  });
});

describe('a delay', () => {
  function machineWith(delay: unknown) {
    return createMachine({
      id: 'm',
      initial: 'z',
      states: { z: { on: { GO: 'a' } }, a: { after: { wait: 'b' } }, b: {} },
    }).provide({ delays: { wait: delay } } as never);
  }

  test.each([Number.NaN, -5, Number.POSITIVE_INFINITY, 1e300, undefined, '5', 5n])(
    'of %s is an error and not a zero',
    (delay) => {
      const stepper = new Stepper(machineWith(() => delay));
      expect(codeOf(() => stepper.send('GO'))).toBe('DELAY_INVALID');
      expect(stepper.value).toBe('z');
    },
  );

  test.each([0, 0.5, 2 ** 31, 2 ** 31 + 1, 30 * 365 * 86_400_000])('of %s passes', (delay) => {
    expect(new Stepper(machineWith(delay)).send('GO').asked).toEqual([
      `arm ${after('wait')} ${delay}`,
    ]);
  });

  test('that nobody defined is an error in after, raise and sendTo, also when enqueued', () => {
    const misspelt = { delay: 'wiat' } as never;
    const machine = createMachine({
      initial: 'z',
      states: { z: { on: { GO: 'a' } }, a: { after: { wiat: 'z' } } },
      on: {
        RAISE: { actions: raise({ type: 'X' }, misspelt) },
        SEND: { actions: sendTo(({ self }) => self, { type: 'X' }, misspelt) },
        ENQUEUE: {
          actions: enqueueActions(({ enqueue }) => enqueue.raise({ type: 'X' }, misspelt)),
        },
        NAMED: { actions: 'named' },
        X: { actions: 'taken at once' },
      },
    }).provide({ actions: { named: raise({ type: 'X' }, misspelt) } } as never);
    const stepper = new Stepper(machine);
    for (const type of ['GO', 'RAISE', 'SEND', 'ENQUEUE', 'NAMED']) {
      expect(codeOf(() => stepper.send(type))).toBe('DELAY_INVALID');
    }
    expect(stepper.value).toBe('z');
  });

  test('named like a part of every object is as undefined as any other', () => {
    const machine = createMachine({
      initial: 'z',
      states: { z: { on: { GO: 'a' } }, a: { after: { constructor: 'z' } } },
    });
    expect(codeOf(() => new Stepper(machine).send('GO'))).toBe('DELAY_INVALID');
  });

  test('that is wrong in the initial state stops the birth', () => {
    const machine = createMachine({ initial: 'a', states: { a: { after: { wiat: 'b' } }, b: {} } });
    expect(codeOf(() => new Stepper(machine))).toBe('DELAY_INVALID');
  });
});

describe('time', () => {
  test('is on every event a machine takes: birth, outside, raised, done states, timers', () => {
    const seen = (name: string) =>
      assign({
        seen: ({ context, event }) => [...context['seen'], `${name}@${event['at']}`],
      });
    const machine = createMachine({
      context: ({ input }) => ({ seen: [`input@${(input as { at: number }).at}`] }),
      entry: seen('init'),
      initial: 'a',
      states: {
        a: {
          on: {
            E: { actions: [seen('E'), raise({ type: 'R' })] },
            R: { target: 'b', actions: seen('R') },
          },
        },
        b: {
          initial: 'only',
          states: { only: { type: 'final' } },
          onDone: { target: 'c', actions: [seen('onDone'), 'raiseQ'] as never },
        },
        c: {
          on: { Q: { actions: seen('Q') } },
          after: { 10: { target: 'd', actions: seen('after') } },
        },
        d: {},
      },
    }).provide({
      actions: { raiseQ: enqueueActions(({ enqueue }) => enqueue.raise({ type: 'Q' })) },
    });
    const stepper = new Stepper(machine, {}).send('E').fire('xstate.after.10.(machine).c', 12);
    expect(stepper.context['seen']).toEqual([
      'input@1',
      'init@1',
      'E@2',
      'R@2',
      'onDone@2',
      'Q@2',
      'after@3',
    ]);
  });

  test('of birth is not copied with the input', () => {
    const machine = createMachine({ context: ({ input }) => ({ ...(input as object) }) });
    expect(new Stepper(machine, { a: 1 }).context).toEqual({ a: 1 });
  });

  test("does not touch the machine's own event objects", () => {
    const event = Object.freeze({ type: 'R' });
    const machine = createMachine({ on: { E: { actions: raise(event) }, R: { actions: 'r' } } });
    expect(new Stepper(machine).send('E').asked).toEqual(['r']);
    expect(event).toEqual({ type: 'R' });
  });
});
