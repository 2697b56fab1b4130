/** Frames that come in one piece are read a slice at a time: timers and other peers have their turn in between. */

import { expect, test } from 'vitest';
import { SimulatedClock } from '../../simulator/testing.ts';
import { websocketTransport } from '../../transports/websocket.ts';
import { MALLORY, openRaw, type RawLink, webSocketFrame } from './raw-caller.ts';
import { SECRET } from './socket-network.ts';

const FRAMES = 60;
/** As the clock has it a slice is over with the third. */
const FRAME_MS = 6;
/** The end of one slice and the beginning of the next may fall into one turn of the event loop. */
const FRAMES_PER_TURN_MAX = 6;

test('a piece of many frames holds up neither timers nor other peers, and loses none at its end', async () => {
  const clock = new SimulatedClock();
  const seen: Array<{ readonly node: string; readonly what: string; readonly turn: number }> = [];
  let turn = 0;
  let next = setImmediate(function count() {
    turn += 1;
    next = setImmediate(count);
  });
  const transport = websocketTransport({ node: 'b', listen: { port: 0 }, secret: SECRET, clock });
  let resolveGone = (): void => {};
  const gone = new Promise<void>((resolve) => {
    resolveGone = resolve;
  });
  await transport.start({
    peerUp() {},
    peerDown(node) {
      seen.push({ node, what: 'down', turn });
      resolveGone();
    },
    frameReceived(node, what) {
      clock.advanceBy(FRAME_MS);
      seen.push({ node, what, turn });
      if (seen.length === 1) other.write(frameOf(other, 'hello'));
    },
  });
  const url = transport.url as string;
  const frameOf = ({ writer }: RawLink, text: string): Buffer => webSocketFrame(writer.write(text));
  const other = await openRaw(url, { ...MALLORY, node: 'o', place: 'o', bootEpoch: 0 });
  const busy = await openRaw(url, { ...MALLORY, bootEpoch: 0 });
  const said = Array.from({ length: FRAMES }, (_, index) => String(index));
  const goodbye = webSocketFrame(Buffer.from([0x03, 0xe8]), { opcode: 8 });
  busy.write(Buffer.concat([...said.map((text) => frameOf(busy, text)), goodbye]));
  await gone;
  clearImmediate(next);

  const ofBusy = seen.filter(({ node }) => node === MALLORY.node);
  expect(ofBusy.map(({ what }) => what)).toEqual([...said, 'down']);
  const counts = new Map<number, number>();
  for (const { turn: one } of seen) counts.set(one, (counts.get(one) ?? 0) + 1);
  expect(Math.max(...counts.values())).toBeLessThanOrEqual(FRAMES_PER_TURN_MAX);
  const heardAt = seen.findIndex(({ node }) => node === 'o');
  expect(heardAt).toBeGreaterThan(0);
  expect(heardAt).toBeLessThan(FRAMES);
  other.socket.destroy();
  await transport.stop();
});
