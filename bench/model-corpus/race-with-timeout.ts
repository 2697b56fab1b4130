/** A callback that may say something, against a limit. */

import { fromCallback, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  actors: { listen: fromCallback(() => {}) },
  delays: { limit: 4_000 },
}).createMachine({
  id: 'race',
  initial: 'listening',
  states: {
    listening: {
      invoke: { id: 'ear', src: 'listen', onError: 'deaf' },
      on: { heard: 'answering', stop: 'off' },
      after: { limit: 'silent' },
    },
    answering: { on: { said: 'listening' } },
    silent: { tags: 'silent', on: { again: 'listening' } },
    deaf: { tags: 'deaf' },
    off: { type: 'final' },
  },
});

export const entry: CorpusEntry = { machine };
