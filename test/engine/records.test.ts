/**
 * Records of another age: older ones are migrated step by step, newer and damaged ones
 * are refused for their actor alone and stay as they are, to the byte.
 */

import { describe, expect, test } from 'vitest';
import { assign, sendTo, setup } from 'xstate';
import type { KindOptions, MigratedState } from '../../runtime/actor/kind.ts';
import { reply, to } from '../../runtime/machine.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

const HOUR_MS = 3_600_000;

const firstMachine = setup({
  types: { context: {} as { total: number }, events: {} as { type: 'sum' } },
  delays: { limit: HOUR_MS },
}).createMachine({
  context: { total: 1 },
  initial: 'open',
  states: {
    open: {
      on: { sum: { actions: reply(({ context }) => context.total) } },
      after: { limit: 'late' },
    },
    late: {},
  },
});

/** Version 3: the state `open` is called `waiting`, and amounts are lists. */
const thirdMachine = setup({
  types: {
    context: {} as { totals: number[]; note: string },
    events: {} as { type: 'sum' } | { type: 'tell' },
  },
  delays: { limit: HOUR_MS },
}).createMachine({
  context: { totals: [], note: 'born' },
  initial: 'waiting',
  states: {
    waiting: {
      on: {
        sum: { actions: reply(({ context }) => context) },
        tell: { actions: sendTo(() => to('order/1'), { type: 'sum' }) },
      },
      after: { limit: { target: 'late', actions: assign({ note: 'late' }) } },
    },
    late: {},
  },
});

const stepByStep: NonNullable<KindOptions['migrate']> = {
  2: ({ snapshot, timers }) => {
    const { value, context } = snapshot as { value: string; context: { total: number } };
    return { snapshot: { value, context: { totals: [context.total] } }, timers };
  },
  3: ({ snapshot, timers }) => {
    const { context } = snapshot as { context: { totals: number[] } };
    return {
      snapshot: { value: 'waiting', context: { ...context, note: 'migrated' } },
      timers: timers.map(({ id, dueAt }) => ({ id: id.replace('.open', '.waiting'), dueAt })),
    };
  },
};

/** A store with two orders of version 1, spawned an hour before their deadlines. */
async function oldStore(): Promise<Store> {
  const store = memoryStore();
  const rt = await testRuntime({ kinds: { order: firstMachine }, store });
  await rt.spawn('order/1');
  await rt.spawn('order/2');
  rt.runtime.crash();
  return store;
}

/** Rewrites a record as somebody else would have left it. */
async function rewrite(store: Store, address: string, record: string): Promise<void> {
  const [, entry] = [...store.entries()].find(([found]) => found === address) ?? [];
  const write = { address, record, entry: entry ?? null, history: [] };
  await new Promise<void>((resolve) => {
    store.commit({ shard: 'test', fence: store.fence('test'), writes: [write] }, () => resolve());
  });
}

function open(store: Store, options: KindOptions, kind = thirdMachine) {
  return testRuntime({ kinds: { order: kind }, options: { order: options as never }, store });
}

describe('an older record', () => {
  test('is migrated step by step, its deadline with it', async () => {
    const store = await oldStore();
    const { timers: before } = storedOf(store, 'order/1@test');
    const rt = await open(store, { version: 3, migrate: stepByStep });
    const one = rt.actor('order/1');
    expect(one.getSnapshot()).toMatchObject({
      value: 'waiting',
      context: { totals: [1], note: 'migrated' },
    });
    // Looking changes nothing; the next turn writes the new version.
    expect(JSON.parse(store.load(one.address) as string).version).toBe(1);
    await during(rt, one.send({ type: 'sum' }));
    const after = JSON.parse(store.load(one.address) as string);
    expect(after.version).toBe(3);
    expect(after.timers.map(([, dueAt]: [string, number]) => dueAt)).toEqual(
      before?.map(([, dueAt]) => dueAt),
    );
    await rt.advance(HOUR_MS - 1);
    expect(one.getSnapshot().value).toBe('waiting');
    await rt.advance(1);
    expect(one.getSnapshot()).toMatchObject({ value: 'late', context: { note: 'late' } });
    // The other one was never looked at: its deadline came all the same.
    expect(rt.actor('order/2').getSnapshot().value).toBe('late');
  });

  test('needs no step where nothing changed', async () => {
    const store = await oldStore();
    const rt = await open(store, { version: 9 }, firstMachine as never);
    expect(await during(rt, rt.actor('order/1').ask({ type: 'sum' }))).toBe(1);
    expect(JSON.parse(store.load('order/1@test') as string).version).toBe(9);
  });

  test('a turn that fails after a migration leaves the migrated state', async () => {
    const store = await oldStore();
    const rt = await open(store, { version: 3, migrate: stepByStep });
    const limits = rt.actor('order/1');
    const asked = limits.ask({ type: 'sum' });
    expect(await during(rt, asked)).toEqual({ totals: [1], note: 'migrated' });
  });

  const failing: ReadonlyArray<
    readonly [what: string, migrate: (state: MigratedState) => unknown]
  > = [
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['gives nothing', () => undefined],
    ['forgets the deadlines', ({ snapshot }) => ({ snapshot })],
    ['gives no state', ({ timers }) => ({ timers })],
    [
      'gives a state that does not exist',
      ({ timers }) => ({ snapshot: { value: 'x', context: {} }, timers }),
    ],
    ['gives a deadline without a moment', ({ snapshot }) => ({ snapshot, timers: [{ id: 'x' }] })],
  ];

  test.each(failing)('whose migration %s is refused for its actor alone', async (_, migrate) => {
    const store = await oldStore();
    const text = store.load('order/1@test') as string;
    const one = JSON.parse(text).snapshot;
    // Only the first order is of the kind of state that this migration trips over.
    const broken = JSON.stringify({
      ...JSON.parse(text),
      snapshot: { ...one, context: { total: 7 } },
    });
    await rewrite(store, 'order/1@test', broken);
    const rt = await open(store, {
      version: 3,
      migrate: {
        ...stepByStep,
        2: (state) => {
          const { context } = state.snapshot as { context: { total: number } };
          const step = context.total === 7 ? migrate : (stepByStep[2] as typeof migrate);
          return step(state) as MigratedState;
        },
        3: (state) => {
          const snapshot = state.snapshot as { context: { totals?: unknown } } | undefined;
          if (snapshot?.context.totals === undefined) return state;
          return (stepByStep[3] as (state: MigratedState) => MigratedState)(state);
        },
      },
    });
    await expectRefused(rt, store, 'RECORD_INVALID', broken);
  });
});

