/** Deadlines over the death of a node on LMDB: each keeps its moment, none that is gone comes back. */

import { expect, test } from 'vitest';
import type { PerformerCall } from '../../runtime/actor/kind.ts';
import { alarm, ORDER_LIMIT_MS, order } from './recovery-machines.ts';
import { RecoveryNodes } from './recovery-nodes.ts';

async function start() {
  const nodes = new RecoveryNodes();
  const notes: string[] = [];
  const node = await nodes.start({
    kinds: { alarm, order },
    options: {
      alarm: {
        perform: {
          note: ({ address, params }: PerformerCall) => {
            notes.push(`${address} ${(params as { text: string }).text}`);
          },
        },
      },
    },
  });
  const { clock } = nodes;
  const spawn = (address: `alarm/${string}`) => nodes.during(node.rt.spawn(address));
  const arm = (key: string, name: string, delayMs: number) =>
    nodes.during(node.rt.actor(`alarm/${key}`).send({ type: 'alarm.arm', name, delayMs }));
  const cancel = (key: string, name: string) =>
    nodes.during(node.rt.actor(`alarm/${key}`).send({ type: 'alarm.cancel', name }));
  const ringsOf = (key: string) => node.rt.actor(`alarm/${key}`).getSnapshot().context.rings;
  return { nodes, node, clock, notes, spawn, arm, cancel, ringsOf };
}

test('a deadline that passed while the node was down fires at once, with its own moment', async () => {
  const { nodes, node, clock } = await start();
  const bornAt = clock.now();
  const dueAt = bornAt + ORDER_LIMIT_MS;
  await nodes.during(node.rt.spawn('order/1', { input: { total: 9 } }));
  await node.die();
  clock.advanceTo(dueAt + 12_345);
  await node.comeBack();
  const { value, context } = node.rt.actor('order/1').getSnapshot();
  expect({ value, expired: context.expired }).toEqual({
    value: 'expired',
    expired: { at: clock.now(), dueAt },
  });
  expect(node.runtime.history('order/1').at(-1)).toEqual({
    turn: 2,
    at: clock.now(),
    event: 'xstate.after.limit.order.waiting',
    dueAt,
    state: 'expired',
  });
  expect(await node.rt.explain('order/1')).toContain('12345 ms late');
});

test('a deadline ahead fires at its own moment and not a millisecond before', async () => {
  const { nodes, node, clock } = await start();
  const dueAt = clock.now() + ORDER_LIMIT_MS;
  await nodes.during(node.rt.spawn('order/1', { input: { total: 9 } }));
  for (let life = 0; life < 3; life += 1) {
    await nodes.advance('2m');
    await node.restart();
  }
  clock.advanceTo(dueAt - 1);
  await nodes.settle();
  expect(node.rt.actor('order/1').getSnapshot().value).toBe('waiting');
  await nodes.advance(1);
  expect(node.rt.actor('order/1').getSnapshot().context.expired).toEqual({ at: dueAt, dueAt });
});

test('missed deadlines of several actors come in the order of their moments', async () => {
  const { nodes, node, clock, notes, spawn, arm, ringsOf } = await start();
  const startedAt = clock.now();
  // Neither the order of the addresses nor the order of arming.
  const moments = { a: 500, b: 300, c: 700, d: 100, e: 600, f: 200, g: 400 };
  for (const [key, delayMs] of Object.entries(moments)) {
    await spawn(`alarm/${key}`);
    await arm(key, 'bell', delayMs);
  }
  await node.die();
  clock.advanceTo(startedAt + 10_000);
  await node.comeBack();
  expect(notes).toEqual(['d', 'f', 'b', 'g', 'a', 'e', 'c'].map((key) => `alarm/${key}@node bell`));
  for (const [key, delayMs] of Object.entries(moments))
    expect(ringsOf(key)).toEqual([
      { name: 'bell', at: startedAt + 10_000, dueAt: startedAt + delayMs },
    ]);
  await nodes.advance('1d');
  expect(notes).toHaveLength(7);
});

