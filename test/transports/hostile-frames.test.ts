/**
 * Peers that have proved who they are and then break the rules. Each is disconnected with the right code,
 * nothing of it is handed over, and a well-behaved peer beside it notices nothing.
 */

import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../runtime/ports/clock.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { FrameWriter } from '../../transports/websocket/frame-text.ts';
import type { WebSocketLimits } from '../../transports/websocket.ts';
import {
  callIn,
  type FrameParts,
  MALLORY,
  openRaw,
  type RawLink,
  webSocketFrame,
} from './raw-caller.ts';
import { becomes, nodes, type StartedNode } from './told.ts';

const { start, stopAll } = nodes();
let b: StartedNode;
let good: StartedNode;
let raws: RawLink[];

beforeEach(() => {
  raws = [];
});
afterEach(async () => {
  for (const { socket } of raws) socket.destroy();
  await stopAll();
});

async function attack(limits: Partial<WebSocketLimits> = {}): Promise<RawLink> {
  b = await start('b', { limits });
  good = await start('good', { peers: [b.url] });
  await good.until(() => good.transport.peers().includes('b'));
  const raw = await openRaw(b.url);
  raws.push(raw);
  return raw;
}

/** What must hold after every attack. */
async function expectUnharmed(...handedOver: string[]): Promise<void> {
  good.transport.send('b', 'all is well');
  await b.until(() => b.log.includes('frame good all is well'));
  expect(b.log.filter((line) => line.startsWith('frame m'))).toEqual(handedOver);
  expect(good.log).toEqual(['up b']);
  expect(b.log).not.toContain('down good');
}

async function isBanned(): Promise<boolean> {
  return (await callIn(b.url)).answer.status === 403;
}

describe('H36 a frame', () => {
  test('over the limit ends the connection with 1009', async () => {
    const raw = await attack();
    raw.write(webSocketFrame(raw.writer.write('x'.repeat(2 ** 20))));
    expect(await raw.closed).toBe(1009);
    await expectUnharmed();
  });

  test('of exactly the limit is taken', async () => {
    const raw = await attack();
    const text = 'x'.repeat(2 ** 20 - 24);
    raw.write(webSocketFrame(raw.writer.write(text)));
    await b.until(() => b.log.includes(`frame m ${text}`));
  });

  test('in very many fragments ends the connection with 1008', async () => {
    const raw = await attack();
    const text = raw.writer.write('x'.repeat(20_000));
    const fragments = [...text].map((letter, index) =>
      webSocketFrame(letter, { opcode: index === 0 ? 1 : 0, isFinal: false }),
    );
    raw.write(Buffer.concat(fragments));
    expect(await raw.closed).toBe(1008);
    await expectUnharmed();
  });

  test('in a few fragments is one frame', async () => {
    const raw = await attack();
    const bytes = Buffer.from(raw.writer.write('in three parts'));
    raw.write(webSocketFrame(bytes.subarray(0, 3), { isFinal: false }));
    raw.write(webSocketFrame(bytes.subarray(3, 30), { opcode: 0, isFinal: false }));
    raw.write(webSocketFrame('', { opcode: 9 }));
    raw.write(webSocketFrame(bytes.subarray(30), { opcode: 0 }));
    await b.until(() => b.log.includes('frame m in three parts'));
  });

  test('that never ends is given up, though its sender answers', async () => {
    const raw = await attack({ unfinishedFrameMs: 40, controlFramesPerSecond: 1_000_000 });
    raw.write(webSocketFrame(raw.writer.write('x'), { isFinal: false }));
    const pongs = setInterval(() => raw.write(webSocketFrame('', { opcode: 10 })), 2);
    expect(await raw.closed).toBe(1008);
    clearInterval(pongs);
    await expectUnharmed();
  });

  test('H43 of which half comes, and then nothing, is given up', async () => {
    const raw = await attack({ unfinishedFrameMs: 40 });
    raw.write(webSocketFrame(raw.writer.write('half')).subarray(0, 12));
    expect(await raw.closed).toBe(1008);
    await expectUnharmed();
  });
});

