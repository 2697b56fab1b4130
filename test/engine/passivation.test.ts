/**
 * Few actors in memory, many in the store: they come back when they are needed, as they
 * were, and nobody who has something to do is let go.
 */

import { describe, expect, test } from 'vitest';
import { assign, fromCallback, sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { faultyStore } from './faulty-store.ts';
import { during, storedOf } from './outcomes.ts';

const counterMachine = setup({
  types: {
    context: {} as { count: number; heard: string[] },
    input: {} as { start: number },
    events: {} as
      | { type: 'add'; amount: number }
      | { type: 'tellAll'; names: string[] }
      | { type: 'hear'; from: string }
      | { type: 'watch' }
      | { type: 'unwatch' }
      | { type: 'seen' },
  },
  actors: {
    watcher: fromCallback(({ sendBack, receive }) => {
      receive(() => sendBack({ type: 'seen' }));
    }),
  },
  delays: { limit: 60_000 },
}).createMachine({
  context: ({ input }) => ({ count: input.start, heard: [] }),
  type: 'parallel',
  on: {
    add: { actions: assign({ count: ({ context, event }) => context.count + event.amount }) },
    hear: { actions: assign({ heard: ({ context, event }) => [...context.heard, event.from] }) },
    seen: { actions: assign({ count: ({ context }) => context.count + 1_000 }) },
    tellAll: {
      actions: [0, 1, 2, 3, 4].map((index) =>
        sendTo(
          ({ event }) => to((event as { names: string[] }).names[index] ?? ''),
          ({ self }) => ({ type: 'hear', from: self.id }),
        ),
      ),
    },
  },
  states: {
    clock: {
      initial: 'early',
      states: { early: { tags: 'early', after: { limit: 'late' } }, late: {} },
    },
    eyes: {
      initial: 'shut',
      states: {
        shut: { on: { watch: 'open' } },
        open: { invoke: { id: 'watcher', src: 'watcher' }, on: { unwatch: 'shut' } },
      },
    },
  },
});

function open(liveActorsMax: number, clock = new SimulatedClock(), store = faultyStore(clock)) {
  const kinds = { counter: counterMachine };
  return testRuntime({ kinds, limits: { liveActorsMax }, clock, store });
}

const names = Array.from({ length: 30 }, (_, index) => `counter/${index}` as const);

describe('with room for four of thirty actors', () => {
  test('every actor answers as if it had never left', async () => {
    const rt = await open(4);
    for (const [start, name] of names.entries()) await rt.spawn(name, { input: { start } });
    expect(rt.runtime.counts().live).toBeLessThanOrEqual(4);
    const sums = names.map((_, start) => start);
    for (let round = 0; round < 5; round += 1) {
      for (const [index, name] of names.entries()) {
        const amount = (index * 7 + round) % 11;
        sums[index] = (sums[index] as number) + amount;
        await during(rt, rt.actor(name).send({ type: 'add', amount }));
        expect(rt.runtime.counts().live).toBeLessThanOrEqual(5);
      }
    }
    for (const [index, name] of names.entries()) {
      const snapshot = rt.actor(name).getSnapshot();
      expect(snapshot.context.count).toBe(sums[index]);
      expect(snapshot.hasTag('early')).toBe(true);
      expect(snapshot.can({ type: 'watch' })).toBe(true);
      expect(storedOf(rt.store, `${name}@test`).turns).toBe(6);
    }
  });

  test('deadlines of those that are away come at their time', async () => {
    const rt = await open(4);
    for (const [start, name] of names.entries()) {
      await rt.spawn(name, { input: { start } });
      await rt.advance(10);
    }
    await rt.advance(60_000 - 300 - 1);
    expect(rt.runtime.query({ tag: 'early' }).actors).toHaveLength(30);
    await rt.advance(151);
    expect(rt.runtime.query({ tag: 'early' }).actors).toHaveLength(14);
    await rt.advance(1_000);
    expect(rt.runtime.query({ tag: 'early' }).actors).toEqual([]);
    expect(rt.runtime.counts().live).toBeLessThanOrEqual(5);
    expect(rt.runtime.history('counter/7').at(-1)).toMatchObject({
      at: expect.any(Number),
      dueAt: (rt.runtime.history('counter/7')[0]?.at as number) + 60_000,
    });
  });

  test('tells between them arrive once each', async () => {
    for (const liveActorsMax of [1, 2, 3, 4, 8]) {
      const rt = await open(liveActorsMax);
      for (const [start, name] of names.entries()) await rt.spawn(name, { input: { start } });
      const expected = new Map<string, string[]>(names.map((name) => [name, []]));
      for (const [index, name] of names.entries()) {
        const told = [3, 5, 7, 11, 13].map((step) => names[(index + step) % 30] as string);
        for (const each of told) expected.get(each)?.push(`${name}@test`);
        void rt.actor(name).send({ type: 'tellAll', names: told });
        if (index % 7 === 0) await rt.settle();
      }
      await rt.advance('30s');
      for (const name of names)
        expect([...rt.actor(name).getSnapshot().context.heard].sort()).toEqual(
          expected.get(name)?.sort(),
        );
      for (const name of names) expect(storedOf(rt.store, `${name}@test`).outbox).toBeUndefined();
      expect(rt.runtime.counts()).toMatchObject({ underWay: 0, ready: 0 });
    }
  });

  test('after a crash all that was under way goes on, with as little room', async () => {
    for (const liveActorsMax of [1, 2, 4]) {
      const clock = new SimulatedClock();
      const store = faultyStore(clock);
      const rt = await open(liveActorsMax, clock, store);
      for (const [start, name] of names.entries()) await rt.spawn(name, { input: { start } });
      store.delayTasks = 3;
      for (const [index, name] of names.entries()) {
        const told = [1, 2, 3, 4, 5].map((step) => names[(index + step) % 30] as string);
        rt.actor(name)
          .send({ type: 'tellAll', names: told })
          .catch(() => {});
      }
      // The turns that tell are committed, those that hear are not.
      for (let task = 0; task < 4; task += 1) {
        for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
        clock.runDue();
      }
      await rt.crash();
      await rt.advance('60s');
      for (const name of names) {
        const { heard } = rt.actor(name).getSnapshot().context;
        expect(new Set(heard).size).toBe(heard.length);
        expect(heard.length === 5 || heard.length === 0).toBe(true);
        expect(storedOf(rt.store, `${name}@test`).outbox).toBeUndefined();
      }
      expect(rt.runtime.counts()).toMatchObject({ underWay: 0, ready: 0 });
    }
  });
});

describe('an actor that has something to do is not let go', () => {
  test('with a child that runs', async () => {
    const rt = await open(2);
    const one = await rt.spawn('counter/0', { input: { start: 0 } });
    await during(rt, one.send({ type: 'watch' }));
    for (const [start, name] of names.slice(1, 20).entries())
      await rt.spawn(name, { input: { start } });
    expect(rt.runtime.counts().live).toBeLessThanOrEqual(4);
    await during(rt, one.send({ type: 'unwatch' }));
    expect(one.getSnapshot().value).toMatchObject({ eyes: 'shut' });
  });

  test('with a write that is not committed, and with a mailbox that waits', async () => {
    const clock = new SimulatedClock();
    const store = faultyStore(clock);
    const rt = await open(2, clock, store);
    const one = await rt.spawn('counter/0', { input: { start: 0 } });
    store.delayTasks = 20;
    const sends = [1, 2, 3].map((amount) => one.send({ type: 'add', amount }));
    const births = names
      .slice(1, 10)
      .map((name) => rt.runtime.spawn(name, { input: { start: 0 } }));
    await during(rt, Promise.all([...sends, ...births]));
    expect(one.getSnapshot().context.count).toBe(6);
    expect(storedOf(store, one.address).turns).toBe(4);
  });
});
