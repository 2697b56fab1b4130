/** Places that do not answer: down, cut off or misspelt. What waits for them is listed, counted, logged once. */

import { expect, test } from 'vitest';
import { assign, sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { codeOf, during } from '../engine/outcomes.ts';
import { LossyNetwork } from './lossy-network.ts';

const accountMachine = setup({
  types: {
    context: {} as { got: number },
    events: {} as { type: 'go'; to: string } | { type: 'got' },
  },
}).createMachine({
  context: { got: 0 },
  on: {
    go: { actions: sendTo(({ event }) => to(event.to), { type: 'got' }) },
    got: { actions: assign({ got: ({ context }) => context.got + 1 }) },
  },
});

const kinds = { account: accountMachine };

async function open() {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const lines: Array<{
    readonly message: string;
    readonly place: string;
    readonly meant?: string;
  }> = [];
  const log = (fields: object, message: string) =>
    void lines.push({ ...(fields as { place: string }), message });
  const logger = { debug: log, info: log, warn: log, error: log };
  const transport = (node: string) => () => network.join(node);
  const shop = await testRuntime({ kinds, node: 'shop', clock, transport: transport('shop') });
  const b = await testRuntime({ kinds, node: 'b', clock, transport: transport('b'), logger });
  await shop.spawn('account/1');
  await b.settle();
  const about = (place: string) =>
    lines.filter((line) => line.place === place && line.message.includes('answer'));
  return { shop, b, about };
}

test('messages to a node that is down are listed and counted, and its silence is logged once', async () => {
  const { shop, b, about } = await open();
  const senders = await Promise.all(
    Array.from({ length: 20 }, (_, index) => b.spawn(`account/s${index}`)),
  );
  await shop.runtime.crash();
  for (let round = 0; round < 100; round += 1)
    await Promise.all(senders.map((sender) => sender.send({ type: 'go', to: 'account/1@shop' })));
  await b.advance('1m');
  expect(b.runtime.waiting()).toMatchObject([
    { place: 'shop', node: undefined, messages: 2_000, receivers: 1 },
  ]);
  expect(b.runtime.metrics()).toMatchObject({ messagesUnderWay: 2_000, placesSilent: 1 });
  expect(about('shop')).toMatchObject([{ message: expect.stringContaining('nobody answers') }]);

  await shop.crash();
  await b.advance('1m');
  expect(b.runtime.waiting()).toEqual([]);
  expect(b.runtime.metrics()).toMatchObject({ messagesUnderWay: 0, placesSilent: 0 });
  expect(about('shop').at(-1)?.message).toBe('a place answers again');
  expect(shop.actor('account/1').getSnapshot().context.got).toBe(2_000);
});

test('a misspelt place is named with the place that was probably meant', async () => {
  const { b, about } = await open();
  const sender = await b.spawn('account/s');
  await sender.send({ type: 'go', to: 'account/1@shpo' });
  await b.advance('1m');
  expect(b.runtime.waiting()).toMatchObject([{ place: 'shpo', messages: 1, node: undefined }]);
  expect(about('shpo')).toMatchObject([{ meant: 'shop' }]);
});

test('so is what waits in a node without any transport', async () => {
  const lines: string[] = [];
  const log = (_: object, message: string) => void lines.push(message);
  const logger = { debug: log, info: log, warn: log, error: log };
  const rt = await testRuntime({ kinds, logger });
  const sender = await rt.spawn('account/s');
  for (let round = 0; round < 20; round += 1)
    await sender.send({ type: 'go', to: 'account/1@typo' });
  const late = codeOf(rt.runtime.actor('account/1@typo').send({ type: 'got' }));
  await rt.advance('1m');
  expect(await late).toBe('SEND_TIMED_OUT');
  expect(rt.runtime.waiting()).toMatchObject([{ place: 'typo', messages: 20, node: undefined }]);
  expect(rt.runtime.metrics()).toMatchObject({ messagesUnderWay: 20, placesSilent: 1 });
  expect(lines.filter((line) => line.includes('nobody answers'))).toHaveLength(1);
  expect(await rt.explain('account/s')).toContain('nobody is connected who hosts "typo"');
});

test('a place is no longer waited for once its messages are given up by code', async () => {
  const { b } = await open();
  const late = codeOf(b.runtime.actor('account/1@nowhere').send({ type: 'got' }));
  await b.advance(29_999);
  expect(b.runtime.waiting()).toMatchObject([{ place: 'nowhere', messages: 1 }]);
  await b.advance(2);
  expect(await late).toBe('SEND_TIMED_OUT');
  expect(b.runtime.waiting()).toEqual([]);
  expect(b.runtime.metrics().messagesUnderWay).toBe(0);
  // The clock has nothing left to do for it.
  expect(b.runtime.counts().underWay).toBe(0);
});

test("the time is the caller's to choose, without a limit too", async () => {
  const { shop, b } = await open();
  const nowhere = b.runtime.actor('account/1@nowhere');
  expect(await during(b, codeOf(nowhere.send({ type: 'got' }, { timeoutMs: 100 })))).toBe(
    'SEND_TIMED_OUT',
  );
  for (const timeoutMs of [0, -1, 1.5, Number.NaN, '5' as never])
    expect(await codeOf(nowhere.send({ type: 'got' }, { timeoutMs }))).toBe('OPTION_INVALID');
  await shop.runtime.crash();
  await b.advance('10s');
  const patient = b.runtime
    .actor('account/1@shop')
    .send({ type: 'got' }, { timeoutMs: Number.POSITIVE_INFINITY });
  await b.advance('10m');
  await shop.crash();
  await during(b, patient);
  expect(shop.actor('account/1').getSnapshot().context.got).toBe(1);
});

test('one that came too late is not sent again, and those behind it arrive in order', async () => {
  const { shop, b } = await open();
  await shop.runtime.crash();
  const account = b.runtime.actor('account/1@shop');
  const first = codeOf(account.send({ type: 'got' }, { timeoutMs: 1_000 }));
  const second = codeOf(account.send({ type: 'got' }));
  await b.advance('5s');
  expect(await first).toBe('SEND_TIMED_OUT');
  await shop.crash();
  expect(await during(b, second)).toBe('taken');
  expect(shop.actor('account/1').getSnapshot().context.got).toBe(1);
});

test('an id makes a send to another place repeatable after it was late', async () => {
  const { shop, b } = await open();
  const account = b.runtime.actor('account/1@shop');
  for (let time = 0; time < 3; time += 1)
    await during(b, account.send({ type: 'got' }, { id: 'request-1' }));
  expect(shop.actor('account/1').getSnapshot().context.got).toBe(1);
});
