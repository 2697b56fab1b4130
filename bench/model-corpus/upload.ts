/** Upload in parts with a pause, and a checksum at the end. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { parts: number } },
  delays: { stall: 15_000 },
  guards: { isLast: ({ context }) => context.parts === 3 },
  actions: { count: assign({ parts: ({ context }) => context.parts + 1 }) },
}).createMachine({
  id: 'upload',
  context: { parts: 0 },
  initial: 'sending',
  states: {
    sending: {
      on: {
        'part.sent': [
          { guard: 'isLast', target: 'checking', actions: 'count' },
          { target: 'sending', reenter: true, actions: 'count' },
        ],
        pause: 'paused',
      },
      after: { stall: 'stalled' },
    },
    paused: { on: { resume: 'sending', abort: 'aborted' } },
    stalled: { tags: 'stalled', on: { resume: 'sending', abort: 'aborted' } },
    checking: {
      on: {
        'sum.right': 'done',
        'sum.wrong': { target: 'sending', actions: assign({ parts: 0 }) },
      },
    },
    done: { type: 'final', tags: 'done' },
    aborted: { type: 'final' },
  },
});

export const entry: CorpusEntry = { machine };