async function expectRefused(
  rt: Awaited<ReturnType<typeof open>>,
  store: Store,
  code: string,
  text: string,
): Promise<void> {
  const one = rt.actor('order/1');
  expect(await during(rt, codeOf(one.send({ type: 'sum' })))).toBe(code);
  expect(await during(rt, codeOf(one.ask({ type: 'sum' })))).toBe(code);
  expect(await during(rt, codeOf(rt.runtime.spawn('order/1')))).toBe(code);
  expect(await codeOf(rt.runtime.explain('order/1'))).toBe(code);
  expect(() => one.getSnapshot()).toThrow();
  // A neighbour works, and its message to the refused one is kept, not lost.
  await during(rt, rt.actor('order/2').send({ type: 'tell' }));
  await rt.advance(2 * HOUR_MS);
  expect(rt.actor('order/2').getSnapshot().value).toBe('late');
  expect(rt.runtime.undelivered()).toMatchObject([{ to: one.address, error: { code } }]);
  expect(store.load('order/1@test')).toBe(text);
  await rt.crash();
  expect(store.load('order/1@test')).toBe(text);
  await rt.stop();
}

describe('a record that this process cannot read', () => {
  const newer: ReadonlyArray<readonly [what: string, change: object]> = [
    ['version of its kind', { version: 4 }],
    ['format', { format: 2 }],
  ];

  test.each(newer)('because of a newer %s is refused and left alone', async (_, change) => {
    const store = await oldStore();
    const text = JSON.stringify({ ...JSON.parse(store.load('order/1@test') as string), ...change });
    await rewrite(store, 'order/1@test', text);
    const rt = await open(store, { version: 3, migrate: stepByStep });
    await expectRefused(rt, store, 'RECORD_NEWER', text);
  });

  const damages: ReadonlyArray<
    readonly [what: string, damage: (record: Record<string, unknown>) => unknown]
  > = [
    ['not JSON', () => undefined],
    ['null', () => null],
    ['a number', () => 5],
    ['a list', () => []],
    ['empty', () => ({})],
    ['without a version', ({ version: _, ...rest }) => rest],
    ['with a version that is text', (record) => ({ ...record, version: '1' })],
    ['of another kind', (record) => ({ ...record, kind: 'other' })],
    ['without a state', ({ snapshot: _, ...rest }) => rest],
    ['with a state of null', (record) => ({ ...record, snapshot: null })],
    [
      'in a state that does not exist',
      (record) => ({ ...record, snapshot: { value: 'x', context: {} } }),
    ],
    ['with turns that are no number', (record) => ({ ...record, turns: 'many' })],
    ['with a time that is no number', (record) => ({ ...record, at: 'now' })],
    ['with deadlines that are no list', (record) => ({ ...record, timers: 5 })],
    ['with a deadline of null', (record) => ({ ...record, timers: [null] })],
    ['with a deadline without a moment', (record) => ({ ...record, timers: [['x', null]] })],
    ['with an outbox that is no list', (record) => ({ ...record, counter: 1, outbox: 5 })],
    [
      'with a message without an event',
      (record) => ({ ...record, counter: 1, outbox: [[1, 'order/2@test']] }),
    ],
    ['with an inbox that is no table', (record) => ({ ...record, inbox: { a: 5 } })],
    ['with effects that are no list', (record) => ({ ...record, effects: 5 })],
    ['with a counter that is no number', (record) => ({ ...record, counter: 'x' })],
    ['with a status nobody knows', (record) => ({ ...record, status: 'asleep' })],
  ];

  test.each(damages)('because it is %s is refused and left alone', async (_, damage) => {
    const store = await oldStore();
    const sound = {
      ...JSON.parse(store.load('order/1@test') as string),
      version: 3,
      snapshot: { value: 'waiting', context: { totals: [1], note: '' } },
    };
    const text = JSON.stringify(damage(sound)) ?? '{"format":1,';
    await rewrite(store, 'order/1@test', text);
    const rt = await open(store, { version: 3, migrate: stepByStep });
    await expectRefused(rt, store, 'RECORD_INVALID', text);
  });
});
