/** Two loads at once; both must come. */

import { fromPromise, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  actors: {
    left: fromPromise<number>(() => Promise.resolve(1)),
    right: fromPromise<number>(() => Promise.resolve(2)),
  },
  delays: { limit: 8_000 },
}).createMachine({
  id: 'both',
  initial: 'loading',
  states: {
    loading: {
      type: 'parallel',
      onDone: 'ready',
      after: { limit: 'failed' },
      states: {
        left: {
          initial: 'busy',
          states: {
            busy: { invoke: { id: 'left', src: 'left', onDone: 'done', onError: '#both.failed' } },
            done: { type: 'final' },
          },
        },
        right: {
          initial: 'busy',
          states: {
            busy: { invoke: { id: 'right', src: 'right', onDone: 'done', onError: 'again' } },
            again: { on: { retry: 'busy' } },
            done: { type: 'final' },
          },
        },
      },
    },
    ready: { tags: 'ready', on: { reload: 'loading' } },
    failed: { tags: 'failed', on: { reload: 'loading' } },
  },
});

export const entry: CorpusEntry = { machine };
