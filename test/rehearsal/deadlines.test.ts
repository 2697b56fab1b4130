import { describe, expect, test } from 'vitest';
import { raise, setup } from 'xstate';
import type { MigratedState } from '../../runtime/actor/kind.ts';
import { memoryStore } from '../../stores/memory.ts';
import { linesOf, order, type Release, rehearseUpgrade, running, stored } from './releases.ts';

const LIMIT = 'xstate.after.limit.order.open';
const REMINDER = 'xstate.after.reminder.order.open';
const OLD: Release = { order: order() };
const WITH_REMINDER = order({ after: { limit: 'expired', reminder: {} } });

describe('a deadline that would never come', () => {
  test('is found where a state got an `after`, with the migration that adds it', async () => {
    const store = await stored(OLD, { 'order/1': [], 'order/2': ['order.paid'] });
    const rehearsal = rehearseUpgrade(store, OLD, { order: WITH_REMINDER });
    expect(rehearsal).toMatchObject({ holds: false, affected: 1 });
    expect(rehearsal.findings[0]).toMatchObject({
      name: 'timer-never-armed',
      level: 'warning',
      count: 1,
      fix: `migrate[2] adds { id: "${REMINDER}", dueAt } to the timers`,
    });
    expect(linesOf(rehearsal)).toEqual([
      `order timer-never-armed 1 timer "${REMINDER}" would never come: its state is active and no deadline is stored`,
      'order version-not-raised 0 The machine differs, and its version is 1 as before',
    ]);
  });

  test('does not come in a real runtime either', async () => {
    const untimed = { order: order({ after: {} }) };
    const store = await stored(untimed, { 'order/1': [] });
    expect(linesOf(rehearseUpgrade(store, untimed, OLD))[0]).toMatch(/never-armed 1/);
    const node = await running(OLD, store);
    await node.advance('30d');
    expect(node.actor('order/1').getSnapshot()).toMatchObject({ value: 'open' });
    await node.stop();
  });

  test('is gone once the migration adds it', async () => {
    const store = await stored(OLD, { 'order/1': [] });
    const migrate = {
      2: ({ snapshot, timers }: MigratedState) => ({
        snapshot,
        timers: [...timers, { id: REMINDER, dueAt: 5 }],
      }),
    };
    const next = { order: { machine: WITH_REMINDER, version: 2, migrate } };
    const rehearsal = rehearseUpgrade(store, OLD, next);
    expect(linesOf(rehearsal)).toEqual([
      `order migrated 1 version 1 → 2: timer "${REMINDER}" added`,
    ]);
    expect(rehearsal.holds).toBe(true);
  });

  test('is no fault of the new release where it has fired and a guard kept the state', async () => {
    const kept = { order: order({ after: { limit: { target: 'expired', guard: () => false } } }) };
    const store = await stored(kept, { 'order/1': [] }, '1h');
    const rehearsal = rehearseUpgrade(store, kept, kept);
    expect(rehearsal.findings.map(({ name }) => name)).toEqual(['timer-missing-before']);
    expect(rehearsal.holds).toBe(true);
    expect(rehearseUpgrade(store, undefined, kept).holds).toBe(false);
  });

  test('is not looked for in actors that have ended', async () => {
    const final = (after: object) =>
      setup({ delays: { limit: 5 } }).createMachine({
        id: 'm',
        initial: 'end',
        after: after as never,
        states: { end: { type: 'final' } },
      });
    const store = await stored({ m: final({}) }, { 'm/1': [] });
    expect(rehearseUpgrade(store, { m: final({}) }, { m: final({ limit: {} }) }).affected).toBe(0);
  });
});

test('a deadline is no concern of actors that supervision has stopped', async () => {
  const failing = (after: object) =>
    setup({
      types: {} as { events: { type: 'fail' } },
      delays: { limit: 60_000 },
      guards: {
        broken: () => {
          throw new Error('broken');
        },
      },
    }).createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { on: { fail: { guard: 'broken' } }, after: after as never } },
    });
  const supervise = { onFailure: 'stop' as const };
  const old = { m: { machine: failing({ limit: {} }), supervise } };
  const store = memoryStore();
  const node = await running(old, store);
  const actor = await node.spawn('m/1' as never, {} as never);
  await expect(actor.send({ type: 'fail' } as never)).rejects.toThrow();
  await node.stop();
  expect([...store.entries()][0]?.[1].status).toBe('stopped');
  expect(rehearseUpgrade(store, old, { m: failing({}) }).affected).toBe(0);
  expect(rehearseUpgrade(store, undefined, { m: failing({ limit: {} }) }).affected).toBe(0);
});

