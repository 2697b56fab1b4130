/**
 * A manager as a process of its own, and peers that break the rules on its listener: each is refused by
 * its status, or closed by its code, no machine has heard of it, and the process works as before.
 */

import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Claim } from '../../transports/websocket/claim.ts';
import {
  ask,
  callIn,
  type FrameParts,
  type Headers,
  newNonce,
  openRaw,
  openRawClient,
  question,
  type RawLink,
  webSocketFrame,
} from '../transports/raw-caller.ts';
import { ANYWHERE, SECRET_ENV, until } from './started-cluster.ts';
import { StartedNode } from './started-node.ts';

const SECRET = SECRET_ENV.ESCAPEMENT_SECRET as string;
/** One where tests may ask as often as they like, and one with the limits that people have. */
let node: StartedNode;
let plain: StartedNode;
let turns = 0;
let names = 0;
const sockets: Socket[] = [];

const metric = async (name: string, at = node): Promise<number> => {
  const { body } = await at.ask('GET', '/metrics');
  const line = String(body)
    .split('\n')
    .find((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1));
};

beforeAll(async () => {
  const args = ['manager', '--datacenter', 'A', '--data', 'memory'];
  [node, plain] = await Promise.all([
    StartedNode.serving([...args, ...ANYWHERE], { env: SECRET_ENV }),
    StartedNode.serving([...args, '--listen', '127.0.0.1:0'], { env: SECRET_ENV }),
  ]);
  turns = await metric('escapement_turns_total');
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  expect(await node.ask('GET', '/readyz')).toMatchObject({ status: 200 });
  expect(await metric('escapement_turns_total'), 'no machine has heard of it').toBe(turns);
  expect(node.lines.filter(({ level }) => level === 'error')).toEqual([]);
});
afterAll(async () => {
  try {
    const job = { jobId: 'j1', timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'echo' }] };
    expect(await node.ask('POST', '/v1/jobs', job)).toMatchObject({ status: 201 });
    for (const one of [node, plain]) expect(await one.stop()).toMatchObject({ code: 0, err: '' });
  } finally {
    for (const one of [node, plain]) await one?.kill();
  }
});

/** Who broke the rules is banned: the next one is somebody else. */
function newWorker(): Claim {
  names += 1;
  const name = `A.worker-${names}`;
  return { node: name, role: 'worker', place: name, bootEpoch: names };
}

function newClient(): Claim {
  names += 1;
  return { node: `local~${names}`, role: 'client', place: `local~${names}`, bootEpoch: names };
}

async function enter(claim: Claim, { peerUrl } = node): Promise<RawLink> {
  const link =
    claim.role === 'client'
      ? await openRawClient(peerUrl, claim)
      : await openRaw(peerUrl, claim, SECRET);
  sockets.push(link.socket);
  return link;
}

const say = (link: RawLink, text: string): void =>
  link.write(webSocketFrame(link.writer.write(text)));

const envelopeOf = ({ place }: Claim, more: object = {}) => ({
  to: 'desk/main@A',
  from: `session:1@${place}`,
  counter: 1,
  after: 0,
  event: { type: 'jobs.asked' },
  ...more,
});

const frameOf = (...envelopes: readonly object[]): string => JSON.stringify({ v: 1, envelopes });

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const ofType = (type: unknown) => (claim: Claim) => frameOf(envelopeOf(claim, { event: { type } }));
const ofText = (text: string) => (): string => text;

type Frame = (claim: Claim) => string;

const MALFORMED: ReadonlyArray<readonly [what: string, frame: Frame]> = [
  ...['{', '""', 'null', '[]', '1', ''].map(
    (text) => [`H44 ${JSON.stringify(text)}`, ofText(text)] as const,
  ),
  ['H45 of 100,000 levels', ofText(`{"v":1,"hello":${nested(100_000)}}`)],
  ['H45 of 100,000 keys', ofText(`{"v":1,"hello":{${'"k":1,'.repeat(100_000)}"k":1}}`)],
  ['H45 of 300,000 objects', ofText(`{"v":1,"envelopes":[${'{},'.repeat(300_000)}{}]}`)],
  ['H45 with a text of a million characters', ofType('x'.repeat(1_000_000))],
  ['H45 with a number of 10,000 digits', ofText(`{"v":${'9'.repeat(10_000)}}`)],
  ...['xstate.stop', 'xstate.after.1.job', 'xstate.done.actor.x', 'xstate.error.actor.x', 7].map(
    (type) => [`H46 of the type ${type}`, ofType(type)] as const,
  ),
  ['H46 of no type', (claim) => frameOf(envelopeOf(claim, { event: {} }))],
  ['H46 with a prototype', () => '{"v":1,"envelopes":[{"__proto__":{"to":"desk/main@A"}}]}'],
  ...[-1, 1.5, 2 ** 53, 1e308, null, '2'].map(
    (counter) =>
      [
        `H47 with the counter ${counter}`,
        (c: Claim) => frameOf(envelopeOf(c, { counter })),
      ] as const,
  ),
  ...['', 'x'.repeat(10_240), '../../x', '\u{1f600}', '\u202ex', 'a\u0000', 'constructor'].map(
    (to) =>
      [
        `H57 to ${JSON.stringify(to).slice(0, 20)}`,
        (c: Claim) => frameOf(envelopeOf(c, { to })),
      ] as const,
  ),
  ...[0, 2, -1, '1', null].map(
    (v) => [`H60 of version ${v}`, () => JSON.stringify({ v })] as const,
  ),
];

