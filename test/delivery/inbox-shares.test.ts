/** No place shuts others out of an inbox, under however many names it speaks. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jobsPeer } from '../../programs/jobs/peer-roles.ts';
import { Inbox } from '../../runtime/actor/inbox.ts';
import { encodeFrame, encodeHello } from '../../runtime/delivery/frame.ts';
import type { PeerIdentity, Transport } from '../../runtime/ports/transport.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { provingTransport } from './proving-transport.ts';
import { listener, upTo } from './talkers.ts';

const SENDERS_MAX = 90;
const SILENT_MS = 600_000;
const RULES = { place: 'A', limits: { sendersMax: SENDERS_MAX, dedupRetentionMs: 86_400_000 } };
/** Eight times what is left free. */
const SHARE = 80;

/** What `admission.ts` does with a message of a sender. */
function offer(inbox: Inbox, sender: string, counter: number, at: number): boolean {
  inbox.expire(sender, at - RULES.limits.dedupRetentionMs, () => false);
  return inbox.has(sender, counter) || inbox.take(sender, counter, 0, at, RULES);
}

function filled(name: (number: number) => string, count = 200): Inbox {
  const inbox = new Inbox();
  for (const number of upTo(count)) offer(inbox, name(number), 1, 0);
  return inbox;
}

describe('anybody who speaks under many names', () => {
  test.each([
    ['as sessions', (number: number) => `session:${number}@A.worker-1`],
    ['as actors', (number: number) => `x/${number}@A.worker-1`],
    ['as client after client of one token', (number: number) => `session:${number}@c~${number}`],
    ['by requests', (number: number) => `request:${number}`],
  ])('%s leaves room for all others, and for the own place all of it', (_, name) => {
    const inbox = filled(name);
    expect(inbox.size).toBe(SHARE);
    for (const other of upTo(4)) expect(offer(inbox, `session:x@B${other}`, 1, 1)).toBe(true);
    for (const own of upTo(SENDERS_MAX - SHARE - 4))
      expect(offer(inbox, `job/${own}@A`, 1, 1)).toBe(true);
    expect(inbox.size).toBe(SENDERS_MAX);
  });

  test.each([
    ['a session', 'session:new@A.worker-1'],
    ['an actor', 'x/new@A.worker-1'],
  ])('is heard as %s in place of the session that it has not used for longest', (_, sender) => {
    const inbox = filled((number) => `session:${number}@A.worker-1`);
    offer(inbox, 'session:1@A.worker-1', 2, SILENT_MS - 1);
    expect(offer(inbox, sender, 1, SILENT_MS - 1)).toBe(false);
    expect(offer(inbox, sender, 1, SILENT_MS)).toBe(true);
    expect([1, 2, 3].map((number) => inbox.has(`session:${number}@A.worker-1`, 1))).toEqual([
      true,
      false,
      true,
    ]);
    expect(inbox.size).toBe(SHARE);
  });

  test.each([
    ['actors', (number: number) => `x/${number}@B`],
    ['requests', (number: number) => `request:${number}`],
  ])('as %s is refused however long they are silent, and none is forgotten', (_, name) => {
    const inbox = filled(name, SHARE);
    expect(offer(inbox, name(SHARE + 1), 1, 10 * SILENT_MS)).toBe(false);
    for (const number of upTo(SHARE)) expect(inbox.has(name(number), 1)).toBe(true);
  });
});

test('of actors, requests, the own place, and sessions heard of late nothing is taken twice', () => {
  const names = [
    ...upTo(60).map((number) => `session:${number}@W`),
    ...upTo(40).map((number) => `session:${number}@c~${number}`),
    ...upTo(40).map((number) => `x/${number}@W`),
    ...upTo(40).map((number) => `request:${number}`),
    ...upTo(20).flatMap((number) => [`job/${number}@A`, `effect:job/1@A#${number}.0`]),
    ...upTo(9).map((number) => `session:${number}@B${number}`),
  ];
  const arrivals = fc.array(
    fc.tuple(
      fc.nat(names.length - 1),
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(0, 0, 0, 9_000, SILENT_MS / 2),
      fc.boolean(),
    ),
    { minLength: 100, maxLength: 600 },
  );
  fc.assert(
    fc.property(arrivals, (some) => {
      let inbox = new Inbox();
      const taken = new Map<string, { at: number; counters: Set<number> }>();
      let at = 0;
      for (const [pick, counter, pauseMs, isRestored] of some) {
        at += pauseMs;
        const sender = names[pick] as string;
        const before = taken.get(sender);
        const isNew = !inbox.has(sender, counter);
        const isRemembered =
          before !== undefined &&
          (!sender.startsWith('session:') || at - before.at < SILENT_MS) &&
          at - before.at < RULES.limits.dedupRetentionMs;
        if (isRemembered && before.counters.has(counter)) expect(isNew).toBe(false);
        if (isNew && inbox.take(sender, counter, undefined, at, RULES)) {
          const counters = isRemembered ? before.counters : new Set<number>();
          taken.set(sender, { at, counters: counters.add(counter) });
        }
        expect(inbox.size).toBeLessThanOrEqual(SENDERS_MAX);
        if (isRestored) inbox = Inbox.restore(JSON.parse(inbox.encode() || '{}'));
      }
    }),
  );
});

test('a peer that floods an actor with names keeps nobody else from it', async () => {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const identities: Record<string, PeerIdentity> = {
    'A.worker-7': jobsPeer('worker', 'A.worker-7'),
    gate: jobsPeer('gate', 'gate'),
  };
  const rt = await testRuntime({
    kinds: { listener },
    node: 'A.manager-1',
    place: 'A',
    clock,
    limits: { sendersMax: SENDERS_MAX },
    transport: () =>
      provingTransport(network.join('A.manager-1'), {
        own: { node: 'A.manager-1', ...jobsPeer('manager', 'A') },
        identityOf: (node) => identities[node],
      }),
  });
  await rt.spawn('listener/l');
  const join = async (node: string): Promise<Transport> => {
    const peer = network.join(node);
    await peer.start({ peerUp() {}, peerDown() {}, frameReceived() {} });
    await rt.settle();
    peer.send('A.manager-1', encodeHello({ node, places: [[node, 1]], isAsking: false }));
    return peer;
  };
  const say = async (peer: Transport, from: string, counter: number): Promise<void> => {
    const event = { type: 'heard', from, number: counter };
    const envelope = { to: 'listener/l@A', from, counter, after: 0, event };
    peer.send('A.manager-1', encodeFrame([JSON.stringify(envelope)], []));
    await rt.settle();
  };
  const [hostile, honest] = [await join('A.worker-7'), await join('gate')];
  await say(honest, 'gate-job/1@gate', 1);
  for (const number of upTo(150)) await say(hostile, `session:${number}@A.worker-7`, 1);
  for (const number of upTo(150)) await say(hostile, `x/${number}@A.worker-7`, 1);
  await say(honest, 'gate-job/1@gate', 1);
  await say(honest, 'gate-job/2@gate', 1);
  await say(honest, 'session:s@gate', 1);
  const { heard } = rt.actor('listener/l').getSnapshot().context;
  expect(Object.keys(heard).filter((from) => from.endsWith('@gate'))).toHaveLength(3);
  expect(heard['gate-job/1@gate']).toEqual([1]);
  expect(rt.runtime.metrics().messagesRefused).toMatchObject({ TOO_MANY_SENDERS: 300 - SHARE });
});