test('missed deadlines of one actor come in the order of their moments', async () => {
  const { node, clock, spawn, arm, ringsOf } = await start();
  const startedAt = clock.now();
  await spawn('alarm/1');
  for (const [name, delayMs] of [
    ['third', 900],
    ['first', 100],
    ['second', 101],
    ['ahead', 90_000],
  ] as const)
    await arm('1', name, delayMs);
  await node.die();
  clock.advanceTo(startedAt + 1_000);
  await node.comeBack();
  expect(ringsOf('1').map(({ name, dueAt }) => [name, dueAt - startedAt])).toEqual([
    ['first', 100],
    ['second', 101],
    ['third', 900],
  ]);
  expect(node.runtime.counts().deadlines).toBe(1);
});

test('what was cancelled or armed again before the death fires not at all, or at the new moment', async () => {
  const { nodes, node, clock, spawn, arm, cancel, ringsOf } = await start();
  const startedAt = clock.now();
  await spawn('alarm/1');
  await arm('1', 'cancelled', 1_000);
  await arm('1', 'later', 1_000);
  await arm('1', 'sooner', 60_000);
  await arm('1', 'kept', 1_500);
  await nodes.advance(500);
  await cancel('1', 'cancelled');
  await arm('1', 'later', 20_000);
  await arm('1', 'sooner', 1_700);
  await node.die();
  clock.advanceTo(startedAt + 10_000);
  await node.comeBack();
  const moments = () => ringsOf('1').map(({ name, dueAt }) => [name, dueAt - startedAt]);
  expect(moments()).toEqual([
    ['kept', 1_500],
    ['sooner', 2_200],
  ]);
  await nodes.advance('1d');
  expect(moments().slice(2)).toEqual([['later', 20_500]]);
});

test('a state that was entered again keeps its new deadline, one that was left has none', async () => {
  const { nodes, node, clock } = await start();
  const startedAt = clock.now();
  for (const key of ['extended', 'paid'])
    await nodes.during(node.rt.spawn(`order/${key}`, { input: { total: 9 } }));
  await nodes.advance(ORDER_LIMIT_MS - 1);
  await nodes.during(node.rt.actor('order/extended').send({ type: 'order.extend' }));
  await nodes.during(node.rt.actor('order/paid').send({ type: 'order.pay' }));
  await node.die();
  clock.advanceTo(startedAt + ORDER_LIMIT_MS + 60_000);
  await node.comeBack();
  expect(node.rt.actor('order/extended').getSnapshot().value).toBe('waiting');
  await nodes.advance('1h');
  const dueAt = startedAt + 2 * ORDER_LIMIT_MS - 1;
  expect(node.rt.actor('order/extended').getSnapshot().context.expired).toEqual({
    at: dueAt,
    dueAt,
  });
  expect(node.rt.actor('order/paid').getSnapshot()).toMatchObject({
    value: 'paid',
    context: { expired: null },
  });
});

test('a deadline whose turn was not durable when the node died fires again, once', async () => {
  const { nodes, node, clock, notes, spawn, arm, ringsOf } = await start();
  await spawn('alarm/lost');
  await spawn('alarm/kept');
  await arm('lost', 'bell', 1_000);
  await arm('kept', 'bell', 2_000);
  const dueAt = clock.now() + 1_000;
  node.dieLater({ heardMax: 0, lastWords: 'lost' });
  await nodes.advance(1_000);
  expect(node.store.isSilent).toBe(true);
  await node.restart();
  expect(ringsOf('lost')).toEqual([{ name: 'bell', at: dueAt, dueAt }]);
  // What is on disk has happened, although nobody heard of it: the deadline does not come twice.
  node.dieLater({ heardMax: 0, lastWords: 'written' });
  await nodes.advance(1_000);
  expect(node.store.isSilent).toBe(true);
  await node.restart();
  await nodes.advance('1h');
  expect(ringsOf('kept')).toHaveLength(1);
  // The action left with neither turn that nobody heard of, and is not durable.
  expect(notes).toEqual(['alarm/lost@node bell']);
});
