/** Retries of what was given up: effects, messages, deadlines of others. And limits of spawns. */

import { expect, test } from 'vitest';
import { assign, sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { diskFull, faultyStore } from './faulty-store.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

const childMachine = setup({}).createMachine({});

const payerMachine = setup({
  types: {
    context: {} as { paid: number },
    events: {} as
      | { type: 'pay'; amount: number }
      | { type: 'paid' }
      | { type: 'tell'; address: string; delayMs?: number }
      | { type: 'breed'; children: number },
  },
  actions: { charge: (_, _params: { amount: number }) => {} },
  actors: { child: childMachine },
}).createMachine({
  context: { paid: 0 },
  on: {
    pay: { actions: { type: 'charge', params: ({ event }) => ({ amount: event.amount }) } },
    paid: { actions: assign({ paid: ({ context }) => context.paid + 1 }) },
    tell: {
      actions: sendTo(
        ({ event }) => to(event.address),
        { type: 'paid' },
        {
          delay: ({ event }) => event.delayMs ?? 0,
        },
      ),
    },
    breed: {
      actions: assign(({ event, spawn }) => {
        for (let index = 0; index < event.children; index += 1) spawn('child', { id: `c${index}` });
        return {};
      }),
    },
  },
});

async function open() {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const charged: string[] = [];
  const bank = { isOpen: true };
  const rt = await testRuntime({
    kinds: { payer: payerMachine },
    options: {
      payer: {
        perform: {
          charge: {
            durable: true,
            attemptsMax: 3,
            run: async ({ params, effectId, send }) => {
              charged.push(`${params.amount} ${effectId}`);
              if (!bank.isOpen) throw new Error('the bank is closed');
              await send({ type: 'paid' });
            },
          },
        },
      },
    },
    limits: { childrenMax: 5 },
    clock,
    store,
  });
  return { rt, store, charged, bank, payer: await rt.spawn('payer/1') };
}

test('an effect that was given up is tried again as what it was, under its old id', async () => {
  const { rt, store, charged, bank, payer } = await open();
  bank.isOpen = false;
  await during(rt, payer.send({ type: 'pay', amount: 5 }));
  await rt.advance('1m');
  expect(charged).toHaveLength(3);
  const [kept] = rt.runtime.undelivered();
  expect(kept).toMatchObject({ to: payer.address, error: { code: 'EFFECT_FAILED' } });
  expect(storedOf(store, payer.address).effects).toBeUndefined();

  // It may fail again: then it is on the list again. A refused commit changes nothing.
  store.refuse = () => {
    store.refuse = () => undefined;
    return diskFull();
  };
  expect(await during(rt, codeOf(rt.runtime.retryUndelivered(kept?.id as string)))).toBe(
    'COMMIT_REFUSED',
  );
  await rt.advance('1m');
  expect(charged).toHaveLength(3);
  await during(rt, rt.runtime.retryUndelivered(kept?.id as string));
  await rt.advance('1m');
  expect(charged).toHaveLength(6);
  expect(rt.runtime.undelivered()).toHaveLength(1);

  // Under way it survives a crash like any other.
  await during(rt, rt.runtime.retryUndelivered(rt.runtime.undelivered()[0]?.id as string));
  bank.isOpen = true;
  await rt.crash();
  await rt.advance('1m');
  expect(new Set(charged).size).toBe(1);
  expect(payer.getSnapshot().context.paid).toBe(1);
  expect(rt.runtime.undelivered()).toEqual([]);
  expect(storedOf(store, payer.address).effects).toBeUndefined();
});

test('a message to somebody who was not there is delivered again once he is', async () => {
  const { rt, payer } = await open();
  await during(rt, payer.send({ type: 'tell', address: 'payer/2' }));
  await rt.advance('1m');
  const [kept] = rt.runtime.undelivered();
  expect(kept).toMatchObject({ to: 'payer/2@test', from: payer.address, event: { type: 'paid' } });
  expect(await during(rt, codeOf(rt.runtime.retryUndelivered(kept?.id as string)))).toBe(
    'ACTOR_UNKNOWN',
  );
  expect(rt.runtime.undelivered()).toHaveLength(1);
  const second = await rt.spawn('payer/2');
  await during(rt, rt.runtime.retryUndelivered(kept?.id as string));
  expect(second.getSnapshot().context.paid).toBe(1);
  expect(rt.runtime.undelivered()).toEqual([]);
});

test('a delayed message that could not leave is, tried again, still for its receiver', async () => {
  const { rt, payer } = await open();
  await during(rt, payer.send({ type: 'tell', address: 'no address', delayMs: 5_000 }));
  await rt.advance('10s');
  const [kept, ...more] = rt.runtime.undelivered();
  expect(more).toEqual([]);
  expect(kept).toMatchObject({ to: payer.address, error: { code: 'ADDRESS_MALFORMED' } });
  expect(await during(rt, codeOf(rt.runtime.retryUndelivered(kept?.id as string)))).toBe(
    'ADDRESS_MALFORMED',
  );
  expect(payer.getSnapshot().context.paid).toBe(0);
  expect(storedOf(rt.store, payer.address).timers).toBeUndefined();
});

test('a turn that makes more children than there may be makes none', async () => {
  const { rt, store, payer } = await open();
  expect(await during(rt, codeOf(payer.send({ type: 'breed', children: 6 })))).toBe(
    'ACTOR_TOO_LARGE',
  );
  expect(payer.getSnapshot().children).toEqual({});
  expect(storedOf(store, payer.address).snapshot).toEqual({ value: {}, context: { paid: 0 } });
  await during(rt, payer.send({ type: 'breed', children: 5 }));
  expect(Object.keys(payer.getSnapshot().children)).toHaveLength(5);
  await rt.crash();
  expect(Object.keys(payer.getSnapshot().children)).toHaveLength(5);
});