describe('a peer that knows the secret', () => {
  test.each(MALFORMED)('%s: the third frame ends it with 1008', async (_what, frame) => {
    const claim = newWorker();
    const link = await enter(claim);
    const before = await metric('escapement_peers_expelled_total');
    for (let count = 0; count < 3; count += 1) say(link, frame(claim));
    expect(await link.closed).toBe(1008);
    expect(await metric('escapement_peers_expelled_total')).toBe(before + 1);
    const { answer } = await callIn(node.peerUrl, claim, {}, SECRET);
    sockets.push(answer.socket);
    expect(answer.status, 'it is kept away').toBe(403);
  });

  test.each<[string, (claim: Claim) => object]>([
    ['speaks for another worker', () => ({ from: 'worker/1@A.worker-0' })],
    ['speaks for a gate', () => ({ from: 'gate-job/j1@gate' })],
    ['speaks for the manager itself', () => ({ from: 'job/j1@A' })],
    [
      'has answers sent elsewhere',
      () => ({ counter: 0, event: { type: 'jobs.asked', replyTo: 'ask/1@169.254.169.254' } }),
    ],
    [
      'reads an actor',
      ({ place }) => ({ event: { type: 'escapement.fetch', replyTo: `ask/1@${place}` } }),
    ],
  ])('H51, H56 is closed with 1008 at once when it %s', async (_what, more) => {
    const claim = newWorker();
    const link = await enter(claim);
    say(link, frameOf(envelopeOf(claim, more(claim))));
    expect(await link.closed).toBe(1008);
  });

  test.each<[string, number, string | Buffer, FrameParts]>([
    ['H36 a frame over 1 MiB', 1009, 'x'.repeat(2 ** 20 + 1), {}],
    ['H38 binary', 1003, 'binary', { opcode: 2 }],
    ['H38 no UTF-8', 1007, Buffer.from([0xff, 0xfe]), {}],
    ['H38 reserved bits', 1002, 'x', { reserved: 4 }],
    ['H38 no mask', 1002, 'x', { isMasked: false }],
  ])('H37 %s is closed with %i', async (_what, code, payload, parts) => {
    const link = await enter(newWorker());
    link.write(webSocketFrame(payload, parts));
    expect(await link.closed).toBe(code);
  });
});

describe('a client', () => {
  test('H36 is closed with 1009 for a frame over 64 KiB', async () => {
    const link = await enter(newClient());
    say(link, 'x'.repeat(64 * 1024));
    expect(await link.closed).toBe(1009);
  });

  test('H40 is closed with 1008 when it asks more than 100 times in a minute', async () => {
    const claim = newClient();
    const link = await enter(claim, plain);
    // Nobody is there whom it could reach, so no machine hears of those within the limit.
    const asked = envelopeOf(claim, { to: 'nothing/x@A', counter: 0 });
    for (let count = 0; count < 100; count += 1) say(link, frameOf(asked));
    say(link, frameOf());
    await until(
      () => metric('escapement_socket_frames_received_total', plain),
      (frames) => frames > 100,
    );
    expect(link.socket.readableEnded).toBe(false);
    // On a busy machine some of the hundred are free again by now, and never more than all.
    for (let count = 0; count < 200; count += 1) say(link, frameOf(asked));
    expect(await link.closed).toBe(1008);
  });

  test('H56 is closed with 1008 when it speaks to what is not for clients', async () => {
    const claim = newClient();
    const link = await enter(claim);
    say(link, frameOf(envelopeOf(claim, { to: 'worker-pool/main@A' })));
    expect(await link.closed).toBe(1008);
  });
});

describe('somebody who has proved nothing', () => {
  test.each<[number, string, Headers, string?]>([
    [401, 'without a proof', {}],
    [413, 'with more than 4 KiB', { padding: 'x'.repeat(4_096) }],
    [403, 'from a page of another site', { origin: 'https://evil.example' }],
    [400, 'with another subprotocol', { 'sec-websocket-protocol': 'mqtt' }],
    [426, 'with another version', { 'sec-websocket-protocol': 'escapement.2' }],
    [400, 'with a name that is none', { 'escapement-node': '../../x' }],
    [404, 'on another path', {}, '/elsewhere'],
  ])('H35 is answered %i: %s', async (status, _what, changes, path) => {
    const answer = await ask(node.peerUrl, question(newWorker(), newNonce(), changes), path);
    sockets.push(answer.socket);
    expect(answer.status).toBe(status);
  });

  test('H61 comes a thousand times at once, and nobody who is inside notices', async () => {
    const inside = await enter(newWorker());
    const port = Number(new URL(node.url).port);
    let opened = 0;
    for (let count = 0; count < 1_000; count += 1) {
      const socket = connect({
        port,
        host: '127.0.0.1',
        localAddress: `127.0.0.${2 + (count % 8)}`,
      });
      sockets.push(socket);
      socket
        .on('error', () => {})
        .on('connect', () => {
          opened += 1;
        });
    }
    const received = await metric('escapement_socket_frames_received_total');
    for (let count = 0; count < 20; count += 1) say(inside, frameOf());
    await until(
      () => metric('escapement_socket_frames_received_total'),
      (frames) => frames >= received + 20,
    );
    await until(
      async () => opened,
      (all) => all === 1_000,
    );
    expect(await node.ask('GET', '/livez')).toMatchObject({ status: 200 });
  });
});
