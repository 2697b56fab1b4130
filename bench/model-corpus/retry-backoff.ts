/** Retry with exponential backoff, at most four tries. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { tries: number } },
  delays: { backoff: ({ context }) => 1_000 * 2 ** context.tries, tryLimit: 5_000 },
  guards: { hasTries: ({ context }) => context.tries < 3 },
  actions: { count: assign({ tries: ({ context }) => context.tries + 1 }) },
}).createMachine({
  id: 'retry',
  context: { tries: 0 },
  initial: 'trying',
  states: {
    trying: {
      tags: 'busy',
      on: { succeeded: 'done', failed: 'deciding' },
      after: { tryLimit: 'deciding' },
    },
    deciding: { always: [{ guard: 'hasTries', target: 'waiting' }, { target: 'givenUp' }] },
    waiting: {
      after: { backoff: { target: 'trying', actions: 'count' } },
      on: { cancel: 'givenUp' },
    },
    done: { type: 'final' },
    givenUp: { type: 'final', tags: 'failed' },
  },
});

export const entry: CorpusEntry = { machine };
