/** Nothing leaves before it is durable: what a slow or dying store must not let out. */

import { expect, test } from 'vitest';
import { Mailbox, message } from '../../runtime/actor/mailbox.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { holdableStore } from './held-commits.ts';
import { LossyNetwork } from './lossy-network.ts';
import { listener, speaker, upTo } from './talkers.ts';

const KINDS = { speaker, listener };

/** Node `a` commits only while it is let. */
async function slowSender() {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const { store, hold, release } = holdableStore();
  const a = await testRuntime({
    kinds: KINDS,
    node: 'a',
    clock,
    store,
    transport: () => network.join('a'),
  });
  const b = await testRuntime({
    kinds: KINDS,
    node: 'b',
    clock,
    transport: () => network.join('b'),
  });
  await a.spawn('speaker/s', { input: { self: 's' } });
  await b.spawn('listener/l');
  const heard = () => b.actor('listener/l').getSnapshot().context.heard.s ?? [];
  const tell = (saying: object) =>
    a
      .actor('speaker/s')
      .send({ type: 'speakOf', to: 'listener/l@b', saying } as never)
      .catch(() => {});
  return { a, b, network, heard, tell, hold, release };
}

test('an answer to one message does not let out the next, whose commit is under way', async () => {
  const { a, network, heard, tell, hold, release } = await slowSender();
  network.filter = (from) => from === 'a';
  await tell({ type: 'heard', from: 's', number: 1 });
  await a.settle();
  hold();
  void tell({ type: 'heard', from: 's', number: 2 });
  await a.settle();
  network.filter = () => true;
  await a.advance('10s');
  expect(heard()).toEqual([1]);
  release();
  await a.settle();
  expect(heard()).toEqual([1, 2]);
});

test('and when that commit is lost, the message was never sent', async () => {
  const { a, heard, tell, hold, release } = await slowSender();
  await tell({ type: 'heard', from: 's', number: 1 });
  hold();
  void tell({ type: 'heard', from: 's', number: 2 });
  await a.settle();
  a.runtime.crash();
  release(true);
  await a.crash();
  await tell({ type: 'heard', from: 's', number: 3 });
  await a.settle();
  expect(heard()).toEqual([1, 3]);
});

test.each([false, true])(
  'what follows a message refused for good waits until the refusal is noted (sender dies: %s)',
  async (dies) => {
    const { a, network, heard, tell, hold, release } = await slowSender();
    network.cut('a', 'b');
    await tell({ type: 'shouted' });
    await tell({ type: 'heard', from: 's', number: 1 });
    hold();
    network.heal('a', 'b');
    await a.advance('10s');
    expect(heard()).toEqual([]);
    if (dies) a.runtime.crash();
    release(dies);
    if (dies) await a.crash();
    await a.advance('10s');
    expect(heard()).toEqual([1]);
    expect(a.runtime.undelivered()).toMatchObject([{ event: { type: 'shouted' } }]);
  },
);

test('an acknowledgement follows the commit of the receiver', async () => {
  // Here the slow node is the receiver.
  const { a, b, tell, hold, release } = await slowSender();
  await tell({ type: 'heard', from: 's', number: 1 });
  await a.spawn('listener/far');
  await b.spawn('speaker/t', { input: { self: 't' } });
  await a.settle();
  hold();
  await b.actor('speaker/t').send({ type: 'speak', to: ['listener/far@a'], count: 3 });
  await b.settle();
  expect(b.runtime.counts().underWay).toBe(3);
  release();
  await b.settle();
  expect(b.runtime.counts().underWay).toBe(0);
  expect(a.actor('listener/far').getSnapshot().context.heard).toEqual({ t: upTo(3) });
});

test('a newer hint takes the place of an older one of its sender and type, and of no other', () => {
  const mailbox = new Mailbox();
  const hintOf = (from: string, type: string) => message({ type }, { from, isHint: true });
  mailbox.push(hintOf('a', 'moved'));
  expect(mailbox.replaceHint(hintOf('b', 'moved'))).toBe(false);
  expect(mailbox.replaceHint(hintOf('a', 'other'))).toBe(false);
  const newer = hintOf('a', 'moved');
  expect(mailbox.replaceHint(newer)).toBe(true);
  expect([...mailbox]).toEqual([newer]);
});
