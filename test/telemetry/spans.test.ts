/** Spans: what a turn's span says, when it begins and ends, and whose child it is. */

import { SpanStatusCode } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRuntime, inProcessNetwork, memoryStore } from '../../index.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { openTelemetry } from '../../telemetry/index.ts';
import { SentSpans } from '../../telemetry/sent-spans.ts';
import { InMemorySdk } from './in-memory-sdk.ts';
import { relay as machine } from './relay.ts';

const kinds = { relay: machine };
let sdk: InMemorySdk;

beforeEach(() => {
  sdk = new InMemorySdk();
});
afterEach(() => sdk.disable());

test('a turn is a span with what the turn was', async () => {
  sdk.register();
  const runtime = await createRuntime({ node: 'n', place: 'p', kinds });
  const before = Date.now();
  const relay = await runtime.spawn('relay/1');
  await relay.send({ type: 'pass', along: [], secret: 'a password' });
  const [birth, turn] = sdk.turns();
  expect(birth?.name).toBe('turn relay escapement.spawn');
  expect(turn?.name).toBe('turn relay pass');
  expect(turn?.attributes).toEqual({
    'escapement.node': 'n',
    'escapement.place': 'p',
    'escapement.kind': 'relay',
    'escapement.address': 'relay/1@p',
    'escapement.event': 'pass',
    'escapement.state': 'open',
    'escapement.turn': 2,
  });
  expect(turn?.status).toBeUndefined();
  expect(turn?.startTime).toBeGreaterThanOrEqual(before - 1);
  expect(turn?.endTime).toBeGreaterThanOrEqual(turn?.startTime as number);
  expect(JSON.stringify(sdk.spans)).not.toContain('password');
  await runtime.stop();
});

test('a turn begins when it was taken and ends when it was durable', async () => {
  sdk.register();
  const store = memoryStore();
  const rt = await testRuntime({ kinds, store });
  await openTelemetry(rt.runtime);
  const commit = store.commit.bind(store);
  store.commit = (group, settle) =>
    void rt.clock.schedule(rt.now() + 20, () => commit(group, settle));
  const takenAt = rt.now();
  void rt.runtime.spawn('relay/1');
  await rt.advance(20);
  const times = { startTime: takenAt, endTime: takenAt + 20 };
  expect(sdk.spans).toMatchObject([
    {
      name: 'commit',
      ...times,
      attributes: { 'escapement.turns': 1, 'escapement.records': 1 },
    },
    { name: 'turn relay escapement.spawn', ...times },
  ]);
  await rt.stop();
});

test('a failed turn and a refused commit have an error', async () => {
  sdk.register();
  const store = memoryStore();
  const runtime = await createRuntime({ kinds, store });
  const relay = await runtime.spawn('relay/1');
  await expect(relay.send({ type: 'fail' })).rejects.toMatchObject({ code: 'TURN_FAILED' });
  const failed = sdk.turns().at(-1);
  expect(failed?.status).toMatchObject({ code: SpanStatusCode.ERROR });
  expect(failed?.status?.message).toContain('cannot take this');
  expect(failed?.attributes['escapement.error']).toBe('TURN_FAILED');

  const commit = store.commit.bind(store);
  store.commit = (_, settle) => queueMicrotask(() => settle(new Error('the disk is full')));
  const refused = relay.send({ type: 'pass', along: [] });
  await expect(refused).rejects.toMatchObject({ code: 'COMMIT_REFUSED' });
  store.commit = commit;
  const spans = sdk.spans.filter(({ status }) => status?.message === 'the disk is full');
  expect(spans).toMatchObject([{ name: 'commit', status: { code: SpanStatusCode.ERROR } }]);
  await runtime.stop();
});

test('a chain of messages is one trace, each turn the child of its sender', async () => {
  sdk.register();
  const runtime = await createRuntime({ kinds });
  for (const key of ['a', 'b', 'c']) await runtime.spawn(`relay/${key}`);
  const along = ['relay/b', 'relay/c', 'relay/a'];
  await runtime.actor('relay/a').send({ type: 'pass', along });
  const passed = () => sdk.turns().filter(({ name }) => name === 'turn relay pass');
  await expect.poll(() => passed().length).toBe(4);
  const spans = passed();
  expect(spans.map(({ attributes }) => attributes['escapement.address'])).toEqual(
    ['a', 'b', 'c', 'a'].map((key) => `relay/${key}@node-1`),
  );
  expect(new Set(spans.map(({ context }) => context.traceId)).size).toBe(1);
  expect(spans.map(({ parent }) => parent?.spanId)).toEqual([
    undefined,
    ...spans.slice(0, 3).map(({ context }) => context.spanId),
  ]);
  expect(spans[1]?.attributes).toMatchObject({
    'escapement.from': 'relay/a@node-1',
    'escapement.counter': expect.any(Number),
  });
  await runtime.stop();
});

test('nodes of one process share a trace', async () => {
  sdk.register();
  const network = inProcessNetwork();
  const node = (name: string) =>
    createRuntime({ node: name, kinds, transport: network.join(name) });
  const [first, second] = [await node('first'), await node('second')];
  await first.spawn('relay/1');
  await second.spawn('relay/2');
  await first.actor('relay/1').send({ type: 'pass', along: ['relay/2@second'] });
  const there = () =>
    sdk.turns().filter(({ attributes }) => attributes['escapement.from'] !== undefined);
  await expect.poll(() => there().length).toBe(1);
  const [receiving] = there();
  const sending = sdk.turns().find(({ context }) => context.spanId === receiving?.parent?.spanId);
  expect(sending?.attributes).toMatchObject({ 'escapement.address': 'relay/1@first' });
  expect(receiving?.context.traceId).toBe(sending?.context.traceId);
  await first.stop();
  await second.stop();
});

test('a message of a turn that has no span belongs to no other turn', async () => {
  sdk.register();
  const runtime = await createRuntime({ kinds });
  const relay = await runtime.spawn('relay/1');
  await runtime.spawn('relay/2');
  sdk.failure = new Error('no span for this one');
  let failures = 0;
  sdk.failing = (name) => name === 'turn relay pass' && failures++ === 0;
  await relay.send({ type: 'pass', along: ['relay/2'] });
  const received = () => sdk.turns().filter(({ name }) => name === 'turn relay pass');
  await expect.poll(() => received().length).toBe(1);
  expect(failures).toBe(2);
  expect(received()[0]?.attributes['escapement.address']).toBe('relay/2@node-1');
  expect(received()[0]?.parent).toBeUndefined();
  await runtime.stop();
});

test('what was sent is remembered up to a limit, the oldest goes first', () => {
  const sent = new SentSpans(3);
  const context = { traceId: 't', spanId: 's', traceFlags: 1 };
  for (let counter = 1; counter <= 5; counter += 1) sent.sent('a/1@p', counter, context);
  expect(sent.size).toBe(3);
  expect([1, 2, 3].map((counter) => sent.take('a/1@p', counter))).toEqual([
    undefined,
    undefined,
    context,
  ]);
  expect(sent.take('a/1@p', 3)).toBeUndefined();
  expect(sent.size).toBe(2);
  const byDefault = new SentSpans();
  for (let counter = 1; counter <= 10_001; counter += 1) byDefault.sent('a', counter, context);
  expect(byDefault.size).toBe(10_000);
});
