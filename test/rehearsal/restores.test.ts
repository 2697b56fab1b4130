import { describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import type { MigratedState } from '../../runtime/actor/kind.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { linesOf, order, type Release, rehearseUpgrade, running, stored } from './releases.ts';

const OLD: Release = { order: order() };
const THREE = { 'order/1': [], 'order/2': ['order.paid'], 'order/3': ['order.cancel'] };

const migrate = (run: (state: MigratedState) => unknown) => ({ 2: run as never });

describe('a release that fits', () => {
  test('holds, with every record counted', async () => {
    const rehearsal = rehearseUpgrade(await stored(OLD, THREE), OLD, OLD);
    expect(rehearsal).toMatchObject({ holds: true, records: 3, affected: 0, findings: [] });
    expect(rehearsal.kinds).toEqual([{ kind: 'order', records: 3, restored: 3 }]);
  });

  test('is found out by reading alone', async () => {
    const store = await stored(OLD, THREE);
    const readOnly = {
      entries: () => store.entries(),
      load: (address: string) => store.load(address),
      rows: (address: string) => store.rows(address),
    };
    const before = [...store.entries()].map(([address]) => store.load(address));
    rehearseUpgrade(readOnly as Store, OLD, { order: order({ open: 'waiting' }) });
    expect([...store.entries()].map(([address]) => store.load(address))).toEqual(before);
  });

  test('may be rehearsed without the old code', async () => {
    const rehearsal = rehearseUpgrade(await stored(OLD, THREE), undefined, OLD);
    expect(rehearsal).toMatchObject({ holds: true, records: 3, differences: undefined });
  });
});

describe('a record that would not restore', () => {
  test('has lost its state, which is named, with examples up to the limit', async () => {
    const store = await stored(OLD, { 'order/1': [], 'order/2': [], 'order/3': ['order.paid'] });
    const next = { order: order({ open: 'waiting' }) };
    const rehearsal = rehearseUpgrade(store, OLD, next, { examplesMax: 1 });
    expect(rehearsal).toMatchObject({ holds: false, records: 3, affected: 2 });
    expect(rehearsal.findings[0]).toMatchObject({
      name: 'state-gone',
      level: 'error',
      detail: 'The machine has no state "open"',
      fix: 'migrate[2] says which state takes its place',
      count: 2,
      examples: ['order/1@test'],
    });
  });

  test('is told from one whose migration leads to a state that does not exist', async () => {
    const store = await stored(OLD, { 'order/1': [] });
    const lost = migrate(({ snapshot, timers }) => ({
      snapshot: { ...(snapshot as object), value: 'nowhere' },
      timers,
    }));
    const next = { order: { machine: order(), version: 2, migrate: lost } };
    expect(linesOf(rehearseUpgrade(store, OLD, next))).toEqual([
      'order state-gone 1 The machine has no state "nowhere"',
    ]);
  });

  test('has a migration that throws, whatever the actor: one finding', async () => {
    const store = await stored(OLD, { 'order/1': [], 'order/2': [] });
    const broken = migrate(() => {
      throw new Error('no total');
    });
    const next = { order: { machine: order(), version: 2, migrate: broken } };
    expect(linesOf(rehearseUpgrade(store, OLD, next))).toEqual([
      'order would-not-restore 2 Migration of the actor to version 2 failed: no total',
    ]);
  });

  test('has a migration that returns nonsense', async () => {
    const store = await stored(OLD, { 'order/1': [] });
    for (const nonsense of [undefined, 7, {}, { snapshot: {}, timers: [{ id: 1 }] }]) {
      const next = { order: { machine: order(), version: 2, migrate: migrate(() => nonsense) } };
      const [line] = linesOf(rehearseUpgrade(store, OLD, next));
      expect(line).toMatch(/^order would-not-restore 1 .*must return \{ snapshot, timers \}/);
    }
  });

  test('is of a newer version', async () => {
    const second = { order: { machine: order(), version: 2 } };
    const [line] = linesOf(rehearseUpgrade(await stored(second, { 'order/1': [] }), second, OLD));
    expect(line).toMatch(/^order would-not-restore 1 the actor was stored as .* version 2/);
  });

  test('has a child whose source is gone', async () => {
    const parent = (source: string) =>
      setup({ actors: { [source]: order() } as never }).createMachine({
        id: 'parent',
        invoke: { id: 'child', src: source, input: { total: 1 } } as never,
      });
    const old = { parent: parent('order') };
    const store = await stored(old, { 'parent/1': [] });
    const [line] = linesOf(rehearseUpgrade(store, old, { parent: parent('purchase') }));
    expect(line).toMatch(/^parent would-not-restore 1 .*child "child" has a source/);
  });

  test('has a child whose state is gone', async () => {
    const parent = (open: string) =>
      setup({ actors: { order: order({ open }) } }).createMachine({
        id: 'parent',
        invoke: { id: 'child', src: 'order', input: { total: 1 } },
      });
    const old = { parent: parent('open') };
    const store = await stored(old, { 'parent/1': [] });
    const [line] = linesOf(rehearseUpgrade(store, old, { parent: parent('waiting') }));
    expect(line).toBe('parent state-gone 1 The machine has no state "child:open"');
  });

  test('was broken before, which is said', async () => {
    const store = await stored({ order: order({ open: 'draft' }) }, { 'order/1': [] });
    const rehearsal = rehearseUpgrade(store, OLD, OLD);
    expect(rehearsal.holds).toBe(false);
    expect(rehearsal.findings[0]).toMatchObject({ name: 'broken-before', level: 'warning' });
  });

  test('that restores with the new release only is a note', async () => {
    const store = await stored({ order: order({ open: 'draft' }) }, { 'order/1': [] });
    const rehearsal = rehearseUpgrade(store, OLD, { order: order({ open: 'draft' }) });
    expect(rehearsal.findings.map(({ name }) => name)).toEqual([
      'restores-only-with-new',
      'version-not-raised',
    ]);
    expect(rehearsal.holds).toBe(true);
  });

  test('cannot be read by the store', async () => {
    const store = await stored(OLD, THREE);
    const damaged = {
      entries: () => store.entries(),
      load: (address: string) => {
        if (address !== 'order/2@test') return store.load(address);
        throw new RuntimeError('RECORD_INVALID', `${address} has a wrong checksum.`);
      },
      rows: (address: string) => store.rows(address),
      damaged: () => [['order/2@test', 'seen already'] as const, ['order/9@test', 'torn'] as const],
    };
    const rehearsal = rehearseUpgrade(damaged as unknown as Store, OLD, OLD);
    expect(linesOf(rehearsal)).toEqual([
      'order unreadable 1 the actor has a wrong checksum.',
      'order unreadable 1 torn',
    ]);
    expect(rehearsal).toMatchObject({ holds: false, records: 4, affected: 2 });
  });

  test('is not confused with a store that fails as a whole', async () => {
    const failing = {
      entries: () => [['order/1@test', {}]],
      load: () => {
        throw Object.assign(new Error('EIO'), { code: 'EIO' });
      },
    };
    expect(() => rehearseUpgrade(failing as never, OLD, OLD)).toThrow('EIO');
  });
});

test('what is said of a record is what a node meets', async () => {
  const old = { order: order(), parcel: order() };
  const store = await stored(old, { ...THREE, 'parcel/1': [], 'parcel/2': ['order.paid'] });
  const next = { order: order({ open: 'waiting' }), parcel: order({ extraState: 'sent' }) };
  const rehearsal = rehearseUpgrade(store, old, next, { examplesMax: 10 });
  const refused = rehearsal.findings.flatMap(({ name, examples }) =>
    name === 'state-gone' ? examples : [],
  );
  const node = await running(next, store);
  const met: string[] = [];
  for (const [address] of store.entries()) {
    try {
      node.actor(address as 'order/1').getSnapshot();
    } catch (thrown) {
      if ((thrown as RuntimeError).code === 'RECORD_INVALID') met.push(address);
    }
  }
  await node.stop();
  expect(met).toEqual(['order/1@test']);
  expect(refused).toEqual(met);
});

test('findings stay few, however many different things go wrong', async () => {
  const actors = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`order/${n}`, []]));
  const store = await stored(OLD, actors);
  let count = 0;
  const chatty = migrate(() => {
    count += 1;
    throw new Error(`trouble number ${count}`);
  });
  const next = { order: { machine: order(), version: 2, migrate: chatty } };
  const { findings, affected } = rehearseUpgrade(store, OLD, next);
  expect(affected).toBe(150);
  expect(findings).toHaveLength(101);
  expect(findings.find(({ count }) => count === 50)?.detail).toMatch(/^others/);
});
