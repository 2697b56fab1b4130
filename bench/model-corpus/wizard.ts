/** Wizard: three pages with checks, and a way back. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { name: string; age: number; visits: number } },
  guards: {
    isNamed: ({ event }) => event.name !== '',
    isAdult: ({ context }) => context.age >= 18,
  },
  actions: {
    keepName: assign({ name: ({ event }) => event.name }),
    keepAge: assign({ age: ({ event }) => event.age }),
    visit: assign({ visits: ({ context }) => Math.min(5, context.visits + 1) }),
  },
}).createMachine({
  id: 'wizard',
  context: { name: '', age: 0, visits: 0 },
  initial: 'name',
  states: {
    name: {
      entry: 'visit',
      on: { next: { guard: 'isNamed', target: 'age', actions: 'keepName' } },
    },
    age: { entry: 'visit', on: { next: { target: 'checking', actions: 'keepAge' }, back: 'name' } },
    checking: { always: [{ guard: 'isAdult', target: 'summary' }, { target: 'refused' }] },
    refused: { tags: 'refused', on: { back: 'age' } },
    summary: { entry: 'visit', on: { back: 'age', submit: 'done' } },
    done: { type: 'final' },
  },
});

export const entry: CorpusEntry = {
  machine,
  samples: {
    events: {
      next: [
        { name: 'ann', age: 18 },
        { name: '', age: 17 },
      ],
    },
  },
};
