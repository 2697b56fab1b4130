/** A kind that chooses who on other nodes may send to its actors. */

import { describe, expect, test } from 'vitest';
import type { ForeignMessage, KindOptions } from '../../runtime/actor/kind.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { LossyNetwork } from './lossy-network.ts';
import { listener, speaker } from './talkers.ts';

const KINDS = { speaker, listener };
const heard = (number: number) => ({ type: 'heard', from: 's', number });

/** Node `b` asks `admit` about everything that comes from `a`. */
async function twoNodes(
  admit: KindOptions['admit'],
  validate?: KindOptions['validate'],
  absent?: KindOptions['absent'],
) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const asked: ForeignMessage[] = [];
  const listening = {
    ...(validate !== undefined && { validate }),
    ...(absent !== undefined && { absent }),
    admit: (message: ForeignMessage) => {
      asked.push(message);
      return admit?.(message);
    },
  };
  const open = (node: string, options: object) =>
    testRuntime({ kinds: KINDS, node, clock, options, transport: () => network.join(node) });
  const a = await open('a', {});
  const b = await open('b', { listener: listening });
  await a.spawn('speaker/s', { input: { self: 's' } });
  await b.spawn('listener/l');
  return {
    a,
    b,
    asked,
    network,
    tell: (saying: object, to = 'listener/l@b') =>
      a.actor('speaker/s').send({ type: 'speakOf', to, saying } as never),
    far: a.actor('listener/l@b' as 'listener/l'),
    heardBy: () => b.actor('listener/l').getSnapshot().context.heard,
    refusals: (code: 'SENDER_REFUSED' | 'EVENT_UNDECLARED') =>
      b.runtime.metrics().messagesRefused[code],
  };
}

describe('the kind is asked', () => {
  test('for messages, births, hints and what code sends, of other nodes', async () => {
    const { a, b, asked, tell, far, heardBy } = await twoNodes(() => undefined);
    await tell(heard(1));
    const speaking = a.actor('speaker/s');
    await speaking.send({ type: 'bear', address: 'listener/new@b', input: { by: 's' } });
    await speaking.send({ type: 'hintAt', to: 'listener/l@b', number: 2 });
    void far.send({ type: 'heard', from: 'code', number: 3 });
    void far.send({ type: 'heard', from: 'code', number: 4 }, { id: 'request-1' });
    far.hint({ type: 'heard', from: 'code', number: 5 });
    await a.settle();
    const session = expect.stringMatching(/^session:.+@a$/);
    const fromCode = (number: number) => ({ type: 'heard', from: 'code', number });
    expect(asked).toHaveLength(6);
    expect(asked).toEqual(
      expect.arrayContaining([
        { to: 'listener/l@b', from: 'speaker/s@a', event: heard(1) },
        {
          to: 'listener/new@b',
          from: 'speaker/s@a',
          event: { type: 'escapement.spawn', input: { by: 's' } },
        },
        { to: 'listener/l@b', from: 'speaker/s@a', event: heard(2) },
        { to: 'listener/l@b', from: session, event: fromCode(3) },
        { to: 'listener/l@b', from: 'request:request-1', event: fromCode(4) },
        { to: 'listener/l@b', from: session, event: fromCode(5) },
      ]),
    );
    expect(heardBy()).toMatchObject({ s: [1, 2] });
    expect(b.actor('listener/new').getSnapshot().status).toBe('active');
  });

  test('and for nothing that comes from this node', async () => {
    const { b, asked } = await twoNodes(() => 'nobody');
    await b.spawn('speaker/s', { input: { self: 's' } });
    const local = b.actor('speaker/s');
    await local.send({ type: 'speak', to: ['listener/l'], count: 2 });
    await local.send({ type: 'hintAt', to: 'listener/l', number: 3 });
    await local.send({ type: 'bear', address: 'listener/new' });
    const own = b.actor('listener/l');
    await own.send({ type: 'heard', from: 'code', number: 1 }, { id: 'x' });
    own.hint({ type: 'heard', from: 'code', number: 2 });
    await b.settle();
    expect(own.getSnapshot().context.heard).toEqual({ s: [1, 2, 3], code: [1, 2] });
    expect(b.actor('listener/new').getSnapshot().status).toBe('active');
    expect(asked).toEqual([]);
  });

  test('after what an event has to be was checked', async () => {
    const validate = {
      heard: {
        '~standard': {
          validate: (event: unknown) =>
            (event as { number: unknown }).number === 1 ? { issues: [{ message: 'not 1' }] } : {},
        },
      },
    };
    const { a, asked, tell, heardBy } = await twoNodes(() => undefined, validate);
    await tell(heard(1));
    await tell({ type: 'shouted' });
    await tell(heard(2));
    await a.advance('1m');
    // More than once where it came too early.
    expect(asked.length).toBeGreaterThan(0);
    for (const { event } of asked) expect(event).toEqual(heard(2));
    expect(heardBy()).toEqual({ s: [2] });
    expect(a.runtime.undelivered().map(({ error }) => error.code)).toEqual([
      'EVENT_REFUSED',
      'EVENT_UNDECLARED',
    ]);
  });
});

