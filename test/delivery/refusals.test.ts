/** Refusals for good, as the actor that sent the messages hears of them. */

import { describe, expect, test } from 'vitest';
import { sendTo, setup } from 'xstate';
import { Outbox } from '../../runtime/actor/outbox.ts';
import { DEFAULT_LIMITS, SILENT_LOGGER } from '../../runtime/base/limits.ts';
import { Metrics } from '../../runtime/base/metrics.ts';
import { Delivery } from '../../runtime/delivery/delivery.ts';
import { noTransport } from '../../runtime/delivery/peers.ts';
import { type MessageRefused, to } from '../../runtime/machine.ts';
import { SeededRandom, SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { heard, twoNodes } from './careful.ts';
import { upTo } from './talkers.ts';

describe('a machine with a transition for message.refused', () => {
  test.each([
    ['ACTOR_UNKNOWN', 'listener/nobody@b', heard(1)],
    ['ACTOR_ENDED', 'listener/ended@b', heard(1)],
    ['EVENT_UNDECLARED', 'listener/l@b', { type: 'shouted', loud: true }],
    ['EVENT_RESERVED', 'listener/l@b', { type: 'message.refused' }],
    ['EVENT_REFUSED', 'listener/l@b', { type: 'heard', text: 'x'.repeat(400_000) }],
    ['SENDER_REFUSED', 'listener/l@b', { ...heard(1), by: 'nobody' }],
    ['KIND_UNKNOWN', 'nothing/x@b', heard(1)],
    ['ACTOR_UNKNOWN', 'listener/nobody', heard(1)],
    ['EVENT_UNDECLARED', 'listener/near', { type: 'shouted', loud: true }],
    ['EVENT_REFUSED', 'listener/near', { type: 'heard', text: 'x'.repeat(400_000) }],
    ['KIND_UNKNOWN', 'nothing/x', heard(1)],
  ])('hears of %s, to %s', async (code, receiver, saying) => {
    const { a, say, refused } = await twoNodes({
      recordBytesMax: 1_000_000,
      messageBytesMax: 300_000,
    });
    await say(receiver, saying);
    await a.advance('2m');
    const whole = receiver.includes('@') ? receiver : `${receiver}@a`;
    expect(refused()).toEqual([{ to: whole, event: saying, code, at: expect.any(Number) }]);
    expect(a.runtime.undelivered()).toEqual([]);
    expect(a.store.load('careful/c@a')).not.toContain('"outbox"');
    expect(a.runtime.history('careful/c').at(-1)).toMatchObject({ event: 'message.refused' });
    expect(a.runtime.metrics().undelivered).toBe(0);
    // Once and for all.
    await a.crash();
    await a.advance('2m');
    expect(refused()).toHaveLength(1);
    expect(a.runtime.counts().underWay).toBe(0);
  });

  test('hears of births that were refused', async () => {
    const { a, sender, refused } = await twoNodes();
    await sender.send({ type: 'bear', address: 'nothing/x@b', input: { by: 7 } });
    await a.advance('2m');
    const event = { type: 'escapement.spawn', input: { by: 7 } };
    expect(refused()).toMatchObject([{ to: 'nothing/x@b', event, code: 'KIND_UNKNOWN' }]);
    expect(a.runtime.undelivered()).toEqual([]);
  });

  test('hears when it was, and the inspection stream tells the same', async () => {
    const { a, say, refused } = await twoNodes();
    const turns: unknown[] = [];
    a.runtime.inspect((record) => void (record.type === 'turn' && turns.push(record.event)));
    await a.advance('1h');
    await say('listener/nobody@b', heard(1));
    await a.settle();
    expect(refused()[0]?.at).toBe(a.now());
    expect(turns.at(-1)).toEqual({
      type: 'message.refused',
      to: 'listener/nobody@b',
      event: heard(1),
      code: 'ACTOR_UNKNOWN',
    });
  });

  test('hears of each in the order of sending, and what is behind them arrives at once', async () => {
    const { a, say, refused, heardBy } = await twoNodes({ retryMinMs: 60_000, retryMaxMs: 60_000 });
    const shouts = upTo(100).map((number) => ({ type: 'shouted', number }));
    await say(
      'listener/l@b',
      heard(1),
      ...shouts,
      heard(2),
      { type: 'shouted', number: 101 },
      heard(3),
    );
    await say('listener/nobody@b', ...upTo(200).map(heard));
    await a.settle();
    const numbers = (receiver: string) =>
      refused()
        .filter(({ to }) => to === receiver)
        .map(({ event }) => event['number']);
    expect(numbers('listener/l@b')).toEqual(upTo(101));
    expect(numbers('listener/nobody@b')).toEqual(upTo(200));
    expect(heardBy('listener/l')).toEqual({ s: [1, 2, 3] });
    expect(a.runtime.counts().underWay).toBe(0);
  });
});

describe('the message', () => {
  test('leaves the outbox in the turn that takes the event: a death in between repeats the refusal', async () => {
    const { a, say, refused, heardBy, network, hold, release } = await twoNodes();
    network.cut('a', 'b');
    await say('listener/l@b', { type: 'shouted' }, heard(1));
    hold();
    network.heal('a', 'b');
    await a.advance('10s');
    // Refused, told, and not durable yet: neither the news nor what is behind it is out.
    expect([refused(), heardBy('listener/l')]).toEqual([[], {}]);
    expect(a.store.load('careful/c@a')).toContain('shouted');
    a.runtime.crash();
    release(true);
    await a.crash();
    await a.advance('10s');
    expect(refused()).toMatchObject([{ event: { type: 'shouted' }, code: 'EVENT_UNDECLARED' }]);
    expect(heardBy('listener/l')).toEqual({ s: [1] });
    const told = a.runtime.history('careful/c').filter(({ event }) => event === 'message.refused');
    expect(told).toHaveLength(1);
  });

  test('lets what is behind it go as soon as the turn is durable', async () => {
    const { a, say, refused, heardBy, network, hold, release } = await twoNodes({
      retryMinMs: 60_000,
      retryMaxMs: 60_000,
    });
    network.cut('a', 'b');
    await say('listener/l@b', heard(1), { type: 'shouted' }, heard(2), heard(3));
    hold();
    network.heal('a', 'b');
    await a.settle();
    // The receiver has told by now that what is behind came too early.
    expect([refused(), heardBy('listener/l')]).toEqual([[], { s: [1] }]);
    release();
    await a.settle();
    expect(refused()).toHaveLength(1);
    expect(heardBy('listener/l')).toEqual({ s: [1, 2, 3] });
  });

  test('stays in every record that is written while the news waits in the mailbox', async () => {
    const { a, say, sender, refused, hold, release } = await twoNodes({ groupTurnsMax: 1 });
    const noise = () => void sender.send({ type: 'tell', to: 'listener/near', count: 0 });
    hold();
    void say('listener/nobody', heard(1));
    await a.settle();
    for (let number = 0; number < 3; number += 1) noise();
    await a.settle();
    release();
    // The process dies while the turn that takes the news is being written.
    const commit = a.store.commit.bind(a.store);
    a.store.commit = (group, settle) => {
      const rows = group.writes.flatMap(({ history }) => history);
      if (!rows.some((row) => row.includes('message.refused'))) commit(group, settle);
    };
    await a.settle();
    const turns = a.runtime.history('careful/c').map(({ event }) => event);
    expect(turns.slice(1)).toEqual(['say', 'tell', 'tell', 'tell']);
    expect(a.store.load('careful/c@a')).toContain('"outbox"');
    a.runtime.crash();
    a.store.commit = commit;
    await a.crash();
    await a.advance('10s');
    expect(refused()).toMatchObject([{ code: 'ACTOR_UNKNOWN' }]);
    expect(a.store.load('careful/c@a')).not.toContain('"outbox"');
  });

  test('is refused again when the commit of the turn is refused, and heard of once', async () => {
    const { a, say, refused } = await twoNodes();
    const commit = a.store.commit.bind(a.store);
    let refusals = 0;
    a.store.commit = (group, settle) => {
      const isNews = group.writes.some(({ history }) =>
        history.some((row) => row.includes('message.refused')),
      );
      if (!isNews || refusals === 3) return commit(group, settle);
      refusals += 1;
      settle(new Error('no room'));
    };
    await say('listener/nobody@b', heard(1), heard(2));
    await say('listener/l@b', { type: 'shouted' }, heard(3));
    await a.advance('1m');
    expect(refusals).toBe(3);
    const events = refused().map(({ event }) => event['number'] ?? event.type);
    expect(events.sort()).toEqual([1, 2, 'shouted']);
    expect(a.runtime.undelivered()).toEqual([]);
    expect(a.runtime.counts().underWay).toBe(0);
  });

  test('whose refusal comes twice is heard of once', async () => {
    const { a, say, refused, heardBy, network, hold, release } = await twoNodes();
    network.faults = { lost: 0, doubled: 1, delayMaxMs: 0 };
    hold();
    void say('listener/l@b', { type: 'shouted' }, heard(1)).catch(() => {});
    await a.settle();
    release();
    hold();
    await a.advance('20s');
    release();
    await a.advance('20s');
    expect(refused()).toHaveLength(1);
    expect(heardBy('listener/l')).toEqual({ s: [1] });
  });
});

test('a further refusal of the same message is not told', () => {
  const clock = new SimulatedClock();
  const told: unknown[] = [];
  const delivery = new Delivery({
    clock,
    random: new SeededRandom(1, 'a'),
    limits: DEFAULT_LIMITS,
    peers: { sendRow() {}, inquire() {} } as never,
    routes: { to: () => ({ node: 'b' }) } as never,
    metrics: new Metrics(),
    logger: SILENT_LOGGER,
    transport: noTransport(),
    accept() {},
    isHosting: () => true,
    mayGoAhead: false,
  });
  const outbox = new Outbox();
  const to = 'listener/l@b';
  const { counter } = outbox.add(to, { type: 'shouted' });
  outbox.durable = counter;
  delivery.dispatch('careful/c@a', outbox, to, {
    taken: () => void told.push('taken'),
    refused: (_, { event }) => void told.push(event.type),
  });
  const receipt = { from: 'careful/c@a', to, counter };
  const error = { code: 'EVENT_UNDECLARED', message: 'no such event' };
  for (let copy = 0; copy < 3; copy += 1) delivery.receive({ ...receipt, error });
  // Nor that a copy of it was taken: what was told is told.
  delivery.receive(receipt);
  expect(told).toEqual(['shouted']);
});

test.each([
  ['messages', ['message.refused', 'limit']],
  ['timers', ['limit', 'message.refused']],
] as const)('with ties: %s it comes like any message', async (ties, order) => {
  const patient = setup({
    types: { events: {} as MessageRefused | { type: 'ask' } | { type: 'noise' } },
    delays: { limit: 1_000 },
  }).createMachine({
    initial: 'waiting',
    on: { 'message.refused': {}, noise: {} },
    states: {
      waiting: {
        on: { ask: { actions: sendTo(to('patient/nobody'), { type: 'noise' }) } },
        after: { limit: 'over' },
      },
      over: {},
    },
  });
  const clock = new SimulatedClock();
  const store = memoryStore();
  const commit = store.commit.bind(store);
  let release: () => void = () => {};
  // Planned first, so it comes before the deadline of the same moment.
  clock.schedule(clock.now() + 1_000, () => release());
  const options = { patient: { ties } };
  const rt = await testRuntime({ kinds: { patient }, options, clock, store });
  const actor = await rt.spawn('patient/1');
  store.commit = (group, settle) => {
    store.commit = commit;
    release = () => commit(group, settle);
  };
  void actor.send({ type: 'ask' });
  // At that moment the message becomes durable, is sent, and refused.
  await rt.advance(1_010);
  const events = rt.runtime.history('patient/1').map(({ event }) => event);
  const seen = events.map((event) => (event.startsWith('xstate.after') ? 'limit' : event));
  expect(seen.slice(2)).toEqual(order);
});

test('nobody else may send it', async () => {
  const { a, b, sender, refused } = await twoNodes();
  const forged = { type: 'message.refused', to: 'x/y@b', event: heard(1), code: 'ACTOR_UNKNOWN' };
  await expect(sender.send(forged as never)).rejects.toMatchObject({ code: 'EVENT_RESERVED' });
  await expect(sender.ask(forged as never)).rejects.toMatchObject({ code: 'EVENT_RESERVED' });
  expect(() => sender.hint(forged as never)).toThrow(/inside only/);
  const far = b.actor('careful/c@a' as 'careful/c').send(forged as never);
  await expect(far).rejects.toMatchObject({ code: 'EVENT_RESERVED' });
  const other = await b.spawn('careful/forger');
  await other.send({ type: 'say', to: 'careful/c@a', sayings: [forged] });
  await a.advance('1m');
  expect(refused()).toEqual([]);
  expect(other.getSnapshot().context.refused).toMatchObject([{ code: 'EVENT_RESERVED' }]);
});
