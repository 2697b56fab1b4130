/** Options that make no sense are refused at once, with a code, and leave nothing running. */

import { expect, test } from 'vitest';
import { type AnyStateMachine, setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import { JOBS_ROLES } from '../../programs/jobs/peer-roles.ts';
import type { MigratedState } from '../../runtime/actor/kind.ts';
import { DEFAULT_LIMITS } from '../../runtime/base/limits.ts';
import { rehearsedKinds } from '../../runtime/rehearsal/kinds.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { websocketTransport } from '../../transports/websocket.ts';
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
  { versoin: 2 },
  { supervise: { onFailures: 'stop' } },
  { supervise: 'stop' },
  { perform: { print: { run: () => {}, durable: true, attemptMax: 3 } } },
  { openToClients: 'yes' },
  { questions: 'all' },
  { questions: { 'order.paid': 'nobody' } },
  { questions: { 'order.paid': 'print' }, perform: { print: { run: () => {}, durable: true } } },
  { questions: { 'escapement.spawn': 'print' }, perform: { print: () => {} } },
  { rank: 5 },
  { version: 0 },
  { version: 1.5 },
  { version: '2' },
  { supervise: { onFailure: 'explode' } },
  { forgetsInput: true, supervise: { onFailure: 'restart' } },
  { forgetsInput: 'yes' },
  { supervise: { failuresMax: Number.NaN } },
  { supervise: { failuresMax: -1 } },
  { supervise: { withinMs: 0 } },
  { ties: 'timer' },
  { perform: { print: 'console.log' } },
  { perform: { print: { run: () => {}, durable: true, attemptsMax: 0 } } },
  { perform: { print: { durable: true } } },
  { migrate: { 2: 'later' } },
  { admit: 'everybody' },
  { absent: 'nobody' },
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

test('a question that the machine does not know is refused', async () => {
  const runtime = await createRuntime();
  const options = { questions: { 'order.lent': 'print' }, perform: { print: () => {} } };
  expect(codeOfThrown(() => runtime.register('order', machine, options as never))).toBe(
    'EVENT_UNDECLARED',
  );
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

test.each([
  [{ stroe: memoryStore() }, 'did you mean "store"'],
  [{ palce: 'shop' }, 'did you mean "place"'],
  [{ Kinds: {} }, 'did you mean "kinds"'],
  [{ limits: { mailboxMaxx: 1 } }, 'did you mean "mailboxMax"'],
  [{ kinds: { order: { machine, versoin: 2 } } }, 'did you mean "version"'],
  [{ somethingElse: 1 }, 'known: node, place'],
  [{ store: './data' }, '"store" must be a store, such as lmdbStore'],
  [{ store: { open() {} } }, '"store" must be a store'],
  [{ transport: 'ws://127.0.0.1:1' }, '"transport" must be a transport'],
  [{ lease: true }, '"lease" must be a lease'],
  [{ clock: Date }, '"clock" must be a clock'],
  [{ random: Math }, '"random" must be a source of chance'],
  [{ limits: 5 }, '"limits" must be an object'],
  [{ logger: () => {} }, '"logger" must be a logger'],
  [{ signal: {} }, '"signal" must be an AbortSignal'],
  [{ telemetry: 'no' }, '"telemetry" must be true or false'],
  [{ onFatal: 'exit' }, '"onFatal" must be a function'],
  [{ kinds: [machine] }, '"kinds" must be an object'],
  ['./data', 'options must be an object'],
])('%j is refused in words that say what to write', async (options, words) => {
  const starting = createRuntime(options as never);
  await expect(starting).rejects.toMatchObject({
    code: 'OPTION_INVALID',
    message: expect.stringContaining(words),
  });
});

test('each option may be left undefined', async () => {
  const names = [
    'node',
    'place',
    'kinds',
    'prepare',
    'store',
    'transport',
    'lease',
    'clock',
    'random',
  ];
  const others = ['limits', 'logger', 'signal', 'telemetry', 'inspect', 'onFatal', 'onHosting'];
  const options = Object.fromEntries([...names, ...others].map((name) => [name, undefined]));
  await (await createRuntime(options)).stop();
});

test('a kind with its options is registered as register does it', async () => {
  const store = memoryStore();
  const kinds = {
    order: { machine, version: 2, migrate: { 2: (stored: MigratedState) => stored } },
    plain: machine,
  };
  const runtime = await createRuntime({ store, kinds });
  const order = await runtime.spawn('order/1');
  await runtime.spawn('plain/1');
  expect(store.load(order.address)).toContain('"version":2');
  await runtime.stop();
  expect(rehearsedKinds({ kinds }).get('order')?.kind.version).toBe(2);
});

test.each([
  ['another node', { node: 'x' }, { node: 'y' }],
  ['another place', { node: 'y' }, { node: 'y', place: 'shop' }],
  [
    'a role that hosts nothing',
    { node: 'y', place: 'shop', role: 'worker' },
    { node: 'y', place: 'shop' },
  ],
] as const)(
  'a socket for %s than its runtime is refused at the start',
  async (_, sockets, options) => {
    const transport = websocketTransport({
      ...sockets,
      roles: JOBS_ROLES,
      peers: ['ws://127.0.0.1:9'],
    });
    expect(await codeOf(createRuntime({ ...options, transport }))).toBe('OPTION_INVALID');
  },
);

test('so is a seat of another node in a network of one process', async () => {
  const network = inProcessNetwork();
  const transport = network.join('b');
  expect(await codeOf(createRuntime({ node: 'c', transport }))).toBe('OPTION_INVALID');
  await (await createRuntime({ node: 'b', place: 'shop', transport })).stop();
});

test('a misspelt option of a socket is refused with the option that was meant', () => {
  expect(() => websocketTransport({ node: 'a', peer: ['ws://127.0.0.1:9'] } as never)).toThrow(
    'did you mean "peers"',
  );
  expect(() => websocketTransport({ node: 'a', peers: 'ws://127.0.0.1:9' } as never)).toThrow(
    '"peers" must be a list of URLs',
  );
});

test('an event that nobody knows is refused with those that can be sent', async () => {
  const types = Array.from({ length: 40 }, (_, index) => `order.step${index + 10}`);
  const states = { a: { after: { 5: 'b' }, on: { 'order.resume': 'b' } }, b: {} };
  const on = Object.fromEntries(types.map((type) => [type, {}]));
  const many = setup({}).createMachine({
    initial: 'a',
    states,
    on,
  } as never) as unknown as AnyStateMachine;
  const runtime = await createRuntime({ kinds: { many, quiet: machine } });
  const refused = async (address: 'many/1' | 'quiet/1', type: string): Promise<string> => {
    const actor = await runtime.spawn(address, { ifAbsent: true });
    return actor.send({ type } as never).then(
      () => 'taken',
      (error: Error) => error.message,
    );
  };
  const message = await refused('many/1', 'order.resum');
  expect(message).toContain('Did you mean "order.resume"?');
  expect(message).toContain('order.step38, and 11 more.');
  expect(message).not.toContain('xstate');
  expect(await refused('quiet/1', 'go')).toContain('It knows: none from outside.');
  await runtime.stop();
});
