/** A machine that keeps a table, and a store that counts what is written, for tests of tables. */

import { assign, setup } from 'xstate';
import { reply, Table } from '../../runtime/machine.ts';
import type { Group, Settle } from '../../runtime/ports/store.ts';
import { StoreInFront } from '../store-in-front.ts';

export interface Item {
  readonly count: number;
}

type StockEvent =
  | { type: 'put'; name: string; count: number }
  | { type: 'take'; name: string }
  | { type: 'fail'; name: string }
  | { type: 'misplace'; where: 'deeper' | 'rows' }
  | { type: 'clear' }
  | { type: 'end' }
  | { type: 'sum' };

interface StockContext {
  readonly items: Table<Item>;
  readonly seen: Table<number>;
  readonly other: unknown;
}

export const items = (count: number): Record<string, Item> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`item ${index}`, { count: 1 }]));

export const stockMachine = setup({
  types: {
    context: {} as StockContext,
    /** How many items it begins with. */
    input: {} as { count: number; text?: string },
    events: {} as StockEvent,
  },
}).createMachine({
  id: 'stock',
  context: ({ input }) => ({
    items: Table.of(items(input.count)),
    seen: Table.of<number>(),
    other: null,
  }),
  initial: 'open',
  states: {
    open: {
      on: {
        put: {
          actions: assign({
            items: ({ context, event: { name, count } }) => context.items.with(name, { count }),
            seen: ({ context, event: { name } }) =>
              context.seen.with(name, (context.seen.get(name) ?? 0) + 1),
          }),
        },
        take: {
          actions: assign({ items: ({ context, event }) => context.items.without(event.name) }),
        },
        fail: {
          actions: [
            assign({ items: ({ context, event }) => context.items.without(event.name) }),
            assign(() => {
              throw new Error('broken');
            }),
          ],
        },
        misplace: {
          actions: assign(({ event }) =>
            event.where === 'deeper'
              ? { other: { deep: Table.of({ a: 1 }) } }
              : { seen: Table.of({ a: Table.of() }) as never },
          ),
        },
        clear: { actions: assign({ items: Table.of<Item>() }) },
        sum: {
          actions: reply(({ context }) =>
            [...context.items.values()].reduce((sum, { count }) => sum + count, 0),
          ),
        },
        end: 'ended',
      },
    },
    ended: { type: 'final' },
  },
});

/** What was handed over to be written, in characters and in rows. */
export class CountingStore extends StoreInFront {
  characters = 0;
  rowsWritten = 0;
  groups = 0;

  override commit(group: Group, settle: Settle): void {
    this.groups += 1;
    for (const { record, rows } of group.writes) {
      this.characters += record?.length ?? 0;
      for (const changes of rows?.values() ?? [])
        for (const [key, text] of changes) {
          this.rowsWritten += 1;
          this.characters += key.length + (text?.length ?? 0);
        }
    }
    super.commit(group, settle);
  }
}
