/**
 * Silences that end a connection: N intervals in a row without a sign of life, and no others, however
 * they alternate with intervals in which the peer was heard.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedClock } from '../../simulator/testing.ts';
import { websocketTransport } from '../../transports/websocket.ts';
import { MALLORY, openRaw, type RawLink, webSocketFrame } from './raw-caller.ts';
import { SECRET } from './socket-network.ts';

const PING_MS = 10_000;
const OPCODE = { ping: 9, pong: 10 } as const;

/** A listener in simulated time, and a peer on a real socket that answers no ping by itself. */
async function meet(missedPingsMax: number) {
  const clock = new SimulatedClock();
  const transport = websocketTransport({
    node: 'b',
    listen: { port: 0 },
    secret: SECRET,
    clock,
    limits: { pingMs: PING_MS, missedPingsMax, controlFramesPerSecond: 1_000 },
  });
  await transport.start({ peerUp() {}, peerDown() {}, frameReceived() {} });
  const link = await openRaw(transport.url as string, { ...MALLORY, bootEpoch: 0 });
  return { clock, transport, link };
}

/** Says something, and waits until it was heard: the other end answers a ping with a pong. */
async function speak({ socket, write }: RawLink, word: string): Promise<void> {
  const answered = new Promise<void>((resolve) => {
    const pong = webSocketFrame(word, { opcode: OPCODE.pong, isMasked: false });
    let seen = Buffer.alloc(0);
    const look = (bytes: Buffer): void => {
      seen = Buffer.concat([seen, bytes]);
      if (!seen.includes(pong)) return;
      socket.off('data', look);
      resolve();
    };
    socket.on('data', look);
    socket.resume();
  });
  write(webSocketFrame(word, { opcode: OPCODE.ping }));
  await answered;
}

test('a connection ends after this many silent intervals in a row, and only then', async () => {
  const intervals = fc.array(fc.boolean(), { minLength: 1, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(intervals, fc.integer({ min: 1, max: 4 }), async (isHeard, missedMax) => {
      const { clock, transport, link } = await meet(missedMax);
      let silent = 0;
      try {
        for (const [index, heard] of isHeard.entries()) {
          if (heard) await speak(link, `word ${index}`);
          clock.advanceBy(PING_MS);
          // Before the first interval was the handshake.
          silent = heard || index === 0 ? 0 : silent + 1;
          const isGone = silent >= missedMax;
          expect(transport.peers()).toEqual(isGone ? [] : ['m']);
          expect(transport.counters()['linksSilent']).toBe(isGone ? 1 : 0);
          if (isGone) return;
        }
      } finally {
        link.socket.destroy();
        await transport.stop();
      }
    }),
    { numRuns: 40 },
  );
});
