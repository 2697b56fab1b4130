/** Samples that nobody gave: inputs of depth, payloads, and what guards look at, learned from what a machine reads. */

import { expect, test } from 'vitest';
import { assign, fromPromise, raise, setup } from 'xstate';
import * as z from 'zod';
import { Suite } from '../../testing/model/suite.ts';

interface DeepInput {
  readonly limits: { readonly wait: { readonly ms: number } };
  readonly items: readonly string[];
}

test('an input is learned however deep it is read', () => {
  const machine = setup({
    types: { input: {} as DeepInput, context: {} as { waitMs: number; names: string } },
  }).createMachine({
    id: 'deep',
    context: ({ input }) => ({
      waitMs: input.limits.wait.ms,
      names: input.items.map((item) => item).join(),
    }),
    initial: 'a',
    states: { a: { on: { go: 'b' } }, b: {} },
  });
  const { samples, graph } = new Suite(machine);
  expect(samples.inputs).toEqual({ '': { limits: { wait: { ms: 1 } }, items: ['a'] } });
  expect(graph.situations.size).toBe(2);
});

test('payloads are learned where a state raises an event as it is entered', () => {
  const machine = setup({}).createMachine({
    id: 'raising',
    initial: 'a',
    states: {
      a: {
        entry: raise({ type: 'woken' }),
        on: { pay: { guard: ({ event }) => event.amount > 100, target: 'b' } },
      },
      b: {},
    },
  });
  const { samples, graph } = new Suite(machine);
  expect(samples.learned).toEqual(['pay']);
  expect([...graph.situations.values()].map(({ snapshot }) => snapshot?.value)).toContain('b');
});

test('what a guard looks at after a rejection tells situations apart', () => {
  const machine = setup({
    types: { context: {} as { tries: number } },
    actors: { load: fromPromise(() => Promise.resolve(1)) },
    guards: { hasTries: ({ context }) => context.tries < 2 },
    actions: { count: assign({ tries: ({ context }) => context.tries + 1 }) },
  }).createMachine({
    id: 'tries',
    context: { tries: 0 },
    initial: 'loading',
    states: {
      loading: {
        invoke: {
          src: 'load',
          onDone: 'done',
          onError: [
            { guard: 'hasTries', target: 'loading', reenter: true, actions: 'count' },
            { target: 'failed' },
          ],
        },
      },
      done: { type: 'final' },
      failed: { type: 'final' },
    },
  });
  const { graph } = new Suite(machine);
  const values = [...graph.situations.values()].map(({ snapshot }) => snapshot?.value);
  expect(values).toContain('failed');
});

test('payloads satisfy the validators of their events, and come to their bounds', () => {
  const machine = setup({
    types: {
      context: {} as { last: string },
      events: {} as { type: string; how: string; cents: number },
    },
  }).createMachine({
    id: 'paying',
    context: { last: '' },
    initial: 'open',
    states: {
      open: {
        on: {
          pay: [
            { guard: ({ event }) => event.how === 'card' && event.cents === 5_000, target: 'most' },
            { guard: ({ event }) => event.cents === 300, target: 'least' },
          ],
          never: 'lost',
        },
      },
      most: {},
      least: {},
      lost: {},
    },
  });
  const pay = z.object({
    type: z.literal('pay'),
    how: z.enum(['card', 'cash']),
    cents: z.number().int().min(300).max(5_000),
    address: z.object({ street: z.string().min(3) }),
    note: z.string().optional(),
  });
  const validate = { pay, never: z.never() } as never;
  const { samples, graph } = new Suite(machine, { samples: { validate } });
  const events = samples.eventsAt({}, 0);
  expect(events.filter((event) => !pay.safeParse(event).success)).toEqual([]);
  const reached = [...graph.situations.values()].map(({ snapshot }) => snapshot?.value);
  // What no payload satisfies is not sent at all.
  expect(reached.sort()).toEqual(['least', 'most', 'open']);
});

test('an event whose validator answers later, or throws, is not sent', () => {
  const machine = setup({}).createMachine({
    id: 'late',
    initial: 'a',
    states: { a: { on: { go: 'b', run: 'b' } }, b: {} },
  });
  const standard = (run: () => unknown) => ({ '~standard': { validate: run } });
  const validate = {
    go: standard(() => Promise.reject(new Error('later'))),
    run: standard(() => {
      throw new Error('never');
    }),
  } as never;
  const { graph } = new Suite(machine, { samples: { validate } });
  expect(graph.situations.size).toBe(1);
});
