/** Fetch that is tried three times, and keeps what came. */

import { assign, fromPromise, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { tries: number; got: number } },
  actors: { load: fromPromise<number>(() => Promise.resolve(1)) },
  delays: { pause: 2_000 },
  guards: { hasTries: ({ context }) => context.tries < 2, isBig: ({ event }) => event.output > 10 },
  actions: {
    count: assign({ tries: ({ context }) => context.tries + 1 }),
    keep: assign({ got: ({ event }) => event.output }),
  },
}).createMachine({
  id: 'fetchRetry',
  context: { tries: 0, got: 0 },
  initial: 'loading',
  states: {
    loading: {
      invoke: {
        src: 'load',
        onDone: [
          { guard: 'isBig', target: 'big', actions: 'keep' },
          { target: 'small', actions: 'keep' },
        ],
        onError: [{ guard: 'hasTries', target: 'pausing', actions: 'count' }, { target: 'failed' }],
      },
    },
    pausing: { after: { pause: 'loading' }, on: { hurry: 'loading' } },
    small: { on: { reload: { target: 'loading', actions: assign({ tries: 0 }) } } },
    big: { tags: 'big', on: { reload: { target: 'loading', actions: assign({ tries: 0 }) } } },
    failed: { type: 'final', tags: 'failed' },
  },
});

export const entry: CorpusEntry = { machine, samples: { outputs: { load: [5, 50] } } };
