/**
 * A data directory with a bit of everything: actors in several states, with deadlines and
 * history, some that wait for an answer that never comes, and undelivered messages.
 */

import { assign, sendTo, setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import { to } from '../../runtime/machine.ts';
import { lmdbStore } from '../../stores/lmdb.ts';

export const PLACE = 'shop';

type OrderEvent =
  | { type: 'order.add'; item: string }
  | { type: 'order.pay' }
  | { type: 'order.ask'; whom: string };

export const orderMachine = setup({
  types: {
    context: {} as { readonly items: readonly string[]; readonly note: string },
    events: {} as OrderEvent,
    input: {} as { readonly note: string },
  },
  delays: { limit: 86_400_000, reminder: 3_600_000 },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ items: [], note: input.note }),
  initial: 'open',
  on: {
    'order.add': {
      actions: assign({ items: ({ context, event }) => [...context.items, event.item] }),
    },
    'order.ask': {
      actions: sendTo(
        ({ event }) => to(event.whom),
        ({ self }) => ({ type: 'order.asked', by: self.id }),
      ),
    },
  },
  states: {
    open: {
      tags: ['unpaid'],
      after: { limit: 'expired', reminder: { actions: assign({ note: 'reminded' }) } },
      on: { 'order.pay': 'paid' },
    },
    paid: { after: { limit: 'expired' } },
    expired: { type: 'final' },
  },
});

/** Fills the directory; returns the addresses of its actors. `between` is called half-way, while nothing is open. */
export async function fillDirectory(
  directory: string,
  actors: number,
  between?: () => void,
): Promise<readonly string[]> {
  const numbers = Array.from({ length: actors }, (_, number) => number);
  await work(directory, numbers.slice(0, Math.ceil((actors * 3) / 4)), actors);
  between?.();
  await work(directory, numbers, actors);
  return numbers.map((number) => `order/${number}@${PLACE}`);
}

async function work(directory: string, numbers: readonly number[], actors: number): Promise<void> {
  const runtime = await createRuntime({
    place: PLACE,
    store: lmdbStore(directory),
    kinds: { order: orderMachine },
    telemetry: false,
  });
  const tasks = numbers.map(async (number) => {
    const input = { note: 'x'.repeat((number * 37) % 900) };
    const order = await runtime.spawn(`order/${number}`, { input, ifAbsent: true });
    for (let item = 0; item < number % 7; item += 1)
      await order.send({ type: 'order.add', item: `item ${item}` });
    if (number % 3 === 0) await order.send({ type: 'order.pay' });
    // Nobody is there: these end among the undelivered messages.
    if (number % 5 === 0) await order.send({ type: 'order.ask', whom: `order/${actors + number}` });
    // Nobody hosts that place: these stay under way.
    if (number % 11 === 0) await order.send({ type: 'order.ask', whom: 'order/1@elsewhere' });
  });
  await Promise.all(tasks);
  await runtime.stop();
}
