/** Diagnostic channels: read while somebody listens, and not a moment longer. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, expect, test, vi } from 'vitest';
import { assign, setup } from 'xstate';
import { createRuntime, type InspectionRecord, localLease, memoryStore } from '../../index.ts';
import { Inspection } from '../../runtime/base/inspection.ts';

const machine = setup({
  types: { events: {} as { type: 'go' } | { type: 'fail' } },
  delays: { limit: 60_000 },
}).createMachine({
  initial: 'a',
  on: {
    fail: {
      actions: assign(() => {
        throw new Error('cannot');
      }),
    },
  },
  states: { a: { after: { limit: 'b' }, on: { go: 'b' } }, b: {} },
});

const subscriptions: Array<() => void> = [];

function listen(name: string): InspectionRecord[] {
  const heard: InspectionRecord[] = [];
  const hear = (record: unknown): void => void heard.push(record as InspectionRecord);
  subscribe(name, hear);
  subscriptions.push(() => unsubscribe(name, hear));
  return heard;
}

function stopListening(): void {
  for (const end of subscriptions.splice(0)) end();
}

afterEach(() => {
  stopListening();
  vi.restoreAllMocks();
});

test('publishes what the inspection stream says, on a channel for each kind of fact', async () => {
  const turns = listen('escapement:turn');
  const timers = listen('escapement:timer');
  const commits = listen('escapement:commit');
  const leases = listen('escapement:lease');
  const actors = listen('escapement:actor');
  const undelivered = listen('escapement:undelivered');
  const runtime = await createRuntime({ kinds: { order: machine } });
  const order = await runtime.spawn('order/1');
  await order.send({ type: 'go' });
  await expect(order.send({ type: 'fail' })).rejects.toMatchObject({ code: 'TURN_FAILED' });

  expect(leases).toMatchObject([{ type: 'lease', change: 'acquired', node: 'node-1' }]);
  expect(turns).toMatchObject([
    { type: 'turn', address: 'order/1@node-1', state: 'a', event: { type: 'escapement.spawn' } },
    { type: 'turn', state: 'b', event: { type: 'go' } },
    { type: 'turn', state: 'b', error: { code: 'TURN_FAILED' } },
  ]);
  expect(timers).toMatchObject([{ timers: [{}] }, { timers: [] }, { timers: [] }]);
  expect(commits).toMatchObject([{ turns: 1 }, { turns: 1 }, { turns: 1 }]);
  expect(actors).toMatchObject([{ change: 'born' }]);
  expect(undelivered).toMatchObject([{ to: 'order/1@node-1' }]);
  await runtime.stop();
});

test('without subscribers nothing is read, and reading ends with the last of them', async () => {
  const read = vi.spyOn(Inspection.prototype, 'read');
  const tell = vi.spyOn(Inspection.prototype, 'tell');
  const runtime = await createRuntime({ kinds: { order: machine } });
  await runtime.spawn('order/1');
  expect(read).not.toHaveBeenCalled();

  const turns = listen('escapement:turn');
  await runtime.spawn('order/2');
  expect(turns).toHaveLength(1);
  expect(read).toHaveBeenCalledTimes(1);

  stopListening();
  await runtime.spawn('order/3');
  const told = tell.mock.calls.length;
  await runtime.spawn('order/4');
  expect(tell).toHaveBeenCalledTimes(told);
  expect(turns).toHaveLength(1);
  await runtime.stop();
});

test('a subscriber that comes between two commits hears what happens outside of turns', async () => {
  const lease = localLease();
  const runtime = await createRuntime({ lease });
  const leases = listen('escapement:lease');
  lease.expire('node-1');
  await expect
    .poll(() => leases.map((record) => 'change' in record && record.change))
    .toEqual(['lost', 'acquired']);
  await runtime.stop();
});

test('a turn that was taken before anybody listened tells no deadlines instead of wrong ones', async () => {
  const store = memoryStore();
  const runtime = await createRuntime({ kinds: { order: machine }, store });
  const commit = store.commit.bind(store);
  const held: Array<() => void> = [];
  store.commit = (group, settle) => void held.push(() => commit(group, settle));
  const first = runtime.spawn('order/1');
  await expect.poll(() => held.length).toBe(1);
  const timers = listen('escapement:timer');
  const turns = listen('escapement:turn');
  const second = runtime.spawn('order/2');
  await expect.poll(() => runtime.counts().ready).toBe(0);
  store.commit = commit;
  held[0]?.();
  await Promise.all([first, second]);
  expect(turns).toMatchObject([{ address: 'order/1@node-1' }, { address: 'order/2@node-1' }]);
  expect(timers).toMatchObject([{ address: 'order/2@node-1', timers: [{}] }]);
  await runtime.stop();
});

test.each(['stop', 'crash'] as const)('%s takes it off the stream', async (way) => {
  listen('escapement:turn');
  const read = vi.spyOn(Inspection.prototype, 'read');
  const runtime = await createRuntime({ kinds: { order: machine } });
  await runtime.spawn('order/1');
  const { instances } = read.mock;
  const [inspection] = instances as unknown as Inspection[];
  expect(inspection?.hasReaders).toBe(true);
  await runtime[way]();
  expect(inspection?.hasReaders).toBe(false);
});

test('telemetry: false publishes nothing', async () => {
  const turns = listen('escapement:turn');
  const runtime = await createRuntime({ kinds: { order: machine }, telemetry: false });
  await runtime.spawn('order/1');
  expect(turns).toEqual([]);
  expect(runtime.metrics().turns).toBe(1);
  await runtime.stop();
});
