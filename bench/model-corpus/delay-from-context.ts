/** Delay from the context: each report says how long the next may take. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { limitMs: number } },
  delays: { limit: ({ context }) => context.limitMs },
  actions: {
    longer: assign({ limitMs: ({ context }) => Math.min(8_000, context.limitMs * 2) }),
    shorter: assign({ limitMs: 1_000 }),
  },
}).createMachine({
  id: 'contextDelay',
  context: { limitMs: 1_000 },
  initial: 'waiting',
  states: {
    waiting: {
      on: {
        slow: { target: 'waiting', reenter: true, actions: 'longer' },
        fast: { target: 'waiting', reenter: true, actions: 'shorter' },
      },
      after: { limit: 'silent' },
    },
    silent: { tags: 'silent', on: { fast: { target: 'waiting', actions: 'shorter' } } },
  },
});

export const entry: CorpusEntry = { machine };
