/** A peer that has proved who it is speaks for itself and for nobody else. */

import { describe, expect, test } from 'vitest';
import { jobsPeer } from '../../programs/jobs/peer-roles.ts';
import type { RuntimeLimits } from '../../runtime/base/limits.ts';
import type { PeerIdentity, Transport } from '../../runtime/ports/transport.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { KINDS } from './clerk.ts';
import { provingTransport } from './proving-transport.ts';

const PEER = 'A.manager-9';

const hello = (places: ReadonlyArray<readonly [string, number]>, more: object = {}) => ({
  v: 1,
  hello: { node: PEER, places, isAsking: false, ...more },
});

const envelope = (more: object = {}, counter = 0, event: object = HEARD) => ({
  v: 1,
  envelopes: [{ to: 'listener/l@a', from: 'speaker/s@A', counter, after: 0, event, ...more }],
});

const HEARD = { type: 'heard', from: 'peer', number: 1 };

/** The node `a`, and a peer that is `identity` to it and sends what it likes. */
async function start(
  identity: PeerIdentity | undefined,
  limits: Partial<RuntimeLimits> = {},
  node = PEER,
) {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const expelled: string[] = [];
  const rt = await testRuntime({
    kinds: KINDS,
    options: { clerk: { openToClients: true } },
    node: 'a',
    clock,
    limits,
    transport: () =>
      provingTransport(network.join('a'), {
        identityOf: () => identity,
        expelled: (gone, reason) => expelled.push(`${gone}: ${reason}`),
      }),
  });
  await rt.spawn('listener/l');
  await rt.spawn('clerk/c');
  const peer: Transport = network.join(node);
  const answers: string[] = [];
  const open = (transport: Transport) =>
    transport.start({
      peerUp() {},
      peerDown() {},
      frameReceived: (_, frame) => void answers.push(frame),
    });
  await open(peer);
  await rt.settle();
  const say = async (frame: unknown) => {
    answers.length = 0;
    peer.send('a', typeof frame === 'string' ? frame : JSON.stringify(frame));
    await rt.settle();
    return answers.flatMap((text) => [
      ...(JSON.parse(text).receipts ?? []),
      ...(JSON.parse(text).envelopes ?? []),
    ]);
  };
  const reconnect = async () => {
    network.cut('a', node);
    network.heal('a', node);
    await rt.settle();
  };
  const heard = () => rt.actor('listener/l').getSnapshot().context.heard;
  return { rt, clock, say, heard, expelled, reconnect };
}

const MANAGER: PeerIdentity = jobsPeer('manager', 'A');
const CLIENT: PeerIdentity = jobsPeer('client', PEER);
const OWN: PeerIdentity = jobsPeer('node', 'A');

