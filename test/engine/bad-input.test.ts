/** Bad input from outside: it is refused with its code, and nobody else notices. */

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import type { StandardSchema } from '../../runtime/actor/kind.ts';
import { wholeAddress } from '../../runtime/base/address.ts';
import { ERROR_CODES, type RuntimeError } from '../../runtime/base/errors.ts';
import { reply } from '../../runtime/machine.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { faultyStore } from './faulty-store.ts';
import { codeOf, codeOfThrown, during, storedOf } from './outcomes.ts';

const orderMachine = setup({
  types: {
    context: {} as { paid: number },
    events: {} as { type: 'order.paid'; amount: number } | { type: 'order.sum' },
  },
}).createMachine({
  context: { paid: 0 },
  on: {
    'order.paid': {
      actions: assign({ paid: ({ context, event }) => context.paid + event.amount }),
    },
    'order.sum': { actions: reply(({ context }) => context.paid) },
  },
});

/** The smallest validator there is: the amount is a number above 0. */
const hasAmount: StandardSchema = {
  '~standard': {
    validate: (value) => {
      const { amount } = value as { amount?: unknown };
      if (typeof amount === 'number' && amount > 0) return {};
      return { issues: [{ message: 'amount must be above 0' }] };
    },
  },
};

describe('bad input', () => {
  let rt: TestRuntime<{ order: typeof orderMachine; plain: typeof orderMachine }>;
  const rejections: unknown[] = [];
  const rejected = (reason: unknown): void => {
    rejections.push(reason);
  };
  const send = (address: string, event: unknown): Promise<string> =>
    codeOf(rt.actor(address as 'order/1').send(event as never));
  const spawn = (address: unknown): Promise<string> =>
    codeOf((rt.runtime as Runtime).spawn(address as string));
  const ask = (address: string, event: unknown): Promise<string> =>
    codeOf(rt.actor(address as 'order/1').ask(event as never));

  beforeEach(async () => {
    process.on('unhandledRejection', rejected);
    rt = await testRuntime({
      kinds: { order: orderMachine, plain: orderMachine },
      options: { order: { validate: { 'order.paid': hasAmount } } },
      limits: { mailboxMax: 5 },
    });
    await rt.spawn('order/1');
  });

  afterEach(async () => {
    // Whatever it was, the actor and its neighbours still work.
    expect(await during(rt, rt.actor('order/1').ask({ type: 'order.sum' }))).toBe(0);
    expect(await during(rt, codeOf(rt.runtime.spawn('order/neighbour')))).toBe('taken');
    expect(rt.runtime.undelivered()).toEqual([]);
    expect(rt.runtime.counts()).toMatchObject({ asks: 0, ready: 0, underWay: 0 });
    await rt.stop();
    process.off('unhandledRejection', rejected);
    expect(rejections).toEqual([]);
  });

  test('an address nobody was born at is unknown, and so is a kind nobody registered', async () => {
    expect(await send('order/2', { type: 'order.paid', amount: 1 })).toBe('ACTOR_UNKNOWN');
    expect(await ask('order/2', { type: 'order.sum' })).toBe('ACTOR_UNKNOWN');
    expect(await send('ordre/1', { type: 'order.paid', amount: 1 })).toBe('KIND_UNKNOWN');
    expect(await spawn('ordre/1')).toBe('KIND_UNKNOWN');
    expect(codeOfThrown(() => rt.actor('order/2').getSnapshot())).toBe('ACTOR_UNKNOWN');
    for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf'])
      expect(await spawn(`${name}/1`)).toBe('KIND_UNKNOWN');
    expect(rt.runtime.counts().live).toBe(1);
  });

  const malformed: readonly unknown[] = [
    '',
    '/',
    'order',
    'order/',
    '/1',
    'order//1',
    'order/1@',
    'order/1@a@b',
    '@a',
    'order/1 ',
    ' order/1',
    'order/1\n',
    'order/a b',
    'order/ü',
    '1order/1',
    'order/1@a b',
    'order/1@a/b',
    'order/1%00',
    'order/\u0000',
    `order/${'x'.repeat(129)}`,
    `${'k'.repeat(65)}/1`,
    `order/1@${'p'.repeat(129)}`,
    'order/1/2/3/4/5/6/7/8/9',
    'order/1#2',
    'order/1?x',
    'order\\1',
    undefined,
    null,
    5,
    {},
    [],
    ['order/1'],
    Symbol('order/1'),
    () => 'order/1',
    true,
    1n,
    { toString: () => 'order/1' },
  ];

  test.each(malformed.map((address) => [address]))('%s is not an address', async (address) => {
    expect(codeOfThrown(() => rt.runtime.actor(address as never))).toBe('ADDRESS_MALFORMED');
    expect(await spawn(address)).toBe('ADDRESS_MALFORMED');
    expect(codeOfThrown(() => rt.runtime.history(address as never))).toBe('ADDRESS_MALFORMED');
    expect(await codeOf(rt.runtime.explain(address as never))).toBe('ADDRESS_MALFORMED');
  });

  test('only what the grammar allows is an address', () => {
    const piece = fc.stringMatching(/^[A-Za-z0-9._:~@/ \n-]*$/);
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.tuple(piece, piece, piece).map(([kind, key, place]) => `${kind}/${key}@${place}`),
      piece,
    );
    fc.assert(
      fc.property(any, (text) => {
        let whole: string | undefined;
        try {
          whole = wholeAddress(text, 'here');
        } catch (thrown) {
          expect((thrown as RuntimeError).code).toBe('ADDRESS_MALFORMED');
        }
        expect(whole !== undefined).toBe(isAddress(text));
        if (whole !== undefined) expect(whole).toBe(text.includes('@') ? text : `${text}@here`);
      }),
      { numRuns: 3_000 },
    );
  });

  const events: ReadonlyArray<readonly [what: string, event: unknown, code: string]> = [
    ['no type', { amount: 1 }, 'EVENT_MALFORMED'],
    ['a type that is not text', { type: 5 }, 'EVENT_MALFORMED'],
    ['null', null, 'EVENT_MALFORMED'],
    ['undefined', undefined, 'EVENT_MALFORMED'],
    ['a list', [{ type: 'order.sum' }], 'EVENT_MALFORMED'],
    ['a list with a type', Object.assign([], { type: 'order.sum' }), 'EVENT_MALFORMED'],
    ['a text', 'order.sum', 'EVENT_MALFORMED'],
    ['a number', 5, 'EVENT_MALFORMED'],
    ['a function with a type', Object.assign(() => 1, { type: 'order.sum' }), 'EVENT_MALFORMED'],
    ['a type the machine does not know', { type: 'order.pait' }, 'EVENT_UNDECLARED'],
    ['an empty type', { type: '' }, 'EVENT_UNDECLARED'],
    ['a wildcard', { type: '*' }, 'EVENT_UNDECLARED'],
    ['the name of a property all objects have', { type: 'constructor' }, 'EVENT_UNDECLARED'],
    ['an event of XState', { type: 'xstate.init' }, 'EVENT_RESERVED'],
    ['a deadline of XState', { type: 'xstate.after.1000.order' }, 'EVENT_RESERVED'],
    ['an answer', { type: 'escapement.reply', value: 1 }, 'EVENT_RESERVED'],
    ['a birth', { type: 'escapement.spawn' }, 'EVENT_RESERVED'],
    ['a question of the runtime', { type: 'escapement.fetch' }, 'EVENT_RESERVED'],
    ['a takeover', { type: 'leadership.acquired', fence: 9 }, 'EVENT_RESERVED'],
    ['what the validator refuses', { type: 'order.paid', amount: -1 }, 'EVENT_REFUSED'],
    ['what the validator misses', { type: 'order.paid' }, 'EVENT_REFUSED'],
  ];

  test.each(events)('%s is no event for it, neither by send nor by ask', async (_, event, code) => {
    const before = rt.store.load('order/1@test');
    expect(await send('order/1', event)).toBe(code);
    expect(await ask('order/1', event)).toBe(code);
    expect(await codeOf(rt.actor('order/1').send(event as never, { id: 'again' }))).toBe(code);
    expect(rt.store.load('order/1@test')).toBe(before);
    expect(ERROR_CODES[code as keyof typeof ERROR_CODES].retryable).toBe(false);
  });

  test('what a machine names only to ignore it is taken, and changes nothing', async () => {
    const ignoring = setup({ types: { events: {} as { type: 'noise' } } }).createMachine({
      on: { noise: {} },
    });
    rt.runtime.register('ignoring', ignoring);
    await spawn('ignoring/1');
    expect(await send('ignoring/1', { type: 'noise' })).toBe('taken');
  });

  test('a birth cannot be sent as an event to an address where nobody is', async () => {
    expect(await send('order/2', { type: 'escapement.spawn' })).toBe('EVENT_RESERVED');
    expect(rt.runtime.query().actors).toHaveLength(1);
  });

  test('a validator that throws or answers later refuses the event', async () => {
    const answers: ReadonlyArray<readonly [() => never, string]> = [
      [() => Promise.resolve({}) as never, 'OPTION_INVALID'],
      [() => undefined as never, 'EVENT_REFUSED'],
      [
        () => {
          throw new Error('no');
        },
        'EVENT_REFUSED',
      ],
    ];
    for (const [index, [validate, code]] of answers.entries()) {
      const kind = `checked${index}`;
      const schema: StandardSchema = { '~standard': { validate } };
      rt.runtime.register(kind, orderMachine, { validate: { 'order.sum': schema } });
      await spawn(`${kind}/1`);
      expect(await ask(`${kind}/1`, { type: 'order.sum' })).toBe(code);
    }
  });

  test('a mailbox that is full refuses what comes, and takes it again later', async () => {
    const one = rt.actor('order/1');
    const sends = Array.from({ length: 9 }, () => codeOf(one.send({ type: 'order.sum' })));
    const codes = await Promise.all(sends);
    expect(codes.filter((code) => code === 'taken')).toHaveLength(5);
    expect(codes.filter((code) => code === 'MAILBOX_FULL')).toHaveLength(4);
    expect(await codeOf(one.send({ type: 'order.sum' }))).toBe('taken');
    expect(storedOf(rt.store, one.address).turns).toBe(7);
  });

  test('an address that is taken refuses a second birth, unless the first one will do', async () => {
    expect(await codeOf(rt.runtime.spawn('order/1'))).toBe('ACTOR_EXISTS');
    expect(await codeOf(rt.runtime.spawn('order/1', { ifAbsent: true }))).toBe('taken');
    const births = await Promise.all(
      Array.from({ length: 5 }, () => codeOf(rt.runtime.spawn('order/2'))),
    );
    expect(births.sort()).toEqual([...Array(4).fill('ACTOR_EXISTS'), 'taken']);
    expect(storedOf(rt.store, 'order/2@test').turns).toBe(1);
  });

  test('options of calls that make no sense are refused', async () => {
    const one = rt.actor('order/1');
    for (const timeoutMs of [Number.NaN, -1, 0, 1.5, Number.POSITIVE_INFINITY, '5' as never])
      expect(await codeOf(one.ask({ type: 'order.sum' }, { timeoutMs }))).toBe('OPTION_INVALID');
    for (const id of ['', 'x'.repeat(129), 'a b', 'a/b', 5 as never])
      expect(await codeOf(one.send({ type: 'order.sum' }, { id }))).toBe('OPTION_INVALID');
    for (const limit of [0, -1, 1.5, 1_001, Number.NaN, '5' as never]) {
      expect(codeOfThrown(() => rt.runtime.query({ limit }))).toBe('OPTION_INVALID');
      if (limit !== 1_001)
        expect(codeOfThrown(() => rt.runtime.history('order/1', { limit }))).toBe('OPTION_INVALID');
    }
    const aborted = AbortSignal.abort();
    expect(await codeOf(one.send({ type: 'order.sum' }, { signal: aborted }))).toBe('ABORTED');
    expect(await codeOf(one.ask({ type: 'order.sum' }, { signal: aborted }))).toBe('ABORTED');
    expect(await codeOf(rt.runtime.spawn('order/3', { signal: aborted }))).toBe('ABORTED');
  });
});

