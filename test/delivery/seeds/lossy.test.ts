/** Messages over a network that loses, repeats, delays and reorders, between nodes that die. */

import { expect, test } from 'vitest';
import { SimulatedClock, type TestRuntime, testRuntime } from '../../../simulator/testing.ts';
import { SeededRandom } from '../../../simulator/world/random.ts';
import { type Faults, LossyNetwork, NO_FAULTS } from '../lossy-network.ts';
import { listener, speaker, upTo } from '../talkers.ts';

const KINDS = { speaker, listener };
const NODES = ['a', 'b', 'c'];
const PER_NODE = 4;
const BAD: Faults = { lost: 0.25, doubled: 0.25, delayMaxMs: 400 };
/** Two full windows of retries, at the longest pause. */
const LONG = '5m';

type World = ReadonlyMap<string, TestRuntime<typeof KINDS>>;

async function world(seed: number, nodes: readonly string[] = NODES) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, seed);
  const runtimes = new Map<string, TestRuntime<typeof KINDS>>();
  for (const node of nodes) {
    const transport = () => network.join(node);
    runtimes.set(node, await testRuntime({ kinds: KINDS, node, clock, transport, seed }));
  }
  for (const [node, rt] of runtimes) {
    for (let index = 0; index < PER_NODE; index += 1) {
      await rt.spawn(`listener/${index}`);
      await rt.spawn(`speaker/${index}`, { input: { self: `${node}${index}` } });
    }
  }
  return { clock, network, runtimes };
}

async function advanceAll(runtimes: World, duration: string | number): Promise<void> {
  const [first] = runtimes.values();
  await first?.advance(duration);
}

/** Every speaker tells every listener `count` numbers, in batches, while the seed does its worst. */
async function chat(seed: number, count: number, mayCrash: boolean) {
  const { network, runtimes } = await world(seed);
  const random = new SeededRandom(seed, 'chat');
  const listeners = NODES.flatMap((node) => upTo(PER_NODE).map((n) => `listener/${n - 1}@${node}`));
  network.faults = BAD;
  for (let batch = 0; batch < count; batch += 1) {
    for (const rt of runtimes.values()) {
      for (let index = 0; index < PER_NODE; index += 1) {
        const speaking = rt.actor(`speaker/${index}`);
        void speaking.send({ type: 'speak', to: listeners, count: 1 }).catch(() => {});
      }
    }
    await advanceAll(runtimes, Math.floor(random.next() * 100));
    const node = NODES[Math.floor(random.next() * NODES.length)] as string;
    const other = NODES.find((name) => name !== node) as string;
    const dice = random.next();
    if (mayCrash && dice < 0.3) await runtimes.get(node)?.crash();
    else if (dice < 0.5) network.cut(node, other);
    else if (dice < 0.8) network.heal(node, other);
  }
  for (const node of NODES) for (const other of NODES) network.heal(node, other);
  network.faults = NO_FAULTS;
  await advanceAll(runtimes, LONG);
  return { runtimes, listeners };
}

function expectQuiet(runtimes: World): void {
  for (const [node, rt] of runtimes) {
    expect(rt.runtime.counts()).toMatchObject({ underWay: 0, ready: 0 });
    expect(rt.runtime.undelivered()).toEqual([]);
    for (let index = 0; index < PER_NODE; index += 1) {
      expect(rt.store.load(`speaker/${index}@${node}`)).not.toContain('"outbox"');
      const record = rt.store.load(`listener/${index}@${node}`) ?? '{}';
      // A mark is the last counter and the time, however much arrived in whatever order.
      for (const mark of Object.values<number[]>(JSON.parse(record).inbox ?? {}))
        expect(mark).toHaveLength(2);
    }
  }
}

function expectAllHeard(runtimes: World): void {
  for (const [node, rt] of runtimes) {
    for (let index = 0; index < PER_NODE; index += 1) {
      const { heard } = rt.actor(`listener/${index}`).getSnapshot().context;
      for (const [from, other] of runtimes) {
        for (let speaking = 0; speaking < PER_NODE; speaking += 1) {
          const { said } = other.actor(`speaker/${speaking}`).getSnapshot().context;
          const told = said[`listener/${index}@${node}`] ?? 0;
          expect(heard[`${from}${speaking}`] ?? []).toEqual(upTo(told));
        }
      }
    }
  }
}

