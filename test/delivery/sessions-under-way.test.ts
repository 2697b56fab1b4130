/**
 * The bound of messages under way for what code sends, which has no actor to send it.
 *
 * A session gives up what its caller waits for no longer, and nothing on the wire says so: invariant MS-4,
 * which reads frames, cannot count it. Here the test itself knows when each call is given up.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UNDER_WAY_MAX } from '../../runtime/actor/outbox.ts';
import type { Envelope, Receipt } from '../../runtime/delivery/envelope.ts';
import { decodeFrame } from '../../runtime/delivery/frame.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { LossyNetwork } from './lossy-network.ts';
import { listener } from './talkers.ts';

/** Counts from frames; `deadlines` has when each call is given up, by the number in its event. */
function countUnderWay(now: () => number, deadlines: readonly number[]) {
  const numbers = new Map<number, number>();
  const open = new Set<number>();
  let most = 0;
  return {
    most: () => most,
    hear(from: string, frame: string, isLost: boolean): void {
      const { envelopes, receipts } = decodeFrame(frame) as {
        readonly envelopes: readonly Envelope[];
        readonly receipts: readonly Receipt[];
      };
      if (from === 'a')
        for (const { counter, event } of envelopes) {
          numbers.set(counter, (event as unknown as { readonly number: number }).number);
          open.add(counter);
        }
      else if (!isLost) for (const { counter } of receipts) open.delete(counter);
      for (const counter of open)
        if ((deadlines[numbers.get(counter) as number] as number) <= now()) open.delete(counter);
      most = Math.max(most, open.size);
    },
  };
}

async function play(
  calls: ReadonlyArray<readonly [pauseMs: number, timeoutMs: number]>,
  lost: number,
) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const open = (node: string) =>
    testRuntime({ kinds: { listener }, node, clock, transport: () => network.join(node) });
  const [a, b] = [await open('a'), await open('b')];
  await b.spawn('listener/l');
  const deadlines: number[] = [];
  const { hear, most } = countUnderWay(() => clock.now(), deadlines);
  let frames = 0;
  network.filter = (from, _, frame) => {
    frames += 1;
    const isLost = frames % 10 < lost;
    hear(from, frame, isLost);
    return !isLost;
  };
  for (const [number, [pauseMs, timeoutMs]] of calls.entries()) {
    deadlines.push(clock.now() + timeoutMs);
    const event = { type: 'heard', from: 's', number } as const;
    void a
      .actor('listener/l@b')
      .send(event, { timeoutMs })
      .catch(() => {});
    if (pauseMs > 0) await a.advance(`${pauseMs}ms`);
  }
  await a.advance('1m');
  return most();
}

const calls = fc.array(
  fc.tuple(fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 7, 900), fc.constantFrom(20, 700, 2_500, 30_000)),
  { minLength: 1, maxLength: 300 },
);

test('code has at most 64 messages to one receiver under way, whatever it gives up', async () => {
  await fc.assert(
    fc.asyncProperty(calls, fc.nat(10), async (some, lost) => {
      expect(await play(some, lost)).toBeLessThanOrEqual(UNDER_WAY_MAX.value);
    }),
    { numRuns: 40 },
  );
});

test('and as many as that where nobody answers', async () => {
  const unanswered = Array.from({ length: 200 }, () => [0, 30_000] as const);
  expect(await play(unanswered, 10)).toBe(UNDER_WAY_MAX.value);
});
