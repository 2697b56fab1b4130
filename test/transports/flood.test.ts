/** A flood of handshakes from an address does not keep out a peer that has proved a name from there before. */

import { expect, test } from 'vitest';
import { SimulatedClock } from '../../simulator/testing.ts';
import { websocketTransport } from '../../transports/websocket.ts';
import { ask, callIn, MALLORY, newNonce, question } from './raw-caller.ts';
import { SECRET } from './socket-network.ts';

const PER_SECOND = 6;

test('a flood of handshakes does not starve proven names', async () => {
  // Its time stands still, so nobody is given anything by waiting.
  const clock = new SimulatedClock();
  const transport = websocketTransport({
    node: 'b',
    listen: { port: 0 },
    secret: SECRET,
    clock,
    limits: { handshakesPerSecond: PER_SECOND },
  });
  await transport.start({ peerUp() {}, peerDown() {}, frameReceived() {} });
  const url = transport.url as string;
  const known = { ...MALLORY, node: 'known', place: 'known', bootEpoch: 0 };
  const first = await callIn(url, known);
  expect(first.answer.status).toBe(101);
  first.answer.socket.destroy();

  const flood: number[] = [];
  for (let count = 0; count < 5 * PER_SECOND; count += 1) {
    const { status, socket } = await ask(url, question({ ...MALLORY, bootEpoch: 0 }, newNonce()));
    flood.push(status);
    socket.destroy();
  }
  expect(flood.filter((status) => status === 401)).toHaveLength(PER_SECOND - 2);
  expect(flood.slice(PER_SECOND).every((status) => status === 429)).toBe(true);

  const again = await callIn(url, { ...known, bootEpoch: 0 });
  expect(again.answer.status).toBe(101);
  const stranger = await ask(url, question({ ...MALLORY, node: 'x', place: 'x' }, newNonce()));
  expect(stranger.status).toBe(429);
  // Its own allowance ends, too, and comes again with time.
  const asked: number[] = [];
  for (let count = 0; count < 2 * PER_SECOND; count += 1) {
    const { status, socket } = await ask(url, question({ ...known, bootEpoch: 0 }, newNonce()));
    asked.push(status);
    socket.destroy();
  }
  expect(asked).toContain(429);
  clock.advanceBy(1_000);
  const late = await ask(url, question({ ...MALLORY, bootEpoch: 0 }, newNonce()));
  expect(late.status).toBe(401);
  for (const { socket } of [again.answer, stranger, late]) socket.destroy();
  await transport.stop();
});
