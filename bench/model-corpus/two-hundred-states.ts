/** A ring of two hundred states with shortcuts. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({}).createMachine({
  id: 'ring',
  initial: 's0',
  states: Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [
      `s${index}`,
      {
        ...(index % 50 === 0 && { tags: `mark${index}` }),
        on: {
          next: `s${(index + 1) % 200}`,
          ...(index % 20 === 0 && { jump: `s${(index + 40) % 200}` }),
        },
      },
    ]),
  ),
});

export const entry: CorpusEntry = { machine };
