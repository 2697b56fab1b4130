/** Messages that are larger than a frame, and peers that take frames too slowly. */

import { describe, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import { jobsPeer } from '../../programs/jobs/peer-roles.ts';
import type { RuntimeLimits } from '../../runtime/base/limits.ts';
import { type Question, reply } from '../../runtime/machine.ts';
import type { PeerIdentity, Transport } from '../../runtime/ports/transport.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { KINDS } from './clerk.ts';
import { provingTransport } from './proving-transport.ts';

const shelf = setup({
  types: {
    context: {} as { lengths: number[] },
    events: {} as { type: 'put'; text: string } | Question<{ type: 'get'; length: number }, string>,
  },
}).createMachine({
  id: 'shelf',
  context: { lengths: [] },
  on: {
    put: {
      actions: assign({ lengths: ({ context, event }) => [...context.lengths, event.text.length] }),
    },
    get: { actions: reply(({ event }) => '€'.repeat(event.length)) },
  },
});

const NODE: PeerIdentity = jobsPeer('node', 'x');

/** Two nodes that take frames of at most this many bytes from each other. */
async function twoNodes(
  frameBytes: number,
  identityOf: (node: string) => PeerIdentity | undefined = () => NODE,
  isCongested: () => boolean = () => false,
  limits: Partial<RuntimeLimits> = {},
) {
  const clock = new SimulatedClock();
  const network = inProcessNetwork({ frameBytesMax: frameBytes });
  const frames: number[] = [];
  const expelled: string[] = [];
  const counted = (inner: Transport): Transport => ({
    ...bound(inner),
    send(node, frame) {
      frames.push(Buffer.byteLength(frame));
      return inner.send(node, frame);
    },
  });
  const open = (node: string) =>
    testRuntime({
      kinds: { ...KINDS, shelf },
      options: { shelf: { openToClients: true } },
      node,
      clock,
      limits,
      transport: () =>
        provingTransport(counted(network.join(node)), {
          identityOf,
          isCongested,
          expelled: (gone) => expelled.push(gone),
          frameBytesMax: () => frameBytes,
        }),
    });
  const [a, b] = [await open('a'), await open('b')];
  await b.spawn('shelf/s');
  return { a, b, frames, expelled, far: a.actor('shelf/s@b') };
}

function bound(inner: Transport): Transport {
  return {
    start: (listener) => inner.start(listener),
    send: (node, frame) => inner.send(node, frame),
    peers: () => inner.peers(),
    stop: () => inner.stop(),
  };
}

describe('a message that is larger than a frame', () => {
  test.each([2 ** 20, 64 * 1024, 4_096])(
    'arrives, once and in order, in frames of %i bytes',
    async (bytes) => {
      const { a, b, far, frames, expelled } = await twoNodes(bytes);
      const lengths = [10, 500_000, 20, 1_200_000, 30];
      await Promise.all(
        lengths.map((length) => far.send({ type: 'put', text: 'ä'.repeat(length) })),
      );
      await a.settle();
      expect(b.actor('shelf/s').getSnapshot().context.lengths).toEqual(lengths);
      expect(Math.max(...frames)).toBeLessThanOrEqual(bytes);
      expect(expelled).toEqual([]);
      expect(b.runtime.metrics().framesMalformed).toBe(0);
    },
  );

  test('is answered by one that is larger too', async () => {
    const { far } = await twoNodes(64 * 1024);
    expect(await far.ask({ type: 'get', length: 300_000 })).toBe('€'.repeat(300_000));
  });

  test('up to messageBytesMax, and a larger one is refused before it leaves', async () => {
    const { a, b, far, frames } = await twoNodes(2 ** 20);
    const room = JSON.stringify({ type: 'put', text: '' }).length;
    await far.send({ type: 'put', text: 'x'.repeat(4 * 2 ** 20 - room) });
    const sent = frames.length;
    const larger = far.send({ type: 'put', text: 'x'.repeat(4 * 2 ** 20 - room + 1) });
    await expect(larger).rejects.toMatchObject({ code: 'EVENT_REFUSED' });
    await expect(far.send({ type: 'put', text: '€'.repeat(2 * 2 ** 20) })).rejects.toMatchObject({
      code: 'EVENT_REFUSED',
    });
    expect(frames).toHaveLength(sent);
    await far.send({ type: 'put', text: 'y' });
    await a.settle();
    expect(b.actor('shelf/s').getSnapshot().context.lengths).toEqual([4 * 2 ** 20 - room, 1]);
  });

  test('may be a frame of many small ones, however small the largest has to be', async () => {
    const limits = { messageBytesMax: 8_192 };
    const { b, far, expelled } = await twoNodes(64 * 1024, undefined, undefined, limits);
    const texts = Array.from({ length: 12 }, () => '€'.repeat(2_600));
    await Promise.all(texts.map((text) => far.send({ type: 'put', text })));
    expect(b.actor('shelf/s').getSnapshot().context.lengths).toHaveLength(12);
    expect([expelled, b.runtime.metrics().framesMalformed]).toEqual([[], 0]);
  });

  test('of a client has a limit of its own', async () => {
    const { b, far, expelled } = await twoNodes(64 * 1024, (node) => jobsPeer('client', node));
    const put = (payload: string) => far.send({ type: 'put', text: '', payload } as never);
    await put('x'.repeat(60_000));
    expect(b.actor('shelf/s').getSnapshot().context.lengths).toEqual([0]);
    const tooLarge = far.send({ type: 'put', text: 'x'.repeat(600 * 1024) });
    tooLarge.catch(() => {});
    await b.advance('1s');
    expect(b.runtime.metrics().framesMalformed).toBeGreaterThan(0);
    await b.advance('10s');
    expect(expelled).toEqual(['a']);
    await b.stop();
  });
});

describe('to a peer that takes frames too slowly', () => {
  test('hints are left out; messages, questions and answers are not', async () => {
    let isSlow = true;
    const { a, b, far } = await twoNodes(
      2 ** 20,
      () => NODE,
      () => isSlow,
    );
    for (const length of [1, 2, 3]) far.hint({ type: 'put', text: 'x'.repeat(length) });
    await far.send({ type: 'put', text: 'xxxx' });
    expect(await far.ask({ type: 'get', length: 1 })).toBe('€');
    expect(await far.fetchSnapshot()).toMatchObject({ context: { lengths: [4] } });
    expect(a.runtime.metrics().hintsLeftOut).toBe(3);
    expect(b.runtime.metrics().hintsLeftOut).toBe(0);
    isSlow = false;
    far.hint({ type: 'put', text: 'xxxxx' });
    await a.settle();
    expect(b.actor('shelf/s').getSnapshot().context.lengths).toEqual([4, 5]);
    expect(a.runtime.metrics().hintsLeftOut).toBe(3);
  });
});
