/** H41: what peers and clients are told that do not read, and what is kept for them meanwhile. */

import { afterEach, expect, test } from 'vitest';
import type { Claim } from '../../transports/websocket/claim.ts';
import { MALLORY, openRaw, openRawClient, type RawLink } from './raw-caller.ts';
import { SECRET } from './socket-network.ts';
import { becomes, nodes } from './told.ts';

const { start, stopAll } = nodes();
const links: RawLink[] = [];
afterEach(async () => {
  for (const { socket } of links.splice(0)) socket.destroy();
  await stopAll();
});

const CLIENT: Claim = { node: 'ann~1', role: 'client', place: 'ann~1', bootEpoch: 1 };
/** What the system keeps for a socket that nobody reads, on both ends, at most. */
const SYSTEM_BYTES = 32 * 2 ** 20;

test.each<[string, Claim, number]>([
  ['a node of the cluster', MALLORY, 8 * 2 ** 20],
  ['a client', CLIENT, 2 ** 20],
])('%s that never reads is closed with 1013, and no more is kept than may be', async (...given) => {
  const [, claim, bytesMax] = given;
  const limits = { overflowMs: 50, closeMs: 60_000 };
  const b = await start('b', { limits, clientOf: () => ({ name: 'ann' }) });
  const good = await start('good', { peers: [b.url] });
  await b.until(() => b.log.includes('up good'));
  const link =
    claim.role === 'client'
      ? await openRawClient(b.url, claim, 'any')
      : await openRaw(b.url, claim, SECRET);
  links.push(link);
  await b.until(() => b.log.includes(`up ${claim.node}`));
  link.socket.pause();
  const text = 'x'.repeat(60_000);
  let keptBytes = 0;
  let refused = 0;
  await becomes(() => {
    for (let count = 0; count < 50 && b.transport.peers().includes(claim.node); count += 1)
      if (b.transport.send(claim.node, text)) keptBytes += text.length;
      else refused += 1;
    return b.transport.counters()['linksTooSlow'] === 1;
  });
  expect(refused).toBeGreaterThan(0);
  expect(keptBytes).toBeLessThan(bytesMax + SYSTEM_BYTES);
  b.transport.send('good', 'all is well');
  await good.until(() => good.log.includes('frame b all is well'));
  link.socket.resume();
  expect(await link.closed).toBe(1013);
  expect(b.log).toEqual(['up good', `up ${claim.node}`, `down ${claim.node}`]);
});
