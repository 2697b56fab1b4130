/** Circuit breaker: opens after three failures, tries once after a rest. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { failures: number; refused: number } },
  delays: { rest: 30_000, forgetting: 10_000 },
  guards: { isLast: ({ context }) => context.failures >= 2 },
  actions: {
    count: assign({ failures: ({ context }) => context.failures + 1 }),
    reset: assign({ failures: 0 }),
    refuse: assign({ refused: ({ context }) => Math.min(9, context.refused + 1) }),
  },
}).createMachine({
  id: 'breaker',
  context: { failures: 0, refused: 0 },
  initial: 'closed',
  states: {
    closed: {
      on: {
        failed: [{ guard: 'isLast', target: 'open', actions: 'count' }, { actions: 'count' }],
        succeeded: { actions: 'reset' },
      },
      after: { forgetting: { target: 'closed', reenter: true, actions: 'reset' } },
    },
    open: { tags: 'refusing', on: { called: { actions: 'refuse' } }, after: { rest: 'halfOpen' } },
    halfOpen: { on: { failed: 'open', succeeded: { target: 'closed', actions: 'reset' } } },
  },
});

export const entry: CorpusEntry = { machine };
