/**
 * Messages between two nodes on LMDB, of which one, the other or both die: each message is taken
 * once and in order, whichever node brings it in the end.
 */

import { describe, expect, test } from 'vitest';
import { directoryLease } from '../../stores/directory/lease.ts';
import { listener, speaker, upTo } from '../delivery/talkers.ts';
import { RecoveryNodes } from './recovery-nodes.ts';

const KINDS = { speaker, listener };
const TARGET = 'listener/l@there';

async function start() {
  const nodes = new RecoveryNodes();
  const lease = (directory: string) => directoryLease(directory);
  const sender = await nodes.start({ kinds: KINDS, node: 'here-1', place: 'here', lease });
  const receiver = await nodes.start({ kinds: KINDS, node: 'there', lease });
  await nodes.during(receiver.rt.spawn('listener/l'));
  await nodes.during(sender.rt.spawn('speaker/s', { input: { self: 's' } }));
  const speak = (count = 1) =>
    nodes.during(sender.rt.actor('speaker/s').send({ type: 'speak', to: [TARGET], count }));
  const heard = () => receiver.rt.actor('listener/l').getSnapshot().context.heard['s'] ?? [];
  const owed = () => JSON.parse(sender.store.load('speaker/s@here') ?? '{}').outbox ?? [];
  /** How often what the receiver wrote down came to it, by its history. */
  const taken = () =>
    receiver.runtime.history('listener/l').filter(({ from }) => from === 'speaker/s@here');
  return { nodes, sender, receiver, speak, heard, owed, taken };
}

describe('a sender that dies', () => {
  test('after its commit and before the message left sends it when it is back', async () => {
    const { nodes, sender, heard, owed } = await start();
    sender.dieLater({ heardMax: 0, lastWords: 'written' });
    const spoken = sender.rt.actor('speaker/s').send({ type: 'speak', to: [TARGET], count: 3 });
    const refused = expect(spoken).rejects.toMatchObject({ code: 'NOT_HOSTED', retryable: true });
    await nodes.settle();
    expect(heard()).toEqual([]);
    await sender.restart();
    await refused;
    await nodes.advance('1m');
    expect([heard(), owed()]).toEqual([upTo(3), []]);
  });

  test('before its commit has sent nothing', async () => {
    const { nodes, sender, speak, heard } = await start();
    sender.dieLater({ heardMax: 0, lastWords: 'lost' });
    const spoken = sender.rt.actor('speaker/s').send({ type: 'speak', to: [TARGET], count: 3 });
    const refused = expect(spoken).rejects.toMatchObject({ code: 'NOT_HOSTED' });
    await nodes.settle();
    await sender.restart();
    await refused;
    await nodes.advance('1m');
    expect(heard()).toEqual([]);
    // The numbers were never given: those that come now are the first.
    await speak(2);
    await nodes.settle();
    expect(heard()).toEqual(upTo(2));
  });

  test.each([
    ['as the node it was', 'here-1'],
    ['as another node of its place', 'here-2'],
  ])(
    'before it heard that they were taken comes back %s, and they are taken once',
    async (_, node) => {
      const { nodes, sender, receiver, speak, heard, owed, taken } = await start();
      nodes.network.filter = (from) => from !== 'there';
      await speak(3);
      await nodes.settle();
      expect([heard(), owed().length]).toEqual([upTo(3), 3]);
      await sender.die();
      nodes.network.filter = () => true;
      const before = receiver.runtime.metrics().duplicatesRefused;
      await sender.comeBack({ node });
      await nodes.advance('1m');
      expect(sender.runtime.node).toBe(node);
      expect(receiver.runtime.metrics().duplicatesRefused - before).toBe(3);
      expect([heard(), owed(), taken().length]).toEqual([upTo(3), [], 3]);
      expect(sender.runtime.counts()).toMatchObject({ underWay: 0 });
      await speak(2);
      await nodes.advance('1m');
      expect([heard(), owed()]).toEqual([upTo(5), []]);
      expect(receiver.runtime.undelivered()).toEqual([]);
    },
  );

  test('is followed by another node with a greater fence, which serves what it had', async () => {
    const { nodes, sender, speak, heard } = await start();
    await speak(1);
    const { fence } = sender.runtime.metrics();
    await sender.restart({ node: 'here-2' });
    await sender.restart({ node: 'here-3' });
    expect(sender.runtime.metrics().fence).toBeGreaterThan(fence + 1);
    await speak(1);
    await nodes.advance('1m');
    expect(heard()).toEqual([1, 2]);
  });
});