describe('whom it refuses', () => {
  test.each([
    ['says why', () => 'you are not of this house'],
    [
      'throws',
      () => {
        throw new Error('you are not of this house');
      },
    ],
  ])('hears SENDER_REFUSED with the reason, where it %s', async (_, admit) => {
    const { a, b, tell, far, heardBy, refusals } = await twoNodes(admit);
    const before = b.store.load('listener/l@b');
    await tell(heard(1));
    await a.actor('speaker/s').send({ type: 'bear', address: 'listener/new@b' });
    const sent = far.send({ type: 'heard', from: 'code', number: 3 }).catch((error) => error);
    const asking = far.ask({ type: 'count' }).catch((error) => error);
    await a.advance('1m');
    const refusal = {
      code: 'SENDER_REFUSED',
      retryable: false,
      message: expect.stringContaining('you are not of this house'),
    };
    expect(await sent).toMatchObject(refusal);
    expect(await asking).toMatchObject(refusal);
    expect(a.runtime.undelivered()).toMatchObject([
      { to: 'listener/l@b', error: refusal },
      { to: 'listener/new@b', error: refusal },
    ]);
    expect(heardBy()).toEqual({});
    expect(b.store.load('listener/l@b')).toBe(before);
    expect(b.store.load('listener/new@b')).toBeUndefined();
    expect(refusals('SENDER_REFUSED')).toBe(4);
    // Nothing of a spawn that was refused stays in memory, and nobody is told who exists.
    expect(b.runtime.counts().live).toBe(1);
    expect(b.runtime.metrics().messagesReceived).toBe(4);
    const nobody = a.actor('listener/nobody@b' as 'listener/l').send({ type: 'end' });
    await Promise.all([expect(nobody).rejects.toMatchObject(refusal), a.settle()]);
  });

  test('says nothing when it was a hint', async () => {
    const { a, asked, far, heardBy, refusals } = await twoNodes(() => 'no');
    await a.actor('speaker/s').send({ type: 'hintAt', to: 'listener/l@b', number: 1 });
    far.hint({ type: 'heard', from: 'code', number: 2 });
    await a.advance('1m');
    expect(asked).toHaveLength(2);
    expect(heardBy()).toEqual({});
    expect(refusals('SENDER_REFUSED')).toBe(2);
    expect(a.runtime.undelivered()).toEqual([]);
  });

  test('is not let in by an answer that comes later', async () => {
    const rejected: unknown[] = [];
    const note = (reason: unknown) => rejected.push(reason);
    process.on('unhandledRejection', note);
    const { a, tell, heardBy } = await twoNodes((async () => {
      throw new Error('too late');
    }) as never);
    await tell(heard(1));
    await a.advance('1m');
    process.off('unhandledRejection', note);
    expect(heardBy()).toEqual({});
    expect(a.runtime.undelivered()).toMatchObject([
      { error: { code: 'SENDER_REFUSED', message: expect.stringContaining('at once') } },
    ]);
    expect(rejected).toEqual([]);
  });

  test('holds up nobody, and what it sends that is taken stays in order', async () => {
    const { a, tell, heardBy } = await twoNodes(({ event }) =>
      event['number'] === 2 ? 'not this one' : undefined,
    );
    for (const number of [1, 2, 3]) await tell(heard(number));
    await a.settle();
    expect(heardBy()).toEqual({ s: [1, 3] });
  });
});

test('what was taken once is not refused because its receipt was lost', async () => {
  let isClosed = false;
  const { a, b, network, tell, heardBy } = await twoNodes(() => (isClosed ? 'closed' : undefined));
  network.filter = (from) => from !== 'b';
  await tell(heard(1));
  await a.settle();
  isClosed = true;
  await b.crash();
  network.filter = () => true;
  await tell(heard(2));
  await a.advance('1m');
  expect(heardBy()).toEqual({ s: [1] });
  expect(a.runtime.undelivered().map(({ event }) => event)).toEqual([heard(2)]);
});

test('a peer that writes the name of this place on its messages is asked about all the same', async () => {
  const { b, asked, network, heardBy } = await twoNodes(({ from }) =>
    from?.endsWith('@b') ? 'a forger' : undefined,
  );
  const forger = network.join('forger');
  await forger.start({ peerUp() {}, peerDown() {}, frameReceived() {} });
  await b.settle();
  const envelope = { to: 'listener/l@b', from: 'speaker/s@b', counter: 1, after: 0 };
  forger.send('b', JSON.stringify({ v: 1, envelopes: [{ ...envelope, event: heard(1) }] }));
  await b.settle();
  expect(asked).toHaveLength(1);
  expect(heardBy()).toEqual({});
});

describe('a hint for an actor that there is not', () => {
  const wake = { type: 'speak', to: ['listener/l@b'], count: 1 };
  const hintsAt = async (
    to: string,
    admit: KindOptions['admit'],
    absent: (message: ForeignMessage) => typeof wake | undefined,
  ) => {
    const { a, heardBy } = await twoNodes(admit, undefined, absent);
    await a.actor('speaker/s').send({ type: 'hintAt', to, number: 9 });
    await a.settle();
    return heardBy();
  };

  test('is answered by what its kind says, and that goes to anybody who sent it', async () => {
    const seen: ForeignMessage[] = [];
    const answer = (message: ForeignMessage) => {
      seen.push(message);
      return wake;
    };
    expect(await hintsAt('listener/nobody@b', undefined, answer)).toEqual({ s: [1] });
    expect(seen).toEqual([{ to: 'listener/nobody@b', from: 'speaker/s@a', event: heard(9) }]);
  });

  test('is answered by nothing where the kind has nothing to say, or does not admit its sender', async () => {
    expect(await hintsAt('listener/nobody@b', undefined, () => undefined)).toEqual({});
    expect(
      await hintsAt(
        'listener/nobody@b',
        () => 'not you',
        () => wake,
      ),
    ).toEqual({});
  });

  test('is none where there is one, nor a message that has to arrive', async () => {
    expect(await hintsAt('listener/l@b', undefined, () => wake)).toEqual({ s: [9] });
    const { tell, a, heardBy } = await twoNodes(undefined, undefined, () => wake);
    await tell(heard(1), 'listener/nobody@b');
    await a.settle();
    expect(heardBy()).toEqual({});
  });
});