describe('H56: a peer that has proved to be a manager of A', () => {
  test.each([
    ['for its place', { from: 'speaker/s@A' }],
    ['for its node', { from: `session:1@${PEER}` }],
    ['with answers to its place', { event: { ...HEARD, replyTo: 'ask/1@A' } }],
    ['with answers to its node', { event: { ...HEARD, replyTo: `ask/1@${PEER}` } }],
  ])('speaks %s', async (_, more) => {
    const { say, heard, expelled } = await start(MANAGER);
    const [receipt] = await say(envelope(more, 1));
    expect(receipt).toMatchObject({ counter: 1 });
    expect(receipt).not.toHaveProperty('error');
    expect(heard()).toEqual({ peer: [1] });
    expect(expelled).toEqual([]);
  });

  test.each([
    ['speaks for a worker', envelope({ from: 'worker/1@A.worker-1' })],
    ['speaks for a gate', envelope({ from: 'gate-job/j1@gate-1' }, 1)],
    ['speaks for code of another node', envelope({ from: 'session:1@A.manager-1' })],
    ['speaks as nobody', envelope({ from: 'A' })],
    ['speaks for a request of somebody', envelope({ from: 'request:x@B' })],
    ['speaks for a request, which has no place', envelope({ from: 'request:pay-17' }, 1)],
    ['has answers sent elsewhere (H51)', envelope({ event: { ...HEARD, replyTo: 'ask/1@B' } }, 1)],
    [
      'has answers sent to an actor of the receiver',
      envelope({ event: { ...HEARD, replyTo: 'listener/l@a' } }),
    ],
    ['answers for another place', { v: 1, receipts: [{ from: 'x/1@a', to: 'y/1@B', counter: 1 }] }],
    [
      'answers a question for another place',
      envelope({ to: 'ask/1@a', from: 'y/1@B', event: { type: 'escapement.reply', value: 1 } }),
    ],
    [
      'claims another place',
      hello([
        ['A', 1],
        ['B', 1],
      ]),
    ],
    ['claims the place of the receiver', hello([['a', 99]])],
    ['calls itself by another name', hello([['A', 1]], { node: 'A.manager-1' })],
    ['reads an actor', envelope({ event: { type: 'escapement.fetch', replyTo: `ask/1@${PEER}` } })],
  ])('is sent away at once when it %s', async (_, frame) => {
    const { rt, say, heard, expelled } = await start(MANAGER);
    expect(await say(frame)).toEqual([]);
    expect(expelled).toHaveLength(1);
    expect(expelled[0]).toMatch(/^A\.manager-9: The manager "A\.manager-9" /);
    expect(heard()).toEqual({});
    expect(rt.runtime.metrics()).toMatchObject({
      peersOverstepped: 1,
      peersExpelled: 1,
      framesMalformed: 0,
      messagesReceived: 0,
    });
    // Whatever it says now is not looked at.
    expect(await say(envelope({}, 1))).toEqual([]);
    expect(heard()).toEqual({});
    await rt.actor('listener/l').send({ type: 'heard', from: 'code', number: 1 });
    expect(heard()).toEqual({ code: [1] });
  });

  test('loses what stands behind the breach in the same frame, and not what stood before', async () => {
    const { say, heard, expelled } = await start(MANAGER);
    const [right] = envelope().envelopes;
    const [wrong] = envelope({ from: 'speaker/s@B' }).envelopes;
    await say({ v: 1, envelopes: [right, wrong, right, wrong] });
    expect(heard()).toEqual({ peer: [1] });
    expect(expelled).toHaveLength(1);
  });

  test('begins again when it is let in again', async () => {
    const { say, heard, expelled, reconnect } = await start(MANAGER);
    await say(envelope({ from: 'speaker/s@B' }));
    await reconnect();
    await say(envelope({}, 1));
    expect(heard()).toEqual({ peer: [1] });
    expect(expelled).toHaveLength(1);
  });
});

test("a peer of one's own kinds repeats requests, which have no place", async () => {
  const { say, heard, expelled } = await start(OWN);
  await say(envelope({ from: 'request:pay-17' }, 1));
  await say(envelope({ from: 'request:pay-17' }, 1));
  expect(heard()).toEqual({ peer: [1] });
  expect(expelled).toEqual([]);
});

describe('a peer that has proved to be a client', () => {
  const asked = { type: 'now', replyTo: `ask/1@${PEER}` };
  const from = `session:1@${PEER}`;

  test('is answered by a kind that is open to clients', async () => {
    const { say, expelled } = await start(CLIENT);
    expect(await say(envelope({ to: 'clerk/c@a', from }, 1, asked))).toMatchObject([
      { from, counter: 1 },
      { to: `ask/1@${PEER}`, event: { value: 'here you are' } },
    ]);
    expect(expelled).toEqual([]);
  });

  test.each([
    ['speaks to another kind', envelope({ from })],
    ['gives birth to another kind', envelope({ from, event: { type: 'escapement.spawn' } }, 1)],
    ['answers', envelope({ to: 'ask/1@a', from, event: { type: 'escapement.reply', value: 1 } })],
    [
      'reads',
      envelope({ to: 'clerk/c@a', from }, 0, { type: 'escapement.fetch', replyTo: asked.replyTo }),
    ],
    ['claims a place', hello([['A', 1]])],
  ])('is sent away when it %s', async (_, frame) => {
    const { say, heard, expelled } = await start(CLIENT);
    expect(await say(frame)).toEqual([]);
    expect(expelled).toHaveLength(1);
    expect(heard()).toEqual({});
  });

  test('is refused by a kind that is not known here like everybody else', async () => {
    const { say, expelled } = await start(CLIENT);
    expect(await say(envelope({ to: 'desk/main@a', from }, 1))).toMatchObject([
      { error: { code: 'KIND_UNKNOWN' } },
    ]);
    expect(expelled).toEqual([]);
  });
});

