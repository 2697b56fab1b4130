/** Repetition of a message that is lost: to the millisecond where chance takes nothing away. */

import { describe, expect, test } from 'vitest';
import { jitteredPauseMs } from '../../runtime/base/backoff.ts';
import { DEFAULT_LIMITS, type RuntimeLimits } from '../../runtime/base/limits.ts';
import { decodeFrame } from '../../runtime/delivery/frame.ts';
import { SeededRandom, SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { LossyNetwork } from './lossy-network.ts';
import { listener, speaker, upTo } from './talkers.ts';

const KINDS = { speaker, listener };
const EXACT = { retryMinMs: 1_000, retryMaxMs: 5_000, retryJitterPercent: 0 };

/** Notes when `a` sent which number, in ms since `mark` was called. */
async function twoNodes(limits: Partial<RuntimeLimits> = EXACT) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const open = (node: string) =>
    testRuntime({ kinds: KINDS, node, clock, limits, transport: () => network.join(node) });
  const [a, b] = [await open('a'), await open('b')];
  await a.spawn('speaker/s', { input: { self: 's' } });
  await b.spawn('listener/l');
  let began = 0;
  let sent: Array<readonly [number: number, after: number]> = [];
  /** Says which frames are lost; envelopes of `a` are noted whether they are or not. */
  let isLost: (from: string, frame: string) => boolean = () => false;
  network.filter = (from, _, frame) => {
    const { envelopes } = decodeFrame(frame);
    if (from === 'a')
      for (const { event } of envelopes as ReadonlyArray<{ event: { number: number } }>)
        sent.push([event.number, clock.now() - began]);
    return !isLost(from, frame);
  };
  return {
    a,
    b,
    network,
    tell: (count: number) =>
      a.actor('speaker/s').send({ type: 'speak', to: ['listener/l@b'], count }),
    heard: () => b.actor('listener/l').getSnapshot().context.heard.s ?? [],
    mark: () => {
      began = clock.now();
      sent = [];
    },
    lose: (next: typeof isLost) => {
      isLost = next;
    },
    sentOf: (number: number) => sent.filter(([each]) => each === number).map(([, after]) => after),
  };
}

const SERIES = [0, 1_000, 3_000, 7_000, 12_000, 17_000, 22_000];

describe('without chance a lost message is sent after 1, 2, 4, 5 and again 5 seconds', () => {
  test.each([
    ['everything is lost', () => true],
    ['what the sender says is lost', (from: string) => from === 'a'],
    ['receipts are lost', (from: string) => from === 'b'],
    ['messages are lost, and nothing else', (_: string, frame: string) => frame.includes('"envel')],
    ['receipts are lost, and nothing else', (_: string, frame: string) => frame.includes('"recei')],
  ])('where %s', async (_, isLost) => {
    const { a, tell, heard, mark, lose, sentOf } = await twoNodes();
    lose(isLost);
    mark();
    await tell(1);
    await a.advance('25s');
    expect(sentOf(1)).toEqual(SERIES);
    lose(() => false);
    await a.advance('5s');
    expect(heard()).toEqual([1]);
    expect(a.runtime.counts().underWay).toBe(0);
  });

  test('from the start, whatever was lost and found before', async () => {
    const { a, tell, heard, mark, lose, sentOf } = await twoNodes();
    lose(() => true);
    await tell(1);
    await a.advance('20s');
    lose(() => false);
    await a.advance('20s');
    expect(heard()).toEqual([1]);
    lose(() => true);
    mark();
    await tell(1);
    await a.advance('25s');
    expect(sentOf(2)).toEqual(SERIES);
  });

  test('also where the one before it arrived, and was answered while the pause ran', async () => {
    const { a, tell, mark, lose, sentOf } = await twoNodes();
    lose((_, frame) => frame.includes('"number":2'));
    mark();
    await tell(1);
    // In a frame of its own: the first is answered, the second is not.
    await tell(1);
    await a.advance('25s');
    expect(sentOf(1)).toEqual([0]);
    expect(sentOf(2)).toEqual(SERIES);
  });

  test('and what was sent behind it comes with it', async () => {
    const { a, tell, heard, mark, lose, sentOf } = await twoNodes();
    lose(() => true);
    mark();
    await tell(1);
    await a.advance('500ms');
    await tell(1);
    await a.advance('4s');
    expect([sentOf(1), sentOf(2)]).toEqual([
      [0, 1_000, 3_000],
      [500, 1_000, 3_000],
    ]);
    lose(() => false);
    await a.advance('3s');
    expect(heard()).toEqual([1, 2]);
  });

  test('also for what code of this process sends', async () => {
    const { a, mark, lose, sentOf } = await twoNodes();
    lose(() => true);
    mark();
    const far = a.actor('listener/l@b' as 'listener/l');
    const sent = far.send({ type: 'heard', from: 'code', number: 1 });
    await a.advance('25s');
    expect(sentOf(1)).toEqual(SERIES);
    lose(() => false);
    await a.advance('5s');
    await sent;
  });
});

test('what goes on being answered is not sent again, however long each answer takes', async () => {
  const { a, b, tell, heard, network } = await twoNodes();
  // Longer than the first pause: nobody can know yet that the first ones have arrived.
  network.delayMs = 700;
  for (const _ of upTo(100)) {
    await tell(1);
    await a.advance('100ms');
  }
  await a.advance('1m');
  expect(heard()).toEqual(upTo(100));
  expect(b.runtime.metrics().duplicatesRefused).toBeLessThan(20);
  expect(a.runtime.counts().underWay).toBe(0);
});

test.each([
  [0, 1_000, 1_000],
  [20, 800, 1_000],
  [50, 500, 1_000],
  [100, 0, 1_000],
])('with retryJitterPercent %i a first pause of 1 s is from %i to %i ms', (percent, min, max) => {
  const random = new SeededRandom(1, 'pauses');
  const limits = { ...DEFAULT_LIMITS, ...EXACT, retryJitterPercent: percent };
  const pauses = upTo(2_000).map(() => jitteredPauseMs(1, limits, random));
  const spread = (max - min) * 0.05;
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(min);
  expect(Math.min(...pauses)).toBeLessThanOrEqual(min + spread);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(max);
  expect(Math.max(...pauses)).toBeGreaterThanOrEqual(max - spread);
});
