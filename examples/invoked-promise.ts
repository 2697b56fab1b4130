/**
 * A machine that waits for the outside world: a payment provider that is down at first,
 * then slow, and a process that dies while it waits.
 *
 * Shows: an invoked promise that is started again after a crash with the same input, a
 * pause before the next try, and a durable performer that is repeated until it succeeds.
 * Both hand an idempotency key on, because a service that is asked twice must be able to tell.
 *
 *   npx tsx examples/invoked-promise.ts
 */

import { assign, fromPromise, setup } from 'xstate';
import { testRuntime } from '../simulator/testing.ts';

type Charge = { readonly key: string; readonly amount: number };

/** The machine knows that there is a provider, not which: `provide` gives it one. */
export const paymentMachine = setup({
  types: {
    context: {} as { amount: number; key: string; failures: number; receipt: string | null },
    input: {} as { orderId: string; amount: number },
  },
  actors: {
    charge: fromPromise<string, Charge>(() => Promise.reject(new Error('no provider'))),
  },
  actions: {
    mailReceipt: (_, _params: { receipt: string }) => {},
  },
  delays: { pause: ({ context }) => 30_000 * 2 ** (context.failures - 1) },
}).createMachine({
  id: 'payment',
  // One key for all tries: the provider charges once, however often it is asked.
  context: ({ input }) => ({
    amount: input.amount,
    key: `charge-${input.orderId}`,
    failures: 0,
    receipt: null,
  }),
  initial: 'charging',
  states: {
    charging: {
      invoke: {
        src: 'charge',
        input: ({ context }) => ({ key: context.key, amount: context.amount }),
        onDone: { target: 'charged', actions: assign({ receipt: ({ event }) => event.output }) },
        onError: {
          target: 'pausing',
          actions: assign({ failures: ({ context }) => context.failures + 1 }),
        },
      },
    },
    pausing: { after: { pause: 'charging' } },
    charged: {
      type: 'final',
      entry: {
        type: 'mailReceipt',
        params: ({ context }) => ({ receipt: context.receipt ?? '' }),
      },
    },
  },
});

export async function main(print: (line: string) => void = console.log): Promise<void> {
  let calls = 0;
  const charge = fromPromise<string, Charge>(({ input }) => {
    calls += 1;
    print(`call ${calls} to the provider: ${input.amount} € with key ${input.key}`);
    if (calls === 1) return Promise.reject(new Error('503 Service Unavailable'));
    if (calls === 2) return new Promise(() => {}); // takes its time, and then the process dies
    return Promise.resolve('receipt-1');
  });

  const runtime = await testRuntime({
    kinds: { payment: paymentMachine.provide({ actors: { charge } }) },
    options: {
      payment: {
        perform: {
          mailReceipt: {
            durable: true,
            run: ({ params, effectId, attempt }) => {
              print(`mail ${params.receipt}, try ${attempt}, with key ${effectId}`);
              if (attempt === 1) throw new Error('the mail server hung up');
            },
          },
        },
      },
    },
  });

  const payment = await runtime.spawn('payment/42', { input: { orderId: '42', amount: 99 } });
  await runtime.settle();
  print(`the payment is ${payment.getSnapshot().value}`);

  await runtime.advance('30s');
  print(`the payment is ${payment.getSnapshot().value}`);

  print('the process dies and comes back');
  await runtime.crash();
  print(`the payment is ${payment.getSnapshot().value}`);

  await runtime.advance('10s'); // the mail's second try comes after a pause
  await runtime.stop();
}

if (process.argv[1] === import.meta.filename) await main();
