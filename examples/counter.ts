/**
 * The smallest actor there is: a counter that outlives the runtime that hosts it.
 *
 * Shows: register, spawn, send, ask, subscribe, and a second runtime that finds in the
 * store what the first one left there.
 *
 *   npx tsx examples/counter.ts
 */

import { assign, setup } from 'xstate';
import { createRuntime, memoryStore } from '../index.ts';
import { type Question, reply } from '../runtime/machine.ts';

export const counterMachine = setup({
  types: {
    context: {} as { count: number },
    events: {} as
      | { type: 'counter.add'; amount: number }
      | Question<{ type: 'counter.read' }, number>,
  },
}).createMachine({
  id: 'counter',
  context: { count: 0 },
  on: {
    'counter.add': {
      actions: assign({ count: ({ context, event }) => context.count + event.amount }),
    },
    'counter.read': { actions: reply(({ context }) => context.count) },
  },
});

export async function main(print: (line: string) => void = console.log): Promise<void> {
  const store = memoryStore();

  const first = (await createRuntime({ store })).register('counter', counterMachine);
  const visits = await first.spawn('counter/visits');
  visits.subscribe((snapshot) => print(`committed: ${snapshot.context.count}`));
  await visits.send({ type: 'counter.add', amount: 1 }); // resolves once it is committed
  await visits.send({ type: 'counter.add', amount: 41 });
  await first.stop();
  print('the first runtime has stopped');

  const second = (await createRuntime({ store })).register('counter', counterMachine);
  const count = await second.actor('counter/visits').ask({ type: 'counter.read' });
  print(`the second runtime reads: ${count}`);
  await second.stop();
}

if (process.argv[1] === import.meta.filename) await main();
