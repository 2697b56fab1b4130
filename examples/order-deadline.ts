/**
 * An order that expires when nobody pays in time, also when the process dies meanwhile.
 *
 * Shows: a deadline of fifteen minutes on virtual time, a crash two minutes before it, the
 * deadline met at its original moment, mails that go out once the state is committed, and
 * `explain`, which says why an actor is where it is.
 *
 *   npm start
 */

import { styleText } from 'node:util';
import { setup } from 'xstate';
import { SimulatedClock, testRuntime } from '../simulator/testing.ts';

export const orderMachine = setup({
  types: {
    context: {} as { customer: string; total: number },
    input: {} as { customer: string; total: number },
    events: {} as { type: 'order.paid' },
  },
  actions: {
    // Carried out by a performer, below: here it has a name and the data it needs.
    sendMail: (_, _params: { to: string; text: string }) => {},
  },
  delays: { paymentLimit: 15 * 60_000 },
}).createMachine({
  id: 'order',
  context: ({ input }) => input,
  initial: 'awaitingPayment',
  states: {
    awaitingPayment: {
      on: { 'order.paid': 'paid' },
      after: { paymentLimit: 'expired' },
    },
    paid: {
      entry: {
        type: 'sendMail',
        params: ({ context }) => ({
          to: context.customer,
          text: `Thank you for ${context.total} €.`,
        }),
      },
    },
    expired: {
      entry: {
        type: 'sendMail',
        params: ({ context }) => ({
          to: context.customer,
          text: 'Your order has expired. Nothing was charged.',
        }),
      },
    },
  },
});

export async function main(print: (line: string) => void = console.log): Promise<void> {
  const startedAt = performance.now();
  const clock = new SimulatedClock({ startAt: Date.UTC(2026, 5, 1, 9) });
  const say = (line = '') => print(line);
  const tell = (line: string) => say(`  ${dim(timeOf(clock.now()))}  ${line}`);

  const shop = await testRuntime({
    node: 'shop',
    clock,
    kinds: { order: orderMachine },
    options: {
      order: {
        perform: {
          sendMail: {
            durable: true, // what a crash leaves unfinished is done again, under the same id
            run: ({ params }) => tell(styleText('cyan', `mail to ${params.to}: ${params.text}`)),
          },
        },
      },
    },
  });

  say(
    'A shop keeps an order for fifteen minutes. Time is virtual here, the engine is the real one.',
  );
  say();
  const ada = await shop.spawn('order/41', { input: { customer: 'Ada', total: 120 } });
  const bob = await shop.spawn('order/42', { input: { customer: 'Bob', total: 99 } });
  tell('order/41 and order/42 are placed');

  await shop.advance('5m');
  tell('Ada pays order/41');
  await ada.send({ type: 'order.paid' });
  await shop.settle();
  tell(`order/41 is ${strong(ada.getSnapshot().value)}`);

  await shop.advance('8m');
  tell(styleText('red', 'the process dies: everything in memory is lost'));
  await shop.crash();
  const { dueAt } = shop.runtime.query({ kind: 'order', state: 'awaitingPayment' }).actors[0] ?? {};
  tell(styleText('green', 'it is back, with what its store holds'));
  tell(`order/42 is ${strong(bob.getSnapshot().value)}, due at ${timeOf(dueAt ?? 0)} as before`);

  await shop.advance('1m59s');
  tell(`order/42 is still ${strong(bob.getSnapshot().value)}`);
  await shop.advance('1s');
  tell(`order/42 is ${strong(bob.getSnapshot().value)}, to the millisecond`);

  say();
  say(`Why? ${dim("await shop.explain('order/42')")}`);
  say();
  for (const line of (await shop.explain('order/42')).split('\n')) say(`  ${line}`);
  await shop.stop();
  say();
  say(`Fifteen minutes and a crash took ${Math.round(performance.now() - startedAt)} ms.`);
}

/** As `NO_COLOR` and the terminal allow. */
function dim(text: string): string {
  return styleText('dim', text);
}

function strong(state: string): string {
  return styleText('bold', state);
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

if (process.argv[1] === import.meta.filename) await main();