describe('a receiver that dies', () => {
  test('after its commit and before its answer left refuses the repetition and answers it', async () => {
    const { nodes, receiver, speak, heard, owed, taken } = await start();
    receiver.dieLater({ heardMax: 0, lastWords: 'written' });
    await speak(3);
    await nodes.settle();
    expect([receiver.store.isSilent, owed().length]).toEqual([true, 3]);
    await receiver.restart();
    await nodes.advance('1m');
    expect(receiver.runtime.metrics()).toMatchObject({ duplicatesRefused: 3, turns: 0 });
    expect([heard(), owed(), taken().length]).toEqual([upTo(3), [], 3]);
  });

  test('before its commit takes the repetition', async () => {
    const { nodes, receiver, speak, heard, owed, taken } = await start();
    receiver.dieLater({ heardMax: 0, lastWords: 'lost' });
    await speak(3);
    await nodes.settle();
    await receiver.restart();
    await nodes.advance('1m');
    expect(receiver.runtime.metrics()).toMatchObject({ duplicatesRefused: 0, turns: 3 });
    expect([heard(), owed(), taken().length]).toEqual([upTo(3), [], 3]);
  });

  test('and stays away for a day gets what was sent meanwhile, in order', async () => {
    const { nodes, sender, receiver, speak, heard, owed } = await start();
    await speak(2);
    await nodes.settle();
    await receiver.die();
    for (let round = 0; round < 3; round += 1) {
      await speak(30);
      await nodes.advance('8h');
      // Its outbox is all that is left of what it said.
      await sender.restart();
    }
    await receiver.comeBack();
    await nodes.advance('1m');
    expect([heard(), owed()]).toEqual([upTo(92), []]);
  });
});

test('both die at any commit, again and again: everything is taken once and in order', async () => {
  const { nodes, sender, receiver, speak, heard, owed, taken } = await start();
  let said = 0;
  for (const lastWords of ['written', 'lost'] as const) {
    for (let round = 0; round < 6; round += 1) {
      receiver.dieLater({ heardMax: round % 3, lastWords });
      await speak(5);
      said += 5;
      // What the sender still notes are answers; its messages are on disk.
      sender.dieLater({ heardMax: round % 2, lastWords });
      await nodes.advance(300 * (round % 3));
      await Promise.all([sender.die(), receiver.die()]);
      await (round % 2 === 0 ? receiver : sender).comeBack();
      await nodes.advance(1_000);
      await (round % 2 === 0 ? sender : receiver).comeBack();
    }
  }
  await nodes.advance('1m');
  expect([heard(), owed()]).toEqual([upTo(said), []]);
  expect(taken()).toHaveLength(said);
  for (const node of [sender, receiver]) {
    expect(node.runtime.counts()).toMatchObject({ underWay: 0, ready: 0 });
    expect(node.runtime.undelivered()).toEqual([]);
  }
});

test('messages within one node that dies are taken once and in order', async () => {
  const nodes = new RecoveryNodes();
  const node = await nodes.start({ kinds: KINDS });
  await nodes.during(node.rt.spawn('speaker/s', { input: { self: 's' } }));
  await nodes.during(node.rt.spawn('listener/l'));
  let said = 0;
  for (const lastWords of ['written', 'lost'] as const) {
    for (let heardMax = 0; heardMax < 5; heardMax += 1) {
      node.dieLater({ heardMax, lastWords });
      const spoken = node.rt
        .actor('speaker/s')
        .send({ type: 'speak', to: ['listener/l'], count: 3 })
        .catch(() => {});
      await nodes.settle();
      await node.restart();
      await spoken;
      // The first group of all has the turn that speaks.
      if (heardMax > 0 || lastWords === 'written') said += 3;
    }
  }
  await nodes.advance('1m');
  const { context } = node.rt.actor('listener/l').getSnapshot();
  expect(context.heard).toEqual({ s: upTo(said) });
  expect(JSON.parse(node.store.load('speaker/s@node') ?? '{}').outbox).toBeUndefined();
});
