/** Machines that keep references to each other, in contexts and in input; and routes. */

import { assign, fromCallback, fromPromise, sendParent, sendTo, stopChild } from 'xstate';
import { type Any, type Case, counted, noted, plain, worker } from './reference-cases.ts';

export const keptReferences: Readonly<Record<string, Case>> = {
  'the parent in the input of a machine': {
    make: () =>
      plain(
        {
          context: { n: 0 },
          invoke: { src: 'kid', id: 'kid', input: ({ self }: Any) => ({ parent: self }) },
          on: {
            GO: { actions: sendTo('kid', { type: 'GO' }) },
            PONG: { actions: counted },
          },
        },
        {
          kid: plain({
            context: ({ input }: Any) => ({ parent: input.parent, n: 0 }),
            on: {
              GO: { actions: sendTo(({ context }: Any) => context.parent, { type: 'PONG' }) },
              PONG: { actions: counted },
            },
          }),
        },
      ),
    steps: ['GO', 'GO', 'GO'],
  },
  'the parent and a sibling in the input of a callback': {
    hasActing: true,
    make: () =>
      plain(
        {
          context: ({ spawn }: Any) => ({ n: 0, kid: spawn('kid', { id: 'kid' }) }),
          initial: 'running',
          states: {
            running: {
              invoke: {
                src: 'acting',
                id: 'acting',
                input: ({ self, context }: Any) => ({ deep: [{ parent: self }], kid: context.kid }),
              },
            },
          },
          on: { GO: { actions: sendTo('acting', { type: 'GO' }) }, PONG: { actions: counted } },
        },
        {
          kid: plain({ context: { n: 0 }, on: { PONG: { actions: counted } } }),
          acting: fromCallback(({ input, receive }: Any) => {
            receive(() => {
              input.deep[0].parent.send({ type: 'PONG' });
              input.kid.send({ type: 'PONG' });
            });
          }),
        },
      ),
    steps: ['GO', 'GO'],
  },
  'a sibling, the parent and itself in the context of a child': {
    make: () =>
      plain(
        {
          context: { n: 0 },
          initial: 'on',
          states: {
            on: {
              entry: assign(({ spawn, self }: Any) => {
                const first = spawn('kid', { id: 'first', input: { others: [self] } });
                const second = spawn('kid', { id: 'second', input: { others: [first, self] } });
                return { first, second };
              }),
            },
          },
          on: {
            FIRST: { actions: sendTo('first', { type: 'GO' }) },
            SECOND: { actions: sendTo('second', { type: 'GO' }) },
            PONG: { actions: counted },
          },
        },
        {
          kid: plain({
            context: ({ input, self }: Any) => ({ others: [...input.others, self], n: 0 }),
            on: {
              GO: {
                actions: ({ context }: Any) => {
                  for (const other of context.others) other.send({ type: 'PONG' });
                },
              },
              PONG: { actions: counted },
            },
          }),
        },
      ),
    steps: ['FIRST', 'SECOND', 'SECOND', 'FIRST'],
  },
  'the root itself in its own context': {
    make: () =>
      plain({
        context: ({ self }: Any) => ({ me: self, n: 0 }),
        on: {
          GO: { actions: sendTo(({ context }: Any) => context.me, { type: 'PONG' }) },
          CALL: { actions: ({ context }: Any) => context.me.send({ type: 'PONG' }) },
          PONG: { actions: counted },
        },
      }),
    steps: ['GO', 'CALL', 'GO'],
  },
  'a child that is gone, and another one under its id': {
    make: (log) =>
      plain(
        {
          context: { n: 0, kid: null, GO: 0 },
          entry: assign({ kid: ({ spawn }: Any) => spawn('kid', { id: 'kid' }) }),
          on: {
            END: { actions: stopChild('kid') },
            AGAIN: { actions: assign(({ spawn }: Any) => void spawn('kid', { id: 'kid' })) },
            SEND: { actions: sendTo(({ context }: Any) => context.kid, { type: 'GO' }) },
            CALL: { actions: ({ context }: Any) => context.kid.send({ type: 'GO' }) },
            GO: { actions: [counted, noted(log, 'root took GO')] },
          },
        },
        { kid: plain({ context: { n: 0 }, on: { GO: { actions: counted } } }) },
      ),
    steps: ['SEND', 'CALL', 'END', 'SEND', 'CALL', 'AGAIN', 'SEND', 'CALL'],
  },
  'two regions that invoke under one id, of which one is left': {
    make: (log) => {
      const region = (more: object) => ({
        initial: 'running',
        states: {
          running: {
            invoke: { src: 'worker', id: 'worker', onDone: 'over' },
            on: { WORKER_OVER: 'told', ...more },
          },
          told: {},
          over: {},
          left: { on: { GO: { actions: sendTo('worker', { type: 'GO' }) } } },
        },
      });
      return plain(
        {
          type: 'parallel',
          context: ({ self }: Any) => ({ n: 0, self }),
          states: { one: region({ LEAVE: 'left' }), two: region({}) },
        },
        {
          worker: plain(
            {
              context: { n: 0 },
              initial: 'waiting',
              states: {
                waiting: {
                  invoke: { src: 'worker', id: 'below' },
                  after: { 30: { actions: [counted, sendTo('below', { type: 'GO' })] } },
                  on: { WORKER_OVER: 'over' },
                },
                over: { entry: sendParent({ type: 'WORKER_OVER' }), type: 'final' },
              },
            },
            { worker: worker(log) },
          ),
        },
      );
    },
    steps: [10, 'LEAVE', 10, 30, 60],
  },
  'two promises under one id': {
    hasActing: true,
    make: () => {
      const region = {
        initial: 'running',
        states: {
          running: {
            invoke: { src: 'load', id: 'load', onDone: 'done' },
            on: { CANCEL: 'canceled' },
          },
          done: {},
          canceled: {},
        },
      };
      const { on: _, ...stays } = region.states.running;
      const other = { ...region, states: { ...region.states, running: stays } };
      return plain(
        { type: 'parallel', states: { one: region, two: other } },
        { load: fromPromise(() => new Promise((resolve) => setImmediate(resolve))) },
      );
    },
    steps: ['CANCEL', 1],
  },
  'a route, to the root and to a child': {
    make: () => {
      const routed = {
        initial: 'a',
        context: { isOpen: false },
        on: { OPEN: { actions: assign({ isOpen: true } as never) } },
        states: {
          a: {},
          b: { id: 'b', route: {} },
          c: { id: 'c', route: { guard: ({ context }: Any) => context.isOpen } },
        },
      };
      return plain(
        {
          ...routed,
          invoke: { src: 'kid', id: 'kid' },
          on: {
            ...routed.on,
            KID: {
              actions: [
                sendTo('kid', { type: 'OPEN' }),
                sendTo('kid', { type: 'xstate.route', to: '#c' } as never),
              ],
            },
          },
        },
        { kid: plain(routed) },
      );
    },
    steps: [
      { type: 'xstate.route', to: '#c' },
      { type: 'xstate.route', to: '#b' },
      'OPEN',
      { type: 'xstate.route', to: '#c' },
      { type: 'xstate.route', to: '#nowhere' },
      'KID',
    ],
  },
};
