/** A region that nothing leaves, beside one that works. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({ delays: { tick: 1_000 } }).createMachine({
  id: 'dead',
  type: 'parallel',
  states: {
    works: {
      initial: 'a',
      states: { a: { on: { go: 'b' }, after: { tick: 'b' } }, b: { tags: 'b', on: { go: 'a' } } },
    },
    stuck: { initial: 'open', states: { open: { on: { shut: 'shut' } }, shut: { tags: 'shut' } } },
  },
});

export const entry: CorpusEntry = { machine };
