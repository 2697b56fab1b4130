/** Ten regions of two states: a thousand configurations. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const region = (name: string) => ({
  initial: 'off',
  states: { off: { on: { [name]: 'on' } }, on: { tags: name, on: { [name]: 'off' } } },
});
const machine = setup({}).createMachine({
  id: 'switches',
  type: 'parallel',
  states: Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`s${index}`, region(`flip${index}`)]),
  ),
});

export const entry: CorpusEntry = { machine };
