/** Failures that no caller hears of: in the log with their stacks, among the undelivered with their causes, in explain. */

import { describe, expect, test } from 'vitest';
import { assign, sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { codeOf } from './outcomes.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: { readonly address?: string; readonly event?: string; readonly stack?: string };
}

const cartMachine = setup({
  types: {
    context: {} as { total: number },
    events: {} as { type: 'add'; item: { price: number } } | { type: 'wait' } | { type: 'read' },
  },
  delays: { limit: 1_000 },
}).createMachine({
  context: { total: 0 },
  initial: 'open',
  on: {
    add: {
      actions: assign({ total: ({ context, event }) => context.total + event.item.price }),
    },
    read: {},
  },
  states: {
    open: { on: { wait: 'waiting' } },
    waiting: {
      after: {
        limit: { actions: assign({ total: () => (undefined as never as number[]).length }) },
      },
    },
  },
});

const tellerMachine = setup({ types: { events: {} as { type: 'go' } } }).createMachine({
  on: { go: { actions: sendTo(to('cart/1'), { type: 'add' }) } },
});

async function open() {
  const lines: Line[] = [];
  const log =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields });
  const rt = await testRuntime({
    kinds: { cart: cartMachine, teller: tellerMachine },
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  });
  const cart = await rt.spawn('cart/1');
  const about = (address: string) => lines.filter(({ fields }) => fields.address === address);
  return { rt, cart, about };
}

const OWN_STACK = expect.stringContaining('told-failures.test.ts');

describe('a turn that nobody waits for', () => {
  test('and that fails on a message of another actor is logged with its stack', async () => {
    const { rt, about } = await open();
    await (await rt.spawn('teller/1')).send({ type: 'go' });
    await rt.settle();
    expect(about('cart/1@test')).toMatchObject([
      { level: 'warn', message: 'a turn failed', fields: { event: 'add', stack: OWN_STACK } },
    ]);
    expect(rt.runtime.undelivered()).toMatchObject([
      {
        to: 'cart/1@test',
        from: 'teller/1@test',
        error: { code: 'TURN_FAILED' },
        cause: OWN_STACK,
      },
    ]);
    expect(await rt.explain('cart/1')).toMatch(/add from teller\/1@test ✗ TURN_FAILED/);
    expect(rt.runtime.metrics()).toMatchObject({ turnsFailed: 1, undelivered: 1 });
  });

  test('and that fails on a deadline is logged with its stack', async () => {
    const { rt, cart, about } = await open();
    await cart.send({ type: 'wait' });
    await rt.advance('2s');
    expect(about('cart/1@test')).toMatchObject([
      {
        message: 'a turn failed',
        fields: { event: 'xstate.after.limit.(machine).waiting', stack: OWN_STACK },
      },
    ]);
    expect(rt.runtime.undelivered()).toMatchObject([{ cause: OWN_STACK }]);
  });
});

test('an actor that a hundred bad events have stopped says so everywhere, and can be revived', async () => {
  const { rt, cart, about } = await open();
  await cart.send({ type: 'add', item: { price: 42 } });
  for (let bad = 0; bad < 101; bad += 1)
    expect(await codeOf(cart.send({ type: 'add' } as never))).toBe('TURN_FAILED');
  expect(await codeOf(cart.send({ type: 'read' }))).toBe('ACTOR_ENDED');
  expect(about('cart/1@test').at(-1)).toMatchObject({
    level: 'error',
    message: 'an actor was stopped',
    fields: { stack: OWN_STACK },
  });
  expect(cart.getSnapshot()).toMatchObject({ status: 'error', context: { total: 42 } });
  expect(rt.runtime.query({ status: 'stopped' }).actors).toHaveLength(1);
  expect(await rt.explain('cart/1')).toContain('was stopped in "open"');
  await rt.runtime.revive('cart/1');
  await cart.send({ type: 'add', item: { price: 1 } });
  expect(cart.getSnapshot()).toMatchObject({ status: 'active', context: { total: 43 } });
});