describe('H37, H38 bytes that are no frame', () => {
  test.each<[string, number, string | Buffer, FrameParts]>([
    ['binary', 1003, 'binary', { opcode: 2 }],
    ['text that is not UTF-8', 1007, Buffer.from([0xff, 0xfe, 0xfd]), {}],
    ['reserved bits', 1002, 'compressed?', { reserved: 4 }],
    ['an unknown opcode', 1002, 'what', { opcode: 5 }],
    ['a frame without a mask', 1002, 'bare', { isMasked: false }],
    ['a ping in fragments', 1002, 'ping', { opcode: 9, isFinal: false }],
    ['a continuation of nothing', 1002, 'more', { opcode: 0 }],
  ])('%s: %i', async (_what, code, payload, parts) => {
    const raw = await attack();
    raw.write(webSocketFrame(payload, parts));
    expect(await raw.closed).toBe(code);
    await b.until(() => b.log.includes('down m'));
    await expectUnharmed();
  });

  test('noise', async () => {
    for (let round = 0; round < 20; round++) {
      const raw = await attack({ unfinishedFrameMs: 30, closeMs: 10 });
      raw.write(randomBytes(2_000));
      await raw.closed;
      await b.until(() => b.log.includes('down m'));
      await expectUnharmed();
      await stopAll();
    }
  });
});

describe('H54 a frame', () => {
  const forgeries: ReadonlyArray<readonly [string, (raw: RawLink) => string]> = [
    ['that was sent before', () => first],
    ['of another connection', () => new FrameWriter('AAAAAAAA').write('forged')],
    ['with a number that goes back', (raw) => new FrameWriter(raw.linkId).write('again')],
    [
      'with a bit flipped',
      (raw) => {
        const text = raw.writer.write('flip me');
        return `${text.slice(0, -1)}${String.fromCharCode(text.charCodeAt(text.length - 1) ^ 1)}`;
      },
    ],
    ['that is too short', () => 'short'],
    ['without a number', (raw) => raw.writer.write('x').slice(0, 20)],
  ];
  let first = '';

  test.each(forgeries)('%s is dropped, and the third ends the connection', async (_what, forge) => {
    const raw = await attack();
    first = raw.writer.write('first');
    raw.write(webSocketFrame(first));
    raw.write(webSocketFrame(forge(raw)));
    raw.write(webSocketFrame(forge(raw)));
    raw.write(webSocketFrame(raw.writer.write('still here')));
    await b.until(() => b.log.includes('frame m still here'));
    raw.write(webSocketFrame(forge(raw)));
    raw.write(webSocketFrame(raw.writer.write('too late')));
    expect(await raw.closed).toBe(1008);
    expect(b.transport.counters()).toMatchObject({ badFrames: 3, linksExpelled: 1 });
    expect(await isBanned()).toBe(true);
    await expectUnharmed('frame m first', 'frame m still here');
  });
});

describe('H40 a flood', () => {
  test('of pings ends the connection, with a ban for a while', async () => {
    const raw = await attack({ banMs: 50 });
    const ping = webSocketFrame('', { opcode: 9 });
    raw.write(Buffer.concat(Array.from({ length: 100_000 }, () => ping)));
    expect(await raw.closed).toBe(1008);
    await b.until(() => b.log.includes('down m'));
    await expectUnharmed();
    let status = 0;
    await becomes(() => {
      if (status === 0) {
        status = 403;
        void callIn(b.url).then(({ answer }) => {
          status = answer.status === 101 ? 101 : 0;
          answer.socket.destroy();
        });
      }
      return status === 101;
    });
  });

  test('of bytes ends the connection, and it is banned', async () => {
    const raw = await attack({ peerBytesPerSecond: 100_000 });
    const text = 'x'.repeat(10_000);
    for (let count = 0; count < 50; count++) raw.write(webSocketFrame(raw.writer.write(text)));
    expect(await raw.closed).toBe(1008);
    expect(await isBanned()).toBe(true);
    expect(b.log.filter((line) => line.startsWith('frame m')).length).toBeLessThan(50);
  });

  test('of empty frames counts as one of bytes', async () => {
    const raw = await attack({ peerBytesPerSecond: 12_800 });
    for (let count = 0; count < 300; count++) raw.write(webSocketFrame(raw.writer.write('')));
    expect(await raw.closed).toBe(1008);
  });

  test('of 300,000 small messages in batches is none', async () => {
    await attack();
    const batch = `{"envelopes":[${'{"to":"a/b@c","counter":1},'.repeat(1_000)}]}`;
    for (let count = 0; count < 300; count++) {
      expect(good.transport.send('b', batch)).toBe(true);
      if (count % 50 === 49) await new Promise(setImmediate);
    }
    await b.until(() => b.count(`frame good ${batch}`) === 300);
    expect(good.log).toEqual(['up b']);
  });
});

