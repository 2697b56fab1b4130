/** Machines that show one thing of XState each, for the first table of docs/xstate.md. */

import { and, cancel, enqueueActions, not, or, raise, sendTo, setup, stateIn } from 'xstate';
import { type Any, add, type Case, counted, plain, took } from './reference-cases.ts';
import { childLikenesses } from './xstate-likenesses-children.ts';

export const likenesses: Readonly<Record<string, Case>> = {
  '`after`, with numbers, named delays and functions': {
    make: (log) =>
      setup({ delays: { soon: 10, later: ({ context }: Any) => context.ms } }).createMachine({
        context: { ms: 15 },
        initial: 'a',
        states: {
          a: { after: { 5: { target: 'b', actions: took(log) } } },
          b: { after: { soon: 'c' } },
          c: { after: { later: 'd' } },
          d: {},
        },
      } as never) as never,
    steps: [3, 3, 10, 10, 10],
  },
  '`always`, guards, `and`, `or`, `not`, `stateIn`': {
    make: () =>
      plain({
        context: { n: 0 },
        type: 'parallel',
        states: {
          one: {
            initial: 'low',
            states: {
              low: { always: { guard: ({ context }: Any) => context.n > 1, target: 'high' } },
              high: {},
            },
          },
          two: {
            initial: 'off',
            states: {
              off: {
                on: {
                  TRY: {
                    guard: and([stateIn({ one: 'high' }), not(() => false), or([() => true])]),
                    target: 'on',
                  },
                },
              },
              on: {},
            },
          },
        },
        on: { UP: { actions: counted } },
      }),
    steps: ['TRY', 'UP', 'UP', 'TRY'],
  },
  '`raise`, `cancel`, delayed `sendTo`': {
    make: (log) =>
      plain({
        context: { n: 0 },
        on: {
          RAISE: {
            actions: [raise({ type: 'UP' }), raise({ type: 'UP' }, { id: 'x', delay: 20 })],
          },
          CANCEL: { actions: cancel('x') },
          LATER: { actions: sendTo(({ self }: Any) => self, { type: 'UP' }, { delay: 10 }) },
          UP: { actions: [counted, took(log)] },
        },
      }),
    steps: ['RAISE', 10, 'CANCEL', 20, 'RAISE', 25, 'LATER', 5, 10],
  },
  '`enqueueActions` with `check`': {
    make: (log) =>
      plain({
        context: { n: 0 },
        on: {
          GO: {
            actions: enqueueActions(({ enqueue, check }: Any) => {
              enqueue(add(1));
              if (check(({ context }: Any) => context.n < 2)) enqueue.raise({ type: 'UP' });
            }) as Any,
          },
          UP: { actions: [add(10), took(log)] },
        },
      }),
    steps: ['GO', 'GO'],
  },
  'parallel states, `onDone`, final states and `output`': {
    make: () => {
      const region = (type: string) => ({
        initial: 'on',
        states: {
          on: { on: { [type]: 'off' } },
          off: { type: 'final', output: ({ context }: Any) => `${type} ${context.n}` },
        },
      });
      return plain({
        context: { n: 7, result: null },
        initial: 'both',
        states: {
          both: {
            type: 'parallel',
            states: { one: region('ONE'), two: region('TWO') },
            onDone: { target: 'over', actions: counted },
          },
          over: {},
        },
      });
    },
    steps: ['ONE', 'TWO'],
  },
  'two regions whose children end in one step': {
    make: (log) => {
      const region = (id: string) => ({
        initial: 'on',
        states: { on: { invoke: { src: 'kid', id, onDone: 'off' } }, off: { type: 'final' } },
      });
      return plain(
        {
          context: { n: 0 },
          initial: 'both',
          states: {
            both: {
              type: 'parallel',
              states: { one: region('one'), two: region('two') },
              onDone: { target: 'over', actions: took(log) },
            },
            over: {},
          },
          on: {
            END: { actions: [sendTo('one', { type: 'END' }), sendTo('two', { type: 'END' })] },
          },
        },
        {
          kid: plain({
            initial: 'on',
            states: { on: { on: { END: 'off' } }, off: { type: 'final' } },
          }),
        },
      );
    },
    steps: [1, 'END'],
  },
  'shallow and deep history': {
    make: () =>
      plain({
        initial: 'in',
        states: {
          in: {
            initial: 'a',
            on: { OUT: 'out' },
            states: {
              a: { on: { NEXT: 'b' } },
              b: { initial: 'x', states: { x: { on: { NEXT: 'y' } }, y: {} } },
              shallow: { type: 'history' },
              deep: { type: 'history', history: 'deep' },
            },
          },
          out: { on: { SHALLOW: 'in.shallow', DEEP: 'in.deep' } },
        },
      }),
    steps: ['OUT', 'DEEP', 'NEXT', 'NEXT', 'OUT', 'DEEP', 'OUT', 'SHALLOW'],
  },
  'wildcards: `*` and `order.*`': {
    make: (log) =>
      plain({
        context: { n: 0 },
        on: { 'order.*': { actions: add(1) }, '*': { actions: [add(10), took(log)] } },
      }),
    steps: ['order.paid', 'order.item.added', 'order', 'anything'],
  },
  '`reenter`, and transitions without a target': {
    make: (log) =>
      plain({
        context: { n: 0 },
        initial: 'a',
        states: {
          a: {
            entry: [counted, took(log)],
            after: { 10: 'b' },
            on: { STAY: { actions: took(log) }, AGAIN: { target: 'a', reenter: true } },
          },
          b: {},
        },
      }),
    steps: [8, 'STAY', 'AGAIN', 8, 5],
  },
  ...childLikenesses,
};
