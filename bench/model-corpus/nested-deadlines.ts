/** Nested deadlines: a step, a phase and the whole each have their own. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({ delays: { step: 1_000, phase: 3_000, whole: 10_000 } }).createMachine({
  id: 'nested',
  initial: 'whole',
  states: {
    whole: {
      initial: 'phase',
      after: { whole: 'over' },
      states: {
        phase: {
          initial: 'step',
          after: { phase: 'late' },
          states: {
            step: {
              on: { done: { target: 'step', reenter: true }, finish: 'finished' },
              after: { step: 'slow' },
            },
            slow: { tags: 'slow', on: { done: 'step' } },
            finished: { on: { again: '#nested.whole.phase' } },
          },
        },
        late: { tags: 'late', on: { again: 'phase' } },
      },
    },
    over: { type: 'final', tags: 'over' },
  },
});

export const entry: CorpusEntry = { machine };
