/**
 * Messages between actors of one place that are taken in the group of the turn that sent them: one commit for
 * both, and where the store refuses it, none of the two has happened.
 */

import { expect, test } from 'vitest';
import type { Group } from '../../runtime/ports/store.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { listener, speaker } from '../delivery/talkers.ts';
import { StoreInFront } from '../store-in-front.ts';
import { diskFull, faultyStore } from './faulty-store.ts';
import { codeOf, codeOfThrown, during, storedOf } from './outcomes.ts';

/** A store that may lose one record of a group and keep another. */
class SplittingStore extends StoreInFront {
  override get isGroupAtomic(): boolean {
    return false;
  }
}

async function open(limits: object = {}, behind = memoryStore() as StoreInFront) {
  const clock = new SimulatedClock();
  const store = faultyStore(clock, behind);
  const groups: string[][] = [];
  store.refuse = (group: Group) => {
    groups.push(group.writes.map(({ address }) => address));
    return undefined;
  };
  const rt = await testRuntime({ kinds: { speaker, listener }, clock, store, limits });
  await rt.spawn('speaker/s', { input: { self: 's' } });
  await rt.spawn('listener/l');
  await rt.settle();
  groups.length = 0;
  const speak = (to: readonly string[], count = 1) =>
    during(rt, rt.actor('speaker/s').send({ type: 'speak', to, count }));
  const heard = (): readonly number[] =>
    rt.actor('listener/l').getSnapshot().context.heard['s'] ?? [];
  return { rt, store, groups, speak, heard };
}

test('are one commit, with an outbox that never held them', async () => {
  const { rt, store, groups, speak, heard } = await open();
  await speak(['listener/l'], 3);
  await rt.settle();
  expect(groups).toEqual([['speaker/s@test', 'listener/l@test']]);
  expect(heard()).toEqual([1, 2, 3]);
  expect(storedOf(store, 'speaker/s@test').outbox).toBeUndefined();
  expect(rt.runtime.counts()).toMatchObject({ underWay: 0, unanswered: 0 });
});

test('are two where a store may split a group', async () => {
  const { rt, groups, speak, heard } = await open({}, new SplittingStore(memoryStore()));
  await speak(['listener/l']);
  await rt.settle();
  expect(groups.slice(0, 2)).toEqual([['speaker/s@test'], ['listener/l@test']]);
  expect(heard()).toEqual([1]);
});

test('have not happened where the group is refused, taken or not', async () => {
  for (const groupTurnsMax of [1_000, 1]) {
    const { rt, store, speak, heard } = await open({ groupTurnsMax });
    let left = 1;
    store.refuse = () => (left-- > 0 ? diskFull() : undefined);
    expect(await codeOf(speak(['listener/l']))).toBe('COMMIT_REFUSED');
    await rt.settle();
    expect(heard()).toEqual([]);
    // The number is given again, and is no copy of the first.
    await speak(['listener/l'], 2);
    await rt.settle();
    expect(heard()).toEqual([1, 2]);
    expect(storedOf(store, 'speaker/s@test').outbox).toBeUndefined();
  }
});

test('that spawn somebody leave nobody behind when they have not happened', async () => {
  const { rt, store } = await open();
  store.refuse = () => diskFull();
  const bear = () =>
    during(rt, rt.actor('speaker/s').send({ type: 'bear', address: 'listener/new' }));
  expect(await codeOf(bear())).toBe('COMMIT_REFUSED');
  await rt.settle();
  store.refuse = () => undefined;
  expect(storedOf(store, 'listener/new@test')).toBeNull();
  expect(codeOfThrown(() => rt.actor('listener/new').getSnapshot())).toBe('ACTOR_UNKNOWN');
  await bear();
  await rt.settle();
  expect(rt.actor('listener/new').getSnapshot().value).toBe('listening');
});

test('that are refused are so with their commit: the sender is told of nothing before', async () => {
  const { rt, store } = await open();
  store.delayTasks = 3;
  void rt.actor('speaker/s').send({ type: 'speak', to: ['listener/nobody'], count: 1 });
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
  expect(store.waiting).toBe(1);
  expect(rt.runtime.undelivered()).toEqual([]);
  await rt.settle();
  expect(rt.runtime.undelivered()).toMatchObject([
    { to: 'listener/nobody@test', error: { code: 'ACTOR_UNKNOWN' } },
  ]);
  expect(storedOf(store, 'speaker/s@test').outbox).toBeUndefined();
});

test('wait for room in a full mailbox, and keep their order', async () => {
  const { rt, speak, heard } = await open({ mailboxMax: 2 });
  await speak(['listener/l'], 9);
  await rt.advance('1m');
  expect(heard()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(rt.runtime.counts()).toMatchObject({ underWay: 0, unanswered: 0 });
});

test('go in as soon as a full mailbox has room, without a pause, where they wait for their commit', async () => {
  const limits = { mailboxMax: 5, retryMinMs: 60_000, retryMaxMs: 60_000 };
  const { rt, speak, heard } = await open(limits, new SplittingStore(memoryStore()));
  await speak(['listener/l'], 60);
  await rt.settle();
  expect(heard()).toHaveLength(60);
});
