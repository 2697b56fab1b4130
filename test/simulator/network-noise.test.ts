import { describe, expect, test } from 'vitest';
import { decodeFrame, encodeFrame, encodeHello } from '../../runtime/delivery/frame.ts';
import type { Noise } from '../../simulator/world/network/network.ts';
import { startNodes } from './noting-nodes.ts';

const everybody = () => true;
const start = (names: readonly string[]) => startNodes(names, 50, true);
const FRAMES = 400;

const frameOf = (number: number) =>
  encodeFrame(
    [`{"to":"x/1@b","from":"x/1@a","counter":${number + 1},"event":{"type":"x"}}`],
    [`{"from":"x/1@b","to":"x/1@a","counter":${number + 1}}`],
  );
const numberIn = (line: string) => Number(/"counter":(\d+)/.exec(line)?.[1]) - 1;

/** Sends frames from `a` to `b`, one each 10 ms, under noise, and says what `b` heard and when. */
async function play(noise: Noise, others: Noise[] = [], id = 'noise') {
  const started = await start(['a', 'b', 'c']);
  const { clock, network, log, nodes } = started;
  for (const [index, other] of others.entries())
    network.disturb({ id: `other-${index}`, from: everybody, to: everybody, noise: other });
  const disturbance = network.disturb({ id, from: 'a', to: everybody, noise });
  for (let number = 0; number < FRAMES; number++) {
    nodes[0]?.send('b', frameOf(number));
    nodes[1]?.send('a', 'back');
    clock.advanceBy(10);
  }
  clock.advanceBy(60_000);
  const heard = log
    .filter((line) => line.includes('b: '))
    .map((line) => ({ number: numberIn(line), lateMs: Number.parseInt(line, 10) }))
    .map(({ number, lateMs }) => ({ number, lateMs: lateMs - number * 10 - 50 }));
  return { ...started, disturbance, heard, numbers: heard.map(({ number }) => number) };
}

const all = Array.from({ length: FRAMES }, (_, index) => index);
const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);

describe('noise', () => {
  test('loses its share, that way only, and says so', async () => {
    const { numbers, disturbance, fates, noises, log } = await play({ loss: 0.25 });
    const lost = FRAMES - numbers.length;
    expect(lost).toBeGreaterThan(FRAMES * 0.15);
    expect(lost).toBeLessThan(FRAMES * 0.35);
    expect(disturbance.hits).toBe(lost);
    expect(noises).toEqual(Array(lost).fill('noise a>b'));
    expect(fates.filter((fate) => fate.startsWith('lost a>b'))).toHaveLength(lost);
    expect(log.filter((line) => line.includes('back of b'))).toHaveLength(FRAMES);
    expect(numbers).toEqual(sorted(numbers));
  });

  test('makes a node deaf, or dumb, and others not', async () => {
    const { clock, network, log, nodes } = await start(['a', 'b', 'c']);
    const deaf = network.disturb({ id: 'deaf', from: everybody, to: 'a', noise: { loss: 1 } });
    for (const [from, to] of [
      [0, 'b'],
      [1, 'a'],
      [1, 'c'],
      [2, 'a'],
    ] as const)
      nodes[from]?.send(to, 'x');
    clock.advanceBy(100);
    expect(log.sort()).toEqual(['50 b: x of a', '50 c: x of b']);
    deaf.end();
    deaf.end();
    nodes[1]?.send('a', 'y');
    clock.advanceBy(100);
    expect(log.at(-1)).toBe('150 a: y of b');
  });

  test('delays by what it draws, in order', async () => {
    const shapes = [
      { shape: 'uniform', minMs: 0, maxMs: 300 },
      { shape: 'exponential', minMs: 10, meanMs: 100, maxMs: 2_000 },
      { shape: 'pareto', minMs: 5, tail: 1, maxMs: 2_000 },
    ] as const;
    for (const delay of shapes) {
      const { heard, numbers } = await play({ delay });
      expect(numbers).toEqual(all);
      const late = heard.map(({ lateMs }) => lateMs);
      expect(Math.min(...late)).toBeGreaterThanOrEqual(delay.minMs);
      expect(Math.max(...late)).toBeLessThanOrEqual(delay.maxMs);
      expect(Math.max(...late)).toBeGreaterThan(150);
    }
  });

  test('lets frames be overtaken', async () => {
    const { numbers } = await play({ reorder: { share: 0.2, withinMs: 100 } });
    expect(sorted(numbers)).toEqual(all);
    const overtaken = numbers.filter(
      (number, index) => number < Math.max(...numbers.slice(0, index)),
    );
    expect(overtaken.length).toBeGreaterThan(20);
  });

  test('repeats frames, the copy never before the frame', async () => {
    const { numbers, fates } = await play({ duplicate: { share: 0.2, withinMs: 3_000 } });
    const copies = numbers.length - FRAMES;
    expect(copies).toBeGreaterThan(40);
    expect(fates.filter((fate) => fate.startsWith('repeated a>b'))).toHaveLength(copies);
    expect(fates.filter((fate) => fate.startsWith('delivered a>b'))).toHaveLength(FRAMES + copies);
    expect(numbers.filter((number, index) => numbers.indexOf(number) === index)).toEqual(all);
  });

  test('damages frames so that every one of them is refused', async () => {
    const { fates, log } = await play({ damage: 0.5 });
    const frames = log
      .filter((line) => line.includes('b: '))
      .map((line) => line.slice(line.indexOf(': ') + 2, -' of a'.length));
    expect(frames).toHaveLength(FRAMES);
    const refused = frames.filter((frame) => !frame.endsWith(']}') || frame.includes('\u0000'));
    expect(refused.length).toBeGreaterThan(150);
    for (const frame of refused) expect(() => decodeFrame(frame)).toThrow('A frame is JSON');
    for (const frame of frames) if (!refused.includes(frame)) decodeFrame(frame);
    expect(fates.filter((fate) => fate.startsWith('damaged a>b'))).toHaveLength(refused.length);
  });

  test('caps what a link carries in a second', async () => {
    const { clock, network, log, nodes } = await start(['a', 'b']);
    network.disturb({ id: 'cap', from: 'a', to: 'b', noise: { bytesPerSecond: 10_000 } });
    for (let frame = 0; frame < 5; frame++) nodes[0]?.send('b', 'x'.repeat(1_000));
    clock.advanceBy(10_000);
    expect(log.map((line) => Number.parseInt(line, 10))).toEqual([150, 250, 350, 450, 550]);
  });

  test('leaves nothing behind where a cap is lifted', async () => {
    const { clock, network, log, nodes } = await start(['a', 'b']);
    const cap = network.disturb({ id: 'cap', from: 'a', to: 'b', noise: { bytesPerSecond: 100 } });
    for (let frame = 0; frame < 5; frame++) nodes[0]?.send('b', 'x'.repeat(1_000));
    clock.advanceBy(15_000);
    cap.end();
    nodes[0]?.send('b', 'y');
    clock.advanceBy(100);
    expect(log.map((line) => Number.parseInt(line, 10))).toEqual([
      10_050, 15_000, 15_000, 15_000, 15_000, 15_050,
    ]);
  });

  test('is changed while it goes on', async () => {
    const { clock, network, log, nodes } = await start(['a', 'b']);
    const noise = network.disturb({ id: 'x', from: 'a', to: 'b', noise: { loss: 1 } });
    nodes[0]?.send('b', 'lost');
    noise.change({});
    nodes[0]?.send('b', 'kept');
    clock.advanceBy(100);
    expect(log).toEqual(['50 b: kept of a']);
    expect(noise.hits).toBe(1);
    for (const wrong of [{ loss: 2 }, { damage: Number.NaN }, { bytesPerSecond: 0 }])
      expect(() => noise.change(wrong)).toThrow(RangeError);
    expect(() => noise.change({ delay: { shape: 'uniform', minMs: 2, maxMs: 1 } })).toThrow(
      RangeError,
    );
  });

  test('does the same to the same frames, whatever other noise there is', async () => {
    const lossOf = async (noise: Noise, others: Noise[], id?: string) => {
      const { fates } = await play(noise, others, id);
      // Lost by `others` are none.
      return fates.filter((fate) => fate.startsWith('lost a>b')).map(numberIn);
    };
    const alone = await lossOf({ loss: 0.1 }, []);
    const delay = { shape: 'uniform', minMs: 0, maxMs: 100 } as const;
    expect(await lossOf({ loss: 0.1 }, [{ delay, reorder: { share: 0.5, withinMs: 10 } }])).toEqual(
      alone,
    );
    expect(await lossOf({ loss: 0.1, damage: 0, delay }, [])).toEqual(alone);
    expect(await lossOf({ loss: 0.1 }, [], 'another')).not.toEqual(alone);
  });
});