test('a peer of one’s own kinds may read', async () => {
  const { say, expelled } = await start(OWN);
  const event = { type: 'escapement.fetch', replyTo: `ask/1@${PEER}` };
  expect(await say(envelope({ event }))).toMatchObject([
    { to: `ask/1@${PEER}`, event: { value: { status: 'active' } } },
  ]);
  expect(expelled).toEqual([]);
});

describe('H44: what is malformed', () => {
  const BAD = ['{', '""', 'null', '[]', '1', '', '\u0000', '{"v":2}', '{"v":1,"envelopes":{}}'];

  test.each(BAD)('is refused, and with the third the peer is sent away: %j', async (text) => {
    const { rt, say, expelled } = await start(MANAGER);
    for (const time of [1, 2, 3]) {
      expect(expelled).toEqual([]);
      expect(await say(text)).toEqual([]);
      expect(rt.runtime.metrics()).toMatchObject({ framesMalformed: time, messagesReceived: 0 });
    }
    expect(expelled).toHaveLength(1);
    await say(text);
    expect(rt.runtime.metrics()).toMatchObject({ framesMalformed: 3, peersExpelled: 1 });
  });

  test('counts for a minute', async () => {
    const { rt, say, heard, expelled } = await start(MANAGER);
    for (let time = 0; time < 6; time += 1) {
      await say('{');
      await rt.advance('30s');
    }
    expect(expelled).toEqual([]);
    await say(envelope({}, 1));
    expect(heard()).toEqual({ peer: [1] });
  });

  test.each([
    ['an envelope', envelope({ to: 'nobody' })],
    ['a reserved name (H46)', envelope({ event: { type: 'xstate.stop' } })],
    ['a receipt', { v: 1, receipts: [{}] }],
    ['a hello', { v: 1, hello: { node: PEER } }],
    ['depth (H45)', { v: 1, x: JSON.parse(`${'['.repeat(36)}${']'.repeat(36)}`) }],
    ['a text (H45)', envelope({ event: { ...HEARD, detail: 'x'.repeat(8_193) } })],
    ['a fragment (H36)', 'p1:x'],
  ])('counts also where it is %s', async (_, frame) => {
    const { say, heard, expelled } = await start(MANAGER);
    for (let time = 0; time < 3; time += 1) await say(frame);
    expect(expelled).toHaveLength(1);
    expect(heard()).toEqual({});
  });

  test('costs a peer nothing that has proved nothing', async () => {
    const { say, heard, expelled } = await start(undefined);
    for (const text of BAD) await say(text);
    await say(envelope({ from: 'speaker/s@B', event: { ...HEARD, detail: 'x'.repeat(9_000) } }, 1));
    expect(expelled).toEqual([]);
    expect(heard()).toEqual({ peer: [1] });
  });

  test('is a frame that was begun and does not go on (H36)', async () => {
    const { rt, say, expelled } = await start(MANAGER);
    for (const id of [1, 2, 3]) {
      await say(`p1:${id}:1:3:400:x`);
      await rt.advance('10s');
      expect(rt.runtime.metrics().framesMalformed).toBe(id);
    }
    expect(expelled).toHaveLength(1);
  });

  test('is a frame that another one interrupts, and that one is taken', async () => {
    const { rt, say, heard, expelled } = await start(MANAGER);
    await say('p1:1:1:3:400:x');
    await say(envelope({}, 1));
    expect(heard()).toEqual({ peer: [1] });
    expect(rt.runtime.metrics().framesMalformed).toBe(1);
    expect(expelled).toEqual([]);
  });
});

test('what comes of a connection that is gone is not taken from anybody', async () => {
  const { rt, say, heard } = await start(MANAGER, { peerFaultsMax: 1 });
  await say('{');
  await say(envelope({ from: 'speaker/s@B' }, 1));
  await say(envelope({}, 1));
  expect(heard()).toEqual({});
  expect(rt.runtime.metrics()).toMatchObject({ peersExpelled: 1, messagesReceived: 0 });
});