describe('H41 a peer that never reads', () => {
  test('is disconnected from when the buffer stays full; until then frames are dropped', async () => {
    const raw = await attack({ overflowMs: 20, closeMs: 20, peerBufferBytesMax: 2 ** 20 });
    raw.socket.pause();
    const text = 'x'.repeat(500_000);
    let refused = 0;
    await becomes(() => {
      if (b.transport.peers().includes('m') && !b.transport.send('m', text)) refused += 1;
      return !b.transport.peers().includes('m');
    });
    expect(refused).toBeGreaterThan(0);
    expect(b.transport.counters()).toMatchObject({ linksTooSlow: 1 });
    await expectUnharmed();
  });

  test('is disconnected from when nothing leaves for too long', async () => {
    const raw = await attack({ drainMs: 40, closeMs: 20 });
    raw.socket.pause();
    const text = 'x'.repeat(500_000);
    while (!b.transport.isCongested?.('m')) {
      b.transport.send('m', text);
      await new Promise(setImmediate);
    }
    await b.until(() => b.log.includes('down m'));
    expect(b.transport.counters()).toMatchObject({ linksTooSlow: 1 });
    await expectUnharmed();
  });

  test('is no peer that takes a large burst slowly', async () => {
    await attack({ overflowMs: 2_000 });
    const text = 'x'.repeat(1_000_000);
    let sent = 0;
    for (let count = 0; count < 20; count++) if (good.transport.send('b', text)) sent += 1;
    await b.until(() => b.count(`frame good ${text}`) === sent);
    expect(good.log).toEqual(['up b']);
  });
});

describe('a peer that the runtime sends away', () => {
  test('is heard no more, also not in what has come already, and is banned', async () => {
    b = await start('b');
    const raw = await openRaw(b.url);
    raws.push(raw);
    const told: string[] = [];
    const { frameReceived } = b.listener;
    (b.listener as { frameReceived: typeof frameReceived }).frameReceived = (node, frame) => {
      told.push(frame);
      b.transport.expel?.(node, 'said something that is not its to say');
      told.push(`${b.transport.peers().length} peer left`);
    };
    raw.write(
      Buffer.concat(['bad', 'worse'].map((text) => webSocketFrame(raw.writer.write(text)))),
    );
    expect(await raw.closed).toBe(1008);
    expect(told).toEqual(['bad', '1 peer left']);
    expect(b.log).toEqual(['up m', 'down m']);
    expect(await isBanned()).toBe(true);
    expect((await callIn(b.url, { ...MALLORY, node: 'n', place: 'n' })).answer.status).toBe(101);
  });

  test('is not dialled for as long', async () => {
    b = await start('b');
    const real = systemClock();
    const pausesMs: number[] = [];
    const clock: Clock = {
      now: () => real.now(),
      defer: (task) => real.defer(task),
      schedule: (atMs, task) => {
        pausesMs.push(atMs - real.now());
        return real.schedule(atMs, task);
      },
    };
    const a = await start('a', { peers: [b.url], clock, limits: { banMs: 10 ** 9 } });
    await a.until(() => a.log.includes('up b'));
    a.transport.expel?.('b', 'test');
    await a.until(() => a.log.includes('down b'));
    expect(Math.max(...pausesMs)).toBeGreaterThan(10 ** 9 - 10 ** 6);
  });
});
