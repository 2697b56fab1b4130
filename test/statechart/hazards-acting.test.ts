/**
 * Promises, callbacks and observables: they never run inside a step. A stand-in holds
 * their place, effects start, tell and stop the real ones, results are fenced by session.
 */

import { describe, expect, test } from 'vitest';
import {
  assign,
  forwardTo,
  fromCallback,
  fromEventObservable,
  fromObservable,
  fromPromise,
  sendTo,
} from 'xstate';
import { type Loose, machineOf, Stepper, see } from './stepping.ts';

let runs = 0;
const run = () => {
  runs += 1;
  throw new Error('it ran inside a step');
};
const actors = {
  promise: fromPromise(run),
  callback: fromCallback(run),
  observable: fromObservable(run),
  events: fromEventObservable(run),
};

const keep = assign({
  got: ({ event }: { event: Loose }) => event['output'] ?? event['error'],
} as never);

const machine = machineOf(
  {
    context: { got: null, n: 3, seen: [] },
    initial: 'idle',
    states: {
      idle: { on: { GO: 'busy' } },
      busy: {
        invoke: {
          src: 'promise',
          id: 'p',
          input: ({ context }: { context: Loose }) => ({ n: context['n'] }),
          onDone: { target: 'done', actions: keep },
          onError: { target: 'failed', actions: keep },
        },
        on: {
          AGAIN: { target: 'busy', reenter: true },
          LEAVE: 'idle',
          '*': { actions: forwardTo('p') },
        },
      },
      done: {},
      failed: {},
    },
  },
  actors,
);

describe('a promise', () => {
  test('is started by an effect with its input and its own logic, and does not run here', () => {
    const stepper = new Stepper(machine).send('GO');
    expect(stepper.started('p')).toMatchObject({
      session: 1,
      input: { n: 3 },
      logic: actors.promise,
    });
    expect(stepper.asked).toEqual(['start p']);
    expect(runs).toBe(0);
  });

  test('gives its result as the event that XState would send, with the time', () => {
    const stepper = new Stepper(machine).send('GO');
    expect(stepper.settle(1, { type: 'done', output: 42 })).toBe(true);
    expect([stepper.value, stepper.context['got']]).toEqual(['done', 42]);
    expect(stepper.asked).toEqual(['cancelAll 1']);
    expect(stepper.tree.hasChildren).toBe(false);
  });

  test('gives its error so too; without onError the turn fails', () => {
    const stepper = new Stepper(machine).send('GO');
    expect(stepper.settle(1, { type: 'error', error: 'no' })).toBe(true);
    expect([stepper.value, stepper.context['got']]).toEqual(['failed', 'no']);
    const bare = new Stepper(machineOf({ invoke: { src: 'promise', id: 'p' } }, actors));
    expect(() => bare.settle(1, { type: 'error', error: new Error('rejected') })).toThrow(
      'rejected',
    );
    expect(bare.status).toBe('active');
  });

  test('is stopped when its state is left, and its late result is refused', () => {
    const stepper = new Stepper(machine).send('GO').send('LEAVE');
    expect(stepper.asked).toEqual(['stop 1', 'cancelAll 1']);
    expect(stepper.settle(1, { type: 'done', output: 42 })).toBe(false);
    expect([stepper.value, stepper.asked]).toEqual(['idle', []]);
  });

  test('is another session when its state is entered again: the first result is stale', () => {
    const stepper = new Stepper(machine).send('GO').send('AGAIN');
    expect(stepper.asked).toEqual(['stop 1', 'cancelAll 1', 'start p']);
    expect(stepper.settle(1, { type: 'done', output: 'old' })).toBe(false);
    expect(stepper.settle(2, { type: 'done', output: 'new' })).toBe(true);
    expect(stepper.context['got']).toBe('new');
  });

  test('settles once', () => {
    const two = machineOf(
      { context: { seen: [] }, invoke: { src: 'promise', id: 'p', onDone: { actions: see } } },
      actors,
    );
    const stepper = new Stepper(two);
    expect(stepper.settle(1, { type: 'done', output: 1 })).toBe(true);
    expect(stepper.settle(1, { type: 'done', output: 2 })).toBe(false);
    expect(stepper.context).toEqual({ seen: ['xstate.done.actor.p@2'] });
    expect(stepper.restore().settle(1, { type: 'done', output: 3 })).toBe(false);
  });

  test('cannot be settled by an event from outside that is forwarded to it', () => {
    const stepper = new Stepper(machine).send('GO');
    const forged = { result: { type: 'done', output: 'forged' }, output: 'forged', data: 'forged' };
    for (const type of ['escapement.outcome', 'escapement.result']) {
      expect(stepper.send(type, forged).asked).toEqual([`tell ${type}`]);
    }
    expect(stepper.value).toBe('busy');
  });

  test('of a state that is entered and left in one step never starts', () => {
    const brief = machineOf(
      {
        initial: 'a',
        states: {
          a: { on: { GO: 'b' } },
          b: { invoke: { src: 'promise', id: 'p' }, always: 'c' },
          c: {},
        },
      },
      actors,
    );
    expect(new Stepper(brief).send('GO').asked).toEqual([]);
  });
});

describe('a callback', () => {
  const parent = machineOf(
    {
      context: { seen: [] },
      initial: 'on',
      on: { PING: { actions: see } },
      states: {
        on: {
          invoke: { src: 'callback', id: 'k', input: { port: 80 } },
          on: { TELL: { actions: sendTo('k', { type: 'WORD' }) }, LEAVE: 'off' },
        },
        off: { entry: sendTo(({ self }) => self, { type: 'PING' }) },
      },
    },
    actors,
  );

  test('is started, told and stopped by effects; what it sends back is an event', () => {
    const stepper = new Stepper(parent);
    expect(stepper.started('k').input).toEqual({ port: 80 });
    const [told] = stepper.send('TELL').of('tellChild');
    expect(told).toEqual({ type: 'tellChild', session: 1, event: { type: 'WORD', at: 2 } });
    expect(stepper.settle(1, { type: 'event', event: { type: 'PING' } })).toBe(true);
    expect(stepper.context).toEqual({ seen: ['PING@3'] });
    expect(stepper.send('LEAVE').asked).toEqual(['stop 1', 'cancelAll 1']);
    expect(stepper.settle(1, { type: 'event', event: { type: 'PING' } })).toBe(false);
  });

  test('lives on under its number after a restore, and is named among the running', () => {
    const stepper = new Stepper(parent).restore();
    expect(stepper.asked).toEqual([]);
    expect(stepper.tree.runningChildren()).toMatchObject([
      { session: 1, id: 'k', input: { port: 80 }, logic: actors.callback },
    ]);
    expect(stepper.send('TELL').asked).toEqual(['tell WORD']);
  });
});

describe('an observable', () => {
  test.each(['observable', 'events'])('of kind %s passes values on and completes', (src) => {
    const parent = machineOf(
      {
        context: { seen: [] },
        on: { VALUE: { actions: see } },
        invoke: { src, id: 'o', onSnapshot: { actions: see }, onDone: { actions: see } },
      },
      actors,
    );
    const stepper = new Stepper(parent);
    stepper.settle(1, { type: 'next', context: 7 });
    expect(stepper.child('o')?.context).toBe(7);
    stepper.settle(1, { type: 'event', event: { type: 'VALUE' } });
    stepper.settle(1, { type: 'done', output: undefined });
    expect(stepper.context).toEqual({
      seen: ['xstate.snapshot.o@1', 'xstate.snapshot.o@2', 'VALUE@3', 'xstate.done.actor.o@4'],
    });
  });
});
