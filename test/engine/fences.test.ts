/**
 * Fences: a place changes its holder by the lease, by the store's fence, by a crash. Turns that were not
 * durable are gone and were told to nobody; machines that listen for takeovers hear of each first and once.
 */

import { describe, expect, test } from 'vitest';
import { assign, sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { SimulatedClock, type TestRuntimeOptions, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { diskFull, faultyStore } from './faulty-store.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

interface Stamped {
  readonly at?: number;
  readonly dueAt?: number;
}

const watcherMachine = setup({
  types: {
    context: {} as { heard: string[]; fences: number[] },
    events: {} as Stamped &
      (
        | { type: 'leadership.acquired'; fence: number }
        | { type: 'go'; token: string }
        | { type: 'tell' }
      ),
  },
  delays: { limit: 60_000 },
}).createMachine({
  context: { heard: [], fences: [] },
  initial: 'early',
  on: {
    'leadership.acquired': {
      actions: assign({
        heard: ({ context }) => [...context.heard, 'leadership'],
        fences: ({ context, event }) => [...context.fences, event.fence],
      }),
    },
    go: { actions: assign({ heard: ({ context, event }) => [...context.heard, event.token] }) },
    tell: { actions: sendTo(() => to('plain/1'), { type: 'go', token: 'told' }) },
  },
  states: {
    early: {
      after: {
        limit: {
          target: 'late',
          actions: assign({ heard: ({ context }) => [...context.heard, 'limit'] }),
        },
      },
    },
    late: {},
  },
});

const plainMachine = setup({
  types: {
    context: {} as { heard: string[] },
    events: {} as { type: 'go'; token: string },
  },
}).createMachine({
  context: { heard: [] },
  on: {
    go: { actions: assign({ heard: ({ context, event }) => [...context.heard, event.token] }) },
  },
});

async function open(options: Partial<TestRuntimeOptions> = {}) {
  const clock = new SimulatedClock();
  const store = faultyStore(clock, options.store);
  const lease = localLease({ lastFence: (name) => store.fence(name) });
  const rt = await testRuntime({
    ...options,
    kinds: { watcher: watcherMachine, plain: plainMachine },
    clock,
    store,
    lease,
  });
  return { rt, clock, store, lease };
}

/** Commits as a newer holder of the place would. */
async function commitElsewhere(store: ReturnType<typeof memoryStore>, fence: number) {
  await new Promise<void>((resolve) => {
    store.commit({ shard: 'test', fence, writes: [] }, () => resolve());
  });
}

describe('a fence that a newer holder has raised', () => {
  test('drops the whole place; senders may try again, and nothing of it is stored', async () => {
    const behind = memoryStore();
    const { rt, store } = await open({ store: behind });
    const one = await rt.spawn('watcher/1');
    const two = await rt.spawn('plain/2');
    await commitElsewhere(behind, 5);
    const text = store.load(one.address);
    const first = one.send({ type: 'go', token: 'a' });
    const second = codeOf(two.send({ type: 'go', token: 'b' }));
    await expect(during(rt, first)).rejects.toMatchObject({ code: 'NOT_HOSTED', retryable: true });
    expect(await second).toBe('NOT_HOSTED');
    expect(rt.runtime.isHosting).toBe(false);
    expect(await codeOf(one.send({ type: 'go', token: 'c' }))).toBe('NOT_HOSTED');
    expect(await codeOf(rt.runtime.spawn('plain/3'))).toBe('NOT_HOSTED');
    expect(() => one.getSnapshot()).toThrow('not hosted');
    expect(await codeOf(rt.runtime.dropUndelivered('x'))).toBe('NOT_HOSTED');
    expect(store.load(one.address)).toBe(text);
    expect(rt.runtime.counts()).toMatchObject({ live: 0, deadlines: 0, ready: 0, underWay: 0 });
    expect(rt.runtime.undelivered()).toEqual([]);
  });

  test('the place comes back once the lease gives a higher fence', async () => {
    const behind = memoryStore();
    const { rt } = await open({ store: behind });
    const one = await rt.spawn('watcher/1');
    await commitElsewhere(behind, 3);
    await during(rt, codeOf(one.send({ type: 'go', token: 'a' })));
    await rt.advance('1m');
    expect(rt.runtime.isHosting).toBe(true);
    await during(rt, one.send({ type: 'go', token: 'b' }));
    const { heard, fences } = one.getSnapshot().context;
    expect(heard).toEqual(['leadership', 'limit', 'b']);
    expect(fences).toHaveLength(1);
    expect(fences[0]).toBeGreaterThan(3);
  });

  test('a tell of an earlier turn arrives once after the place has come back', async () => {
    const behind = memoryStore();
    const { rt } = await open({ store: behind });
    await rt.spawn('plain/1');
    const one = await rt.spawn('watcher/1');
    void codeOf(one.send({ type: 'tell' }));
    // The tell's own turn is committed; the turn that takes it is refused by the fence.
    rt.clock.runDue();
    await commitElsewhere(behind, 4);
    await rt.advance('2m');
    expect(rt.runtime.isHosting).toBe(true);
    const { heard } = rt.actor('plain/1').getSnapshot().context;
    expect(heard.length).toBeLessThanOrEqual(1);
    await during(rt, one.send({ type: 'tell' }));
    await rt.advance('1m');
    expect(rt.actor('plain/1').getSnapshot().context.heard.at(-1)).toBe('told');
    expect(rt.runtime.undelivered()).toEqual([]);
    expect(storedOf(behind, one.address).outbox).toBeUndefined();
  });
});

describe('a lease that is lost', () => {
  test('refuses what waits with NOT_HOSTED, and goes on when it is ours again', async () => {
    const { rt, lease, store } = await open();
    const one = await rt.spawn('watcher/1');
    store.delayTasks = 3;
    const waiting = codeOf(one.send({ type: 'go', token: 'a' }));
    lease.expire('test');
    expect(rt.runtime.isHosting).toBe(false);
    expect(await waiting).toBe('NOT_HOSTED');
    await rt.settle();
    expect(rt.runtime.isHosting).toBe(true);
    await during(rt, one.send({ type: 'go', token: 'b' }));
    expect(one.getSnapshot().context.heard).toEqual(['leadership', 'b']);
  });

  test('a standby keeps nothing in memory that it may not know', async () => {
    const { rt, lease } = await open();
    const one = await rt.spawn('plain/1');
    const other = lease.hold('test', { acquired() {}, standsBy() {}, lost() {} });
    lease.expire('test');
    await rt.settle();
    expect(rt.runtime.isHosting).toBe(false);
    await codeOf(rt.runtime.explain('plain/1'));
    expect(rt.runtime.counts().live).toBe(0);
    // The other holder changes the actor, through a runtime of its own.
    const stored = storedOf(rt.store, one.address);
    const record = {
      ...stored,
      snapshot: { ...stored.snapshot, context: { heard: ['elsewhere'] } },
    };
    await new Promise<void>((resolve) => {
      const entry = rt.store.query({ limit: 1 }).rows[0]?.[1] ?? null;
      const write = { address: one.address, record: JSON.stringify(record), entry, history: [] };
      rt.store.commit({ shard: 'test', fence: 2, writes: [write] }, () => resolve());
      void rt.settle();
    });
    other.release();
    await rt.settle();
    await during(rt, one.send({ type: 'go', token: 'here' }));
    expect(one.getSnapshot().context.heard).toEqual(['elsewhere', 'here']);
  });
});

test('the runtime says under which fence it hosts, and 0 while it does not', async () => {
  const { rt, lease } = await open();
  const first = rt.runtime.fence;
  expect(first).toBeGreaterThan(0);
  expect(first).toBe(rt.runtime.metrics().fence);
  const other = lease.hold('test', { acquired() {}, standsBy() {}, lost() {} });
  lease.expire('test');
  await rt.settle();
  expect([rt.runtime.isHosting, rt.runtime.fence]).toEqual([false, 0]);
  other.release();
  await rt.settle();
  expect(rt.runtime.isHosting).toBe(true);
  expect(rt.runtime.fence).toBeGreaterThan(first);
  await rt.stop();
  expect(rt.runtime.fence).toBe(0);
});

describe('leadership.acquired', () => {
  test('comes before every message and timer, with a higher fence each time, once per fence', async () => {
    const { rt, lease } = await open();
    const one = await rt.spawn('watcher/1');
    const other = lease.hold('test', { acquired() {}, standsBy() {}, lost() {} });
    lease.expire('test');
    await rt.advance('5m');
    other.release();
    // The timer is long due, and a message comes at once.
    await Promise.resolve();
    await Promise.resolve();
    const sent = codeOf(one.send({ type: 'go', token: 'a' }));
    await during(rt, sent);
    await during(rt, one.send({ type: 'go', token: 'b' }));
    await rt.crash();
    await during(rt, one.send({ type: 'go', token: 'c' }));
    const { heard, fences } = one.getSnapshot().context;
    const own = heard.filter((each) => each !== 'a');
    expect(own).toEqual(['leadership', 'limit', 'b', 'leadership', 'c']);
    if (heard.includes('a')) expect(heard.indexOf('a')).toBeGreaterThan(0);
    expect(fences).toEqual([...new Set(fences)].sort((x, y) => x - y));
    expect(fences).toHaveLength(2);
  });

  test('comes to idle actors too, without anybody asking for them', async () => {
    const { rt } = await open();
    await rt.spawn('watcher/1');
    await rt.spawn('plain/1');
    await rt.crash();
    await rt.settle();
    expect(storedOf(rt.store, 'watcher/1@test').snapshot.context.fences).toEqual([2]);
    expect(rt.runtime.counts().live).toBe(1);
  });

  test('is not repeated when the actor is let go and read again, or its commit is refused', async () => {
    const { rt, store } = await open({ limits: { liveActorsMax: 2 } });
    const one = await rt.spawn('watcher/1');
    rt.runtime.crash();
    let refusals = 0;
    store.refuse = ({ writes }) => {
      const isHeard = writes.some(({ address }) => address === one.address);
      if (isHeard) refusals += 1;
      return isHeard && refusals <= 2 ? diskFull() : undefined;
    };
    await rt.start();
    await rt.advance('5s');
    for (let index = 0; index < 6; index += 1) await rt.spawn(`plain/${index}`);
    await during(rt, one.send({ type: 'go', token: 'a' }));
    expect(refusals).toBeGreaterThan(2);
    expect(one.getSnapshot().context.heard).toEqual(['leadership', 'a']);
  });

  test('is not sent to an actor in the term it was born in', async () => {
    const { rt } = await open();
    await rt.crash();
    const one = await rt.spawn('watcher/1');
    await during(rt, one.send({ type: 'go', token: 'a' }));
    expect(one.getSnapshot().context.heard).toEqual(['a']);
  });
});

describe('the first commit of a holder', () => {
  test('is tried again while the store refuses it; until then the place is not hosted', async () => {
    const { rt, store } = await open();
    await rt.spawn('plain/1');
    rt.runtime.crash();
    store.refuse = () => diskFull();
    await rt.start();
    await rt.advance('3s');
    expect(await during(rt, codeOf(rt.actor('plain/1').send({ type: 'go', token: 'a' })))).not.toBe(
      'taken',
    );
    store.refuse = () => undefined;
    await rt.advance('20s');
    await during(rt, rt.actor('plain/1').send({ type: 'go', token: 'b' }));
    expect(rt.actor('plain/1').getSnapshot().context.heard).toEqual(['b']);
    expect(store.fence('test')).toBeGreaterThan(1);
  });
});
