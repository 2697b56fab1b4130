/** Fetch once, with a limit and a way to cancel. */

import { fromPromise, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  actors: { load: fromPromise<number>(() => Promise.resolve(1)) },
  delays: { limit: 5_000 },
}).createMachine({
  id: 'fetchOnce',
  initial: 'idle',
  states: {
    idle: { on: { fetch: 'loading' } },
    loading: {
      tags: 'busy',
      invoke: { src: 'load', onDone: 'shown', onError: 'failed' },
      on: { cancel: 'idle' },
      after: { limit: 'failed' },
    },
    shown: { on: { fetch: 'loading' } },
    failed: { tags: 'failed', on: { fetch: 'loading' } },
  },
});

export const entry: CorpusEntry = { machine };