test('a mailbox fills up while the store is slow, and empties again', async () => {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const limits = { mailboxMax: 3, groupTurnsMax: 2 };
  const rt = await testRuntime({ kinds: { order: orderMachine }, clock, store, limits });
  const one = await rt.spawn('order/1');
  store.delayTasks = 5;
  const codes: Array<Promise<string>> = [];
  for (let index = 0; index < 20; index += 1) {
    codes.push(codeOf(one.send({ type: 'order.paid', amount: 1 })));
    await Promise.resolve();
    await Promise.resolve();
  }
  const ended = await during(rt, Promise.all(codes));
  const taken = ended.filter((code) => code === 'taken').length;
  expect(ended.filter((code) => code === 'MAILBOX_FULL')).toHaveLength(20 - taken);
  expect(taken).toBeLessThan(20);
  expect(one.getSnapshot().context.paid).toBe(taken);
});

/** The grammar of runtime/base/address.ts, written down a second time and by hand. */
function isAddress(text: string): boolean {
  const [path = '', place, ...more] = text.split('@');
  const [kind = '', ...keys] = path.split('/');
  const isName = (name: string, extra: string, max: number): boolean =>
    name.length >= 1 &&
    name.length <= max &&
    [...name].every((letter) => /^[A-Za-z0-9]$/.test(letter) || extra.includes(letter));
  return (
    more.length === 0 &&
    isName(kind, '_-', 64) &&
    /^[A-Za-z]$/.test(kind[0] as string) &&
    keys.length >= 1 &&
    keys.length <= 8 &&
    keys.every((key) => isName(key, '._:~-', 128)) &&
    (place === undefined || isName(place, '._:~-', 128))
  );
}
