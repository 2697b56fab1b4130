/** Options that make no sense are refused at once, with a code, and leave nothing running. */

import { expect, test } from 'vitest';
import { setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import { localLease } from '../../runtime/local-lease.ts';
import { DEFAULT_LIMITS } from '../../runtime/options.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { codeOf, codeOfThrown } from './outcomes.ts';

const machine = setup({}).createMachine({});

const names = ['', 'a b', 'a/b', 'a@b', 'ü', 'x'.repeat(129), '\n', 5, null, {}, ['a']];

test.each(names)('%j names neither a node nor a place nor a kind', async (name) => {
  const given = name as string;
  expect(await codeOf(createRuntime({ node: given, place: 'ok' }))).toBe('OPTION_INVALID');
  expect(await codeOf(createRuntime({ place: given }))).toBe('OPTION_INVALID');
  expect(await codeOf(createRuntime({ kinds: { [String(given)]: machine } }))).toMatch(
    /OPTION_INVALID|taken/,
  );
  const runtime = await createRuntime();
  expect(codeOfThrown(() => runtime.register(given, machine))).toBe('OPTION_INVALID');
  await runtime.stop();
});

test("a kind is registered once, under a name that is not the runtime's own", async () => {
  const runtime = await createRuntime();
  runtime.register('order', machine);
  expect(codeOfThrown(() => runtime.register('order', machine))).toBe('KIND_EXISTS');
  // Answers travel to `ask/…`: an actor there would never get a message.
  expect(codeOfThrown(() => runtime.register('ask', machine))).toBe('OPTION_INVALID');
  await runtime.stop();
});

test('every limit is a positive integer, and known; a percentage is from 0 to 100', async () => {
  const { retryJitterPercent: _, ...counts } = DEFAULT_LIMITS;
  for (const name of Object.keys(counts))
    expect(await codeOf(createRuntime({ limits: { [name]: 0 } }))).toBe('OPTION_INVALID');
  for (const name of Object.keys(DEFAULT_LIMITS))
    for (const value of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null])
      expect(await codeOf(createRuntime({ limits: { [name]: value as never } }))).toBe(
        'OPTION_INVALID',
      );
  for (const retryJitterPercent of [0, 1, 100])
    await (await createRuntime({ limits: { retryJitterPercent } })).stop();
  expect(await codeOf(createRuntime({ limits: { retryJitterPercent: 101 } }))).toBe(
    'OPTION_INVALID',
  );
  expect(await codeOf(createRuntime({ limits: { mailboxmax: 5 } as never }))).toBe(
    'OPTION_INVALID',
  );
  expect(await codeOf(createRuntime({ limits: { retryMinMs: 10, retryMaxMs: 9 } }))).toBe(
    'OPTION_INVALID',
  );
});

const kindOptions: readonly object[] = [
  { version: 0 },
  { version: 1.5 },
  { version: '2' },
  { supervise: { onFailure: 'explode' } },
  { supervise: { failuresMax: Number.NaN } },
  { supervise: { failuresMax: -1 } },
  { supervise: { withinMs: 0 } },
  { ties: 'timer' },
  { perform: { print: 'console.log' } },
  { perform: { print: { run: () => {}, durable: true, attemptsMax: 0 } } },
  { perform: { print: { durable: true } } },
  { migrate: { 2: 'later' } },
  { admit: 'everybody' },
  { validate: { go: {} } },
];

test.each(kindOptions)('a kind refuses %j', async (options) => {
  const runtime = await createRuntime();
  expect(codeOfThrown(() => runtime.register('order', machine, options as never))).toBe(
    'OPTION_INVALID',
  );
  // The name is free again for one that makes sense.
  expect(codeOfThrown(() => runtime.register('order', machine))).toBe('done');
  await runtime.stop();
});

test.each([undefined, null, {}, 'machine', () => {}])('%j is not a machine', async (what) => {
  const runtime = await createRuntime();
  expect(codeOfThrown(() => runtime.register('order', what as never))).toBe('OPTION_INVALID');
  await runtime.stop();
});

test('a runtime whose kinds are refused does not go on hosting', async () => {
  const clock = new SimulatedClock();
  const lease = localLease();
  const options = { kinds: { 'a b': machine }, clock, lease, node: 'n' };
  const starting = codeOf(createRuntime(options));
  for (let turn = 0; turn < 50; turn += 1) {
    await Promise.resolve();
    clock.runDue();
  }
  expect(await starting).toBe('OPTION_INVALID');
  const next = await testRuntime({ kinds: { order: machine }, clock, lease, node: 'n' });
  expect(next.runtime.isHosting).toBe(true);
});

test('a signal that is aborted before or while a runtime starts stops it', async () => {
  expect(await codeOf(createRuntime({ signal: AbortSignal.abort() }))).toBe('ABORTED');
  const controller = new AbortController();
  const starting = createRuntime({ signal: controller.signal, kinds: { order: machine } });
  controller.abort();
  const runtime = await starting.catch((error: { code: string }) => error.code);
  if (typeof runtime === 'string') expect(runtime).toBe('ABORTED');
  else expect(await codeOf(runtime.spawn('order/1'))).toBe('RUNTIME_STOPPED');
});