test.each([1, 2, 3, 4])(
  'everything told is heard once and in order, however bad the network (seed %i)',
  async (seed) => {
    const { runtimes } = await chat(seed, 30, false);
    const { said } = runtimes.get('a')?.actor('speaker/0').getSnapshot().context ?? {};
    expect(said?.['listener/3@c']).toBe(30);
    expectAllHeard(runtimes);
    expectQuiet(runtimes);
  },
);

test.each([11, 12, 13, 14])(
  'everything told is heard once and in order, also when nodes die in the middle (seed %i)',
  async (seed) => {
    const { runtimes } = await chat(seed, 30, true);
    expectAllHeard(runtimes);
    expectQuiet(runtimes);
  },
);

test('a batch of 300 to one receiver arrives in order over a network that reorders', async () => {
  const { network, runtimes } = await world(5, ['a', 'b']);
  network.faults = BAD;
  const a = runtimes.get('a') as TestRuntime<typeof KINDS>;
  await a.actor('speaker/0').send({ type: 'speak', to: ['listener/0@b'], count: 300 });
  expect(a.runtime.counts().underWay).toBe(64);
  network.faults = { ...BAD, lost: 0.1 };
  await a.advance('2m');
  network.faults = NO_FAULTS;
  await a.advance(LONG);
  const b = runtimes.get('b') as TestRuntime<typeof KINDS>;
  expect(b.actor('listener/0').getSnapshot().context.heard.a0).toEqual(upTo(300));
  expectQuiet(runtimes);
});

test('actors born on another node are born once and hear what was told them after', async () => {
  const { network, runtimes } = await world(6, ['a', 'b']);
  const [a, b] = runtimes.values() as unknown as [
    TestRuntime<typeof KINDS>,
    TestRuntime<typeof KINDS>,
  ];
  network.faults = BAD;
  for (let born = 0; born < 10; born += 1) {
    const address = `listener/new${born}@b`;
    void a.actor('speaker/1').send({ type: 'bear', address });
    void a.actor('speaker/1').send({ type: 'speak', to: [address], count: 3 });
    await a.advance(50);
    if (born === 5) await b.crash();
  }
  await a.advance('1m');
  network.faults = NO_FAULTS;
  await a.advance(LONG);
  for (let born = 0; born < 10; born += 1) {
    const { heard } = b.actor(`listener/new${born}`).getSnapshot().context;
    expect(heard).toEqual({ a1: [1, 2, 3] });
    const rows = b.runtime.history(`listener/new${born}`);
    expect(rows.filter(({ event }) => event === 'escapement.spawn')).toHaveLength(1);
  }
  expectQuiet(runtimes);
});

test('remote handles send, ask and read over a bad network', async () => {
  const { network, runtimes } = await world(7, ['a', 'b']);
  const a = runtimes.get('a') as TestRuntime<typeof KINDS>;
  network.faults = { ...BAD, lost: 0.15, delayMaxMs: 50 };
  const far = a.actor('listener/0@b' as 'listener/0');
  const sends = upTo(20).map((number) => far.send({ type: 'heard', from: 'code', number }));
  await a.advance('2m');
  await Promise.all(sends);
  const answers: unknown[] = [];
  for (let round = 0; round < 10; round += 1) {
    const asked = far.ask({ type: 'count' }, { timeoutMs: 60_000 });
    asked.then(
      (answer) => answers.push(answer),
      ({ code }) => answers.push(code),
    );
    await a.advance('2m');
  }
  // An answer may be lost; one that comes is the right one.
  expect(answers).toHaveLength(10);
  expect(new Set(answers)).toEqual(new Set([20, 'ASK_LOST']));
  network.faults = NO_FAULTS;
  const read = far.fetchSnapshot();
  await a.settle();
  expect(await read).toMatchObject({ context: { heard: { code: upTo(20) } } });
  expect(a.runtime.counts()).toMatchObject({ underWay: 0, asks: 0 });
});
