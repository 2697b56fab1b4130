/** Orders about an actor itself: revive, end and forget, across crashes, refused commits and lost leases. */

import { expect, test } from 'vitest';
import { assign, fromPromise, sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';
import { Runtime } from '../../runtime/runtime.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { diskFull, faultyStore } from './faulty-store.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

let isBroken = true;

const orderMachine = setup({
  types: {
    context: {} as { secret: string; added: number },
    input: {} as { secret: string },
    events: {} as { type: 'add' } | { type: 'close' } | { type: 'tell' } | { type: 'told' },
  },
  actors: { work: fromPromise(() => new Promise(() => {})) },
}).createMachine({
  context: ({ input }) => ({ secret: input.secret, added: 0 }),
  initial: 'open',
  states: {
    open: {
      invoke: { src: 'work', id: 'work' },
      after: { 60000: 'late' },
      on: {
        add: {
          actions: assign({
            added: ({ context }) => {
              if (isBroken) throw new Error('not yet');
              return context.added + 1;
            },
          }),
        },
        close: 'closed',
        tell: { actions: sendTo(to('order/2'), { type: 'told' }) },
        told: {},
      },
    },
    late: { on: { told: {} } },
    closed: { type: 'final' },
  },
});

async function open() {
  isBroken = true;
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const rt = await testRuntime({
    kinds: { order: orderMachine },
    options: { order: { supervise: { onFailure: 'stop' } } },
    clock,
    store,
  });
  const order = await rt.spawn('order/1', { input: { secret: 'xyzzy' } });
  const told = () => rt.runtime.history('order/1').map(({ event }) => event);
  return { rt, order, store, told };
}

test('a revived actor goes on in the state in which it was stopped, with its deadlines and children', async () => {
  const { rt, order, told } = await open();
  await rt.advance(30_000);
  await during(rt, codeOf(order.send({ type: 'add' })));
  expect(order.getSnapshot().status).toBe('error');
  await rt.crash();
  expect(order.getSnapshot()).toMatchObject({ status: 'error', error: { code: 'ACTOR_ENDED' } });
  isBroken = false;
  await during(rt, rt.runtime.revive('order/1'));
  await during(rt, order.send({ type: 'add' }));
  expect(order.getSnapshot()).toMatchObject({ status: 'active', context: { added: 1 } });
  expect(Object.keys(order.getSnapshot().children)).toEqual(['work']);
  expect(told()).toContain('escapement.revive');
  await rt.crash();
  expect(order.getSnapshot()).toMatchObject({ status: 'active', value: 'open' });
  await rt.advance(30_001);
  expect(order.getSnapshot().value).toBe('late');
});

test('a deadline that came while an actor was stopped comes when it is revived', async () => {
  const { rt, order } = await open();
  await during(rt, codeOf(order.send({ type: 'add' })));
  await rt.advance('1h');
  expect(order.getSnapshot().value).toBe('open');
  await during(rt, rt.runtime.revive('order/1'));
  await rt.settle();
  expect(order.getSnapshot()).toMatchObject({ status: 'active', value: 'late' });
});

test('end ends whatever runs, tells observers, and outlives a crash', async () => {
  const { rt, order, told } = await open();
  const seen: string[] = [];
  order.subscribe({ complete: () => seen.push('complete'), error: () => seen.push('error') });
  await during(rt, rt.runtime.end('order/1'));
  expect(seen).toEqual(['complete']);
  expect(order.getSnapshot().status).toBe('stopped');
  expect(await during(rt, codeOf(order.send({ type: 'add' })))).toBe('ACTOR_ENDED');
  expect(told()).toEqual(['escapement.spawn', 'escapement.end']);
  expect(await rt.explain('order/1')).toContain('was ended by hand');
  await rt.crash();
  await rt.advance('1h');
  expect(order.getSnapshot()).toMatchObject({ status: 'stopped', value: 'open' });
  expect(await during(rt, codeOf(rt.runtime.end('order/1')))).toBe('ACTOR_ENDED');
  await during(rt, rt.runtime.revive('order/1'));
  expect(order.getSnapshot().status).toBe('active');
});

test('forget leaves nothing of an actor that has sent and taken nothing', async () => {
  const { rt, order, store, told } = await open();
  expect(await during(rt, codeOf(rt.runtime.forget('order/1')))).toBe('ACTOR_ACTIVE');
  expect(await during(rt, codeOf(rt.runtime.revive('order/1')))).toBe('ACTOR_ACTIVE');
  await during(rt, rt.runtime.end('order/1'));
  await during(rt, rt.runtime.forget('order/1'));
  expect(store.load(order.address)).toBeUndefined();
  expect([told(), rt.runtime.query({}).actors]).toEqual([[], []]);
  expect(() => order.getSnapshot()).toThrow('There is no actor');
  for (const name of ['revive', 'end', 'forget'] as const)
    expect(await during(rt, codeOf(rt.runtime[name]('order/1')))).toBe('ACTOR_UNKNOWN');
  await rt.spawn('order/1', { input: { secret: 'new' } });
  await rt.advance('8d');
  expect(order.getSnapshot()).toMatchObject({ status: 'active', value: 'late' });
});

test('forget keeps the numbers of messages, so that another life is not taken for this one', async () => {
  const { rt, order, store } = await open();
  const receiver = await rt.spawn('order/2', { input: { secret: '2' } });
  await during(rt, order.send({ type: 'tell' }));
  await rt.settle();
  const taken = () => rt.runtime.history(receiver.address).filter(({ event }) => event === 'told');
  expect(taken()).toHaveLength(1);
  await during(rt, rt.runtime.end('order/1'));
  await during(rt, rt.runtime.forget('order/1'));
  expect(store.load(order.address)).not.toContain('xyzzy');
  await rt.crash();
  expect(() => order.getSnapshot()).toThrow('There is no actor');
  expect(await during(rt, codeOf(rt.runtime.revive('order/1')))).toBe('ACTOR_UNKNOWN');
  expect(rt.runtime.history('order/1').at(-1)?.event).toBe('escapement.forget');
  await rt.spawn('order/1', { input: { secret: 'new' } });
  await during(rt, order.send({ type: 'tell' }));
  await rt.settle();
  expect(taken()).toHaveLength(2);
});

test('an actor that came to its own end is not revived', async () => {
  const { rt, order } = await open();
  await during(rt, order.send({ type: 'close' }));
  expect(await during(rt, codeOf(rt.runtime.revive('order/1')))).toBe('ACTOR_ENDED');
  await during(rt, rt.runtime.forget('order/1'));
  expect(await during(rt, codeOf(rt.runtime.revive('order/9')))).toBe('ACTOR_UNKNOWN');
  expect(await during(rt, codeOf(rt.runtime.end('order/1@elsewhere')))).toBe('NOT_HOSTED');
});

test.each(['revive', 'end', 'forget'] as const)(
  'an order to %s whose commit is refused has changed nothing, and says so',
  async (name) => {
    const { rt, order, store } = await open();
    if (name !== 'end') await during(rt, codeOf(order.send({ type: 'add' })));
    const before = store.load(order.address);
    store.refuse = () => diskFull();
    expect(await during(rt, codeOf(rt.runtime[name]('order/1')))).toBe('COMMIT_REFUSED');
    store.refuse = () => undefined;
    await rt.advance('10s');
    expect(store.load(order.address)).toBe(before);
    expect(storedOf(store, order.address).status).toBe(name === 'end' ? undefined : 'stopped');
    await during(rt, rt.runtime[name]('order/1'));
  },
);

test('a moved deadline comes at its new moment, across a crash, and one that has passed comes at once', async () => {
  const { rt, order, told } = await open();
  const watch = () => Runtime.watchOf(rt.runtime as never);
  const [id = ''] =
    watch()
      .report('order/1@test')
      ?.deadlines.map((each) => each.id) ?? [];
  const at = rt.now();
  await during(rt, watch().moveDeadline('order/1', id, at + 600_000));
  await rt.crash();
  await rt.advance(599_999 - (rt.now() - at));
  expect(order.getSnapshot().value).toBe('open');
  await rt.advance(1);
  expect(order.getSnapshot().value).toBe('late');
  expect(told()).toContain('escapement.moveDeadline');
  expect(await during(rt, codeOf(watch().moveDeadline('order/1', id, at)))).toBe('OPTION_INVALID');

  const other = await rt.spawn('order/3', { input: { secret: '' } });
  await during(rt, watch().moveDeadline('order/3', id, rt.now()));
  await rt.advance(0);
  expect(other.getSnapshot().value).toBe('late');
  await during(rt, rt.runtime.end('order/3'));
  expect(await during(rt, codeOf(watch().moveDeadline('order/3', id, at)))).toBe('ACTOR_ENDED');
  expect(await during(rt, codeOf(watch().moveDeadline('order/none', id, at)))).toBe(
    'ACTOR_UNKNOWN',
  );
});
