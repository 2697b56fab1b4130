import { describe, expect, test } from 'vitest';
import type { MigratedState } from '../../runtime/actor/kind.ts';
import { rehearsedKinds } from '../../runtime/rehearsal/kinds.ts';
import { linesOf, order, type Release, rehearseUpgrade, stored } from './releases.ts';

const OLD: Release = { order: order() };

test('a migration is described by what it changes, and counted', async () => {
  const store = await stored(OLD, { 'order/1': [], 'order/2': [], 'order/3': ['order.paid'] });
  const migrate = {
    2: ({ snapshot, timers }: MigratedState) => {
      const { value, context } = snapshot as { value: string; context: { total: number } };
      return {
        snapshot: {
          value: value === 'open' ? 'waiting' : value,
          context: { cents: context.total * 100 },
        },
        timers: timers.map(({ id, dueAt }) => ({ id: id.replace('.open', '.waiting'), dueAt })),
      };
    },
  };
  const next = { order: { machine: order({ open: 'waiting' }), version: 2, migrate } };
  const rehearsal = rehearseUpgrade(store, OLD, next);
  expect(linesOf(rehearsal)).toEqual([
    'order migrated 3 version 1 → 2: context.cents added',
    'order migrated 3 version 1 → 2: context.total removed',
    'order migrated 2 version 1 → 2: state "open" → "waiting"',
    'order migrated 2 version 1 → 2: timer "xstate.after.limit.order.open" removed',
    'order migrated 2 version 1 → 2: timer "xstate.after.limit.order.waiting" added',
  ]);
  expect(rehearsal.holds).toBe(true);
});

test('a version without a migration takes the record as it is', async () => {
  const store = await stored(OLD, { 'order/1': [] });
  const next = { order: { machine: order(), version: 3 } };
  expect(linesOf(rehearseUpgrade(store, OLD, next))).toEqual([
    'order migrated 1 version 1 → 3: taken as it is, there is no migration',
  ]);
});

test('a migration that moves a deadline says so, and what it mutates is seen', async () => {
  const store = await stored(OLD, { 'order/1': [] });
  const migrate = {
    2: (state: MigratedState) => {
      (state.snapshot as { context: { total: number } }).context.total = 1;
      return { ...state, timers: state.timers.map(({ id }) => ({ id, dueAt: 7 })) };
    },
  };
  const next = { order: { machine: order(), version: 2, migrate } };
  expect(linesOf(rehearseUpgrade(store, OLD, next))).toEqual([
    'order migrated 1 version 1 → 2: context.total changed',
    'order migrated 1 version 1 → 2: timer "xstate.after.limit.order.open" moved',
  ]);
});

describe('kinds', () => {
  const both = { order: order(), parcel: order() };

  test('that the new release has dropped leave their actors waiting', async () => {
    const store = await stored(both, { 'order/1': [], 'parcel/1': [] });
    const rehearsal = rehearseUpgrade(store, both, OLD);
    expect(rehearsal).toMatchObject({ holds: false, records: 2, affected: 1 });
    expect(linesOf(rehearsal)[0]).toMatch(/^parcel kind-removed 1 NEW has no kind "parcel"/);
  });

  test('that neither release has are a note', async () => {
    const store = await stored(both, { 'order/1': [], 'parcel/1': [] });
    for (const old of [OLD, undefined]) {
      const rehearsal = rehearseUpgrade(store, old, OLD);
      expect(rehearsal).toMatchObject({ holds: true, affected: 0 });
      expect(linesOf(rehearsal)[0]).toMatch(/^parcel kind-unknown 1/);
    }
  });

  test('can be picked', async () => {
    const store = await stored(both, { 'order/1': [], 'parcel/1': [] });
    const rehearsal = rehearseUpgrade(store, both, OLD, { only: ['order'] });
    expect(rehearsal).toMatchObject({ holds: true, records: 1, findings: [] });
    expect(rehearsal.differences?.map(({ kind }) => kind)).toEqual(['order']);
  });
});

describe('machines alone', () => {
  test('are compared by states, events and deadlines', async () => {
    const next = { order: order({ open: 'waiting', extraState: 'sent' }), parcel: order() };
    const { differences } = rehearseUpgrade(await stored(OLD, {}), OLD, next);
    expect(differences?.[0]).toEqual({
      kind: 'order',
      oldVersion: 1,
      newVersion: 1,
      states: { added: ['waiting', 'sent'], removed: ['open'] },
      events: { added: [], removed: [] },
      timers: {
        added: ['xstate.after.limit.order.waiting'],
        removed: ['xstate.after.limit.order.open'],
      },
    });
    expect(differences?.[1]).toMatchObject({ kind: 'parcel', oldVersion: undefined });
    expect(differences?.[1]?.events.added).toEqual(['order.paid', 'order.cancel']);
  });

  test('that differ where it matters should have a version of their own', async () => {
    const store = await stored(OLD, {});
    const changed = order({ open: 'waiting' });
    expect(linesOf(rehearseUpgrade(store, OLD, { order: changed }))).toEqual([
      'order version-not-raised 0 The machine differs, and its version is 1 as before',
    ]);
    const raised = { order: { machine: changed, version: 2 } };
    expect(linesOf(rehearseUpgrade(store, OLD, raised))).toEqual([]);
    const grown = { order: order({ extraState: 'sent' }) };
    expect(linesOf(rehearseUpgrade(store, OLD, grown))).toEqual([]);
  });
});

describe('a module', () => {
  test.each([
    [undefined, 'must export "kinds"'],
    [{}, 'must export "kinds"'],
    [{ kinds: {} }, 'must export "kinds"'],
    [{ kinds: { order: 7 } }, 'Kind "order" is a machine or { machine, … }, got "7"'],
    [{ kinds: { order: {} } }, 'Kind "order": a machine is what createMachine returns'],
    [{ kinds: { order: { machine: order(), version: 0 } } }, 'version must be a positive integer'],
    [{ kinds: { order: { machine: order(), migrate: { 2: 'x' } } } }, 'migrate[2] is a function'],
    [{ kinds: { 'a b': order() } }, 'cannot name a kind'],
    [{ kinds: { order: order() }, limits: { childrenMax: 0 } }, '"childrenMax"'],
  ])('that makes no sense is refused: %#', (exported, message) => {
    expect(() => rehearsedKinds(exported)).toThrow(message);
  });
});
