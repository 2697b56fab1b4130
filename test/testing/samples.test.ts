/** Samples that nobody gave: inputs of depth, payloads, and what guards look at, learned from what a machine reads. */

import { expect, test } from 'vitest';
import { assign, fromPromise, raise, setup } from 'xstate';
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