describe('a deadline that vanishes', () => {
  test('is found where its `after` is gone', async () => {
    const store = await stored(OLD, { 'order/1': [] });
    const rehearsal = rehearseUpgrade(store, OLD, { order: order({ after: {} }) });
    expect(rehearsal.findings[0]).toMatchObject({ name: 'timer-vanishes', level: 'error' });
    expect(rehearsal.findings[0]?.detail).toContain(`timer "${LIMIT}" would fire into nothing`);
  });

  test('is found where a migration renames the state and forgets it', async () => {
    const store = await stored(OLD, { 'order/1': [] });
    const migrate = {
      2: ({ snapshot, timers }: MigratedState) => ({
        snapshot: { ...(snapshot as object), value: 'waiting' },
        timers,
      }),
    };
    const next = { order: { machine: order({ open: 'waiting' }), version: 2, migrate } };
    const names = rehearseUpgrade(store, OLD, next).findings.map(({ name }) => name);
    expect(names).toEqual(['timer-vanishes', 'timer-never-armed', 'migrated']);
    const without = rehearseUpgrade(store, undefined, next).findings.map(({ name }) => name);
    expect(without).toEqual(names);
  });

  const ticking = (on: Record<string, object>) =>
    setup({ types: {} as { events: { type: 'tick' } } }).createMachine({
      id: 'ticker',
      initial: 'a',
      entry: raise({ type: 'tick' }, { delay: 60_000, id: 'tick' }),
      states: { a: { on }, b: { on: { tick: 'a' } } } as never,
    });

  test('is found where an event of a delayed raise is not taken any more', async () => {
    const old = { ticker: ticking({ tick: {} }) };
    const store = await stored(old, { 'ticker/1': [] });
    const [line] = linesOf(rehearseUpgrade(store, old, { ticker: ticking({}) }));
    expect(line).toMatch(/^ticker timer-vanishes 1 timer "tick" would fire into nothing/);
  });

  test('was going to fire into nothing before: no finding', async () => {
    const old = { ticker: ticking({}) };
    const store = await stored(old, { 'ticker/1': [] });
    expect(rehearseUpgrade(store, old, old).findings).toEqual([]);
    expect(rehearseUpgrade(store, undefined, old).findings).toEqual([]);
  });

  test('is not saved by a wildcard', async () => {
    const caught = setup({ types: {} as { events: { type: 'x' } } }).createMachine({
      id: 'order',
      initial: 'open',
      context: { total: 0 },
      on: { '*': {} },
      states: { open: {} },
    });
    const store = await stored(OLD, { 'order/1': [] });
    expect(linesOf(rehearseUpgrade(store, OLD, { order: caught }))[0]).toMatch(/timer-vanishes 1/);
  });
});

describe('a deadline that changes', () => {
  const next: Release = { order: order({ limitMs: 1_200_000 }) };

  test('is a note with both delays, and a warning when asked to be strict', async () => {
    const store = await stored(OLD, { 'order/1': [], 'order/2': [] });
    const rehearsal = rehearseUpgrade(store, OLD, next);
    expect(rehearsal).toMatchObject({ holds: true, affected: 0 });
    expect(linesOf(rehearsal)).toEqual([
      `order timer-changed 2 timer "${LIMIT}": 900000 ms → 1200000 ms; the stored deadline stays`,
    ]);
    const strict = rehearseUpgrade(store, OLD, next, { isStrict: true });
    expect(strict).toMatchObject({ holds: false, affected: 2 });
  });

  test('is compared on the stored context', async () => {
    const store = await stored(OLD, { 'order/1': [] });
    const byTotal = { order: order({ limitMs: ({ context }) => context.total * 1_000 }) };
    expect(linesOf(rehearseUpgrade(store, OLD, byTotal))[0]).toMatch(/900000 ms → 99000 ms/);
  });

  test('is left out where the delay depends on an event', async () => {
    const store = await stored(OLD, { 'order/1': [] });
    const byEvent = ({ event }: { event: { afterMs: number } }) => event.afterMs;
    const rehearsal = rehearseUpgrade(store, OLD, { order: order({ limitMs: byEvent as never }) });
    expect(rehearsal.findings).toEqual([]);
  });
});

test('the deadlines of children are looked at under their own names', async () => {
  const parent = (after: object) =>
    setup({ actors: { order: order({ after: after as never }) } }).createMachine({
      id: 'parent',
      invoke: { id: 'first', src: 'order', input: { total: 1 } },
    });
  const old = { parent: parent({ limit: 'expired' }) };
  const store = await stored(old, { 'parent/1': [] });
  expect(rehearseUpgrade(store, old, old).findings).toEqual([]);
  const [vanishes, unarmed] = rehearseUpgrade(store, old, {
    parent: parent({ reminder: {} }),
  }).findings;
  expect(vanishes?.detail).toContain(`timer "${LIMIT}" of child "first"`);
  expect(unarmed).toMatchObject({ name: 'timer-never-armed' });
  expect(unarmed?.detail).toContain(`timer "${REMINDER}" of child "first"`);
  expect(unarmed?.fix).toContain('the root only');
});
