/** Chains of transient states, which tools that look at macrosteps never see. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { kind: number; passed: number } },
  guards: {
    isOne: ({ context }) => context.kind === 1,
    isTwo: ({ context }) => context.kind === 2,
  },
  actions: {
    keep: assign({ kind: ({ event }) => event.kind }),
    pass: assign({ passed: ({ context }) => context.passed + 1 }),
  },
}).createMachine({
  id: 'chain',
  context: { kind: 0, passed: 0 },
  initial: 'idle',
  states: {
    idle: { on: { sort: { target: 'first', actions: 'keep' } } },
    first: { always: [{ guard: 'isOne', target: 'one', actions: 'pass' }, { target: 'second' }] },
    second: { entry: 'pass', always: [{ guard: 'isTwo', target: 'two' }, { target: 'third' }] },
    third: { always: { target: 'other', actions: 'pass' } },
    one: { tags: 'one', on: { reset: 'idle' } },
    two: { tags: 'two', on: { reset: 'idle' } },
    other: { tags: 'other', on: { reset: 'idle' } },
  },
});

export const entry: CorpusEntry = {
  machine,
  samples: { events: { sort: [{ kind: 1 }, { kind: 2 }, { kind: 3 }] } },
};
