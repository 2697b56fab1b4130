/** The machine of a book: what it takes is in its context, and a task makes entries of its own. */

import { assign, setup } from 'xstate';
import type { Timed } from '../../runtime/machine.ts';

export interface TaskParams {
  readonly task: string;
  readonly pages: number;
}

export type BookEvent =
  | { readonly type: 'entry.made'; readonly entry: string }
  | ({ readonly type: 'task.given' } & TaskParams);

export const bookMachine = setup({
  types: { context: {} as { readonly made: readonly string[] }, events: {} as Timed<BookEvent> },
  actions: {
    note: assign({
      made: ({ context, event }) => [
        ...context.made,
        event.type === 'entry.made' ? event.entry : event.task,
      ],
    }),
    makePages: (_, __: TaskParams) => {},
  },
}).createMachine({
  id: 'book',
  context: { made: [] },
  on: {
    'entry.made': { actions: 'note' },
    'task.given': {
      actions: [
        'note',
        {
          type: 'makePages',
          params: ({ event: { task, pages } }) => ({ task, pages }),
        },
      ],
    },
  },
});