describe('a copy that outlives its connection', () => {
  async function cross(
    outlives: boolean,
    between: (started: Awaited<ReturnType<typeof start>>) => Promise<void>,
  ) {
    const started = await start(['a', 'b']);
    const { clock, network, log, nodes } = started;
    const duplicate = { share: 1, withinMs: 120_000, outlives };
    const noise = network.disturb({ id: 'late', from: 'a', to: 'b', noise: { duplicate } });
    for (let number = 0; number < 20; number++) nodes[0]?.send('b', frameOf(number));
    nodes[0]?.send('b', encodeHello({ node: 'a', places: [], isAsking: false }));
    noise.end();
    clock.advanceBy(60);
    log.length = 0;
    await between(started);
    clock.advanceBy(300_000);
    return log.filter((line) => line.includes('b: {'));
  }

  test('comes over a later one, without what was about the first', async () => {
    const copies = await cross(true, async ({ network }) => network.reset('a', 'b'));
    expect(copies).toHaveLength(20);
    for (const copy of copies) {
      const text = copy.slice(copy.indexOf('{'), copy.lastIndexOf('}') + 1);
      expect(decodeFrame(text)).toMatchObject({ hello: undefined, receipts: [] });
    }
  });

  test('comes to a later life of the node, from anybody who has the name', async () => {
    const copies = await cross(true, async ({ nodes, join }) => {
      await nodes[0]?.stop();
      await nodes[1]?.stop();
      await join('a');
      await join('b');
    });
    expect(copies.length).toBeGreaterThan(15);
  });

  test('is lost when nobody is connected', async () => {
    const copies = await cross(true, async ({ network }) => network.cut('a', 'b'));
    expect(copies).toEqual([]);
  });

  test('is another thing than one that does not', async () => {
    const copies = await cross(false, async ({ network }) => network.reset('a', 'b'));
    expect(copies).toEqual([]);
    // On its own connection the copy of a greeting comes too.
    expect(await cross(false, async () => {})).toHaveLength(21);
  });
});
