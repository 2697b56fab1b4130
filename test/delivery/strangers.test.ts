/** A peer that sends anything at all: it harms nobody, and honest peers are served as before. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Transport } from '../../runtime/ports/transport.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { listener } from './talkers.ts';

async function start() {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const rt = await testRuntime({
    kinds: { listener },
    node: 'a',
    clock,
    transport: () => network.join('a'),
  });
  await rt.spawn('listener/l');
  const stranger: Transport = network.join('stranger');
  const answers: string[] = [];
  await stranger.start({
    peerUp() {},
    peerDown() {},
    frameReceived: (_, frame) => void answers.push(frame),
  });
  await rt.settle();
  const say = async (frame: unknown) => {
    answers.length = 0;
    stranger.send('a', typeof frame === 'string' ? frame : JSON.stringify(frame));
    await rt.settle();
    return answers.flatMap((text) => JSON.parse(text).receipts ?? []);
  };
  const envelope = (event: unknown, counter = 1, after = 0, to = 'listener/l@a') => ({
    v: 1,
    envelopes: [{ to, from: 'speaker/s@stranger', counter, after, event }],
  });
  return { rt, say, envelope };
}

test('frames of any content change nothing and end nothing', async () => {
  const { rt, say, envelope } = await start();
  const before = rt.store.load('listener/l@a');
  const any = fc.oneof(
    fc.string(),
    fc.json(),
    fc.record({
      v: fc.constant(1),
      envelopes: fc.array(fc.jsonValue()),
      receipts: fc.array(fc.jsonValue()),
    }),
    fc.record({ v: fc.constant(1), hello: fc.jsonValue() }),
    fc.jsonValue().map((event) => envelope(event, 0)),
  );
  await fc.assert(
    fc.asyncProperty(any, async (frame) => {
      await say(frame);
      expect(rt.store.load('listener/l@a')).toBe(before);
    }),
  );
  await rt.actor('listener/l').send({ type: 'heard', from: 'code', number: 1 });
});

test.each([
  ['EVENT_RESERVED', { type: 'xstate.stop' }],
  ['EVENT_RESERVED', { type: 'escapement.outcome' }],
  ['EVENT_UNDECLARED', { type: '*' }],
  ['EVENT_UNDECLARED', { type: '__proto__' }],
  ['ENVELOPE_MALFORMED', { type: 'heard', constructor: {} }],
  ['ENVELOPE_MALFORMED', { type: 'count', replyTo: 'nobody' }],
  ['ENVELOPE_MALFORMED', { type: 7 }],
])(
  'H46: an envelope that is refused with %s is answered, and reaches no machine',
  async (...given) => {
    const [code, event] = given;
    const { rt, say, envelope } = await start();
    const turns = rt.runtime.history('listener/l').length;
    expect(await say(envelope(event))).toMatchObject([
      { from: 'speaker/s@stranger', to: 'listener/l@a', counter: 1, error: { code } },
    ]);
    expect(rt.runtime.history('listener/l')).toHaveLength(turns);
  },
);

test('H45: a bomb of 100,000 levels, an address elsewhere and a receipt for nothing cost a refusal', async () => {
  const { rt, say, envelope } = await start();
  const bomb = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const heard = { type: 'heard', from: 's', number: 1 };
  const bombs = JSON.stringify(envelope(heard)).replace('"number":1', `"number":${bomb}`);
  expect(await say(bombs)).toMatchObject([{ error: { code: 'ENVELOPE_MALFORMED' } }]);
  expect(await say(bomb)).toEqual([]);
  expect(await say(envelope(heard, 1, 0, 'listener/l@elsewhere'))).toMatchObject([
    { error: { code: 'NOT_HOSTED', retryable: true } },
  ]);
  expect(await say(envelope(heard, 9, 8))).toMatchObject([{ error: { code: 'MESSAGE_EARLY' } }]);
  await say({ v: 1, receipts: [{ from: 'listener/l@a', to: 'x/y@z', counter: 1 }] });
  await say(envelope({ type: 'escapement.reply', value: 1 }, 0, 0, 'ask/none@a'));
  expect(await say(envelope(heard))).toEqual([
    { from: 'speaker/s@stranger', to: 'listener/l@a', counter: 1 },
  ]);
  expect(rt.actor('listener/l').getSnapshot().context.heard).toEqual({ s: [1] });
});
