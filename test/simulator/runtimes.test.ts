import { expect, test } from 'vitest';
import { assign, sendTo, setup } from 'xstate';
import { type Timed, to } from '../../runtime/machine.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { Disk } from '../../simulator/world/disk/disk.ts';
import type { InterceptionRule } from '../../simulator/world/network/interception.ts';
import { simulatedNetwork } from '../../simulator/world/network/network.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { memoryStore } from '../../stores/memory.ts';
import { during } from '../engine/outcomes.ts';
import { StoreInFront } from '../store-in-front.ts';

const TOLD = 60;

/** Tells another one a number every 100 ms. */
const teller = setup({
  types: { context: {} as { told: number }, events: {} as Timed<{ type: 'telling.begun' }> },
  actions: {
    tell: sendTo(to('hearer/1@b'), ({ context }) => ({
      type: 'number.told',
      number: context.told,
    })),
    count: assign({ told: ({ context }) => context.told + 1 }),
  },
  delays: { pause: 100 },
  guards: { isDone: ({ context }) => context.told === TOLD },
}).createMachine({
  id: 'teller',
  context: { told: 0 },
  initial: 'idle',
  states: {
    idle: { on: { 'telling.begun': 'telling' } },
    telling: {
      entry: ['count', 'tell'],
      always: { guard: 'isDone', target: 'done' },
      after: { pause: { target: 'telling', reenter: true } },
    },
    done: {},
  },
});

const hearer = setup({
  types: {
    context: {} as { heard: number[] },
    events: {} as Timed<{ type: 'number.told'; number: number }>,
  },
}).createMachine({
  id: 'hearer',
  context: { heard: [] },
  on: {
    'number.told': {
      actions: assign({ heard: ({ context, event }) => [...context.heard, event.number] }),
    },
  },
});

/** Two runtimes on a simulated network, and what one of them has heard after ten minutes. */
async function play(
  rules: readonly Omit<InterceptionRule, 'between'>[],
  seed = 1,
  storeOf: (node: string, clock: SimulatedClock) => Store = () => memoryStore(),
) {
  const clock = new SimulatedClock({ tiebreak: new SeededRandom(seed, 'tiebreak') });
  const random = new SeededRandom(seed, 'network');
  const network = simulatedNetwork({ clock, random, delayMs: [5, 80] });
  const kinds = { teller, hearer };
  const start = (node: string) =>
    testRuntime({
      kinds,
      node,
      clock,
      transport: () => network.join(node),
      store: storeOf(node, clock),
      seed,
    });
  const [a, b] = [await start('a'), await start('b')];
  await a.advance('1s');
  const hearing = await b.spawn('hearer/1');
  const telling = await a.spawn('teller/1');
  const interceptions = rules.map((rule) => network.intercept({ between: ['a', 'b'], ...rule }));
  await telling.send({ type: 'telling.begun' });
  return {
    network,
    interceptions,
    a,
    b,
    telling,
    heard: () => hearing.getSnapshot().context.heard,
  };
}

/** Whichever life of a node has its disk. */
class DiskInFront extends StoreInFront {
  override behind: Store;

  constructor(behind: Store) {
    super(behind);
    this.behind = behind;
  }
}

const everything = Array.from({ length: TOLD }, (_, index) => index + 1);

test.each<[string, Omit<InterceptionRule, 'between'>]>([
  ['lost', { action: 'drop', type: 'number.told', count: 25 }],
  ['repeated', { action: { duplicate: 3 } }],
  ['held up', { action: { holdMs: 3_000 }, type: 'number.told', count: 10 }],
])('messages that are %s take effect once and in order', async (_, rule) => {
  const { a, heard, interceptions } = await play([rule]);
  await a.advance('10m');
  expect(heard()).toEqual(everything);
  expect(interceptions[0]?.hits).toBeGreaterThanOrEqual(rule.count ?? TOLD);
});

test('messages arrive after a cut, a silence, a freeze and a crash', async () => {
  const { network, a, b, heard } = await play([]);
  await a.advance(500);
  network.cut('a', 'b');
  await a.advance(1_000);
  const before = heard().length;
  network.heal('a', 'b');
  await a.advance(500);
  network.cut('a', 'b', { silent: true });
  await a.advance(500);
  network.heal();
  network.freeze('b');
  await a.advance(500);
  network.thaw('b');
  await b.crash();
  await a.advance('10m');
  expect(before).toBeLessThan(7);
  expect(heard()).toEqual(everything);
});

test.each([1, 2, 3, 4])(
  'messages take effect once and in order under all noise there is, and crashes in mid-write: seed %i',
  async (seed) => {
    const disks = new Map<string, { disk: Disk; front: DiskInFront; clock: SimulatedClock }>();
    const storeOf = (node: string, clock: SimulatedClock) => {
      const random = new SeededRandom(seed, `disk/${node}`);
      const disk = new Disk({ place: node, clock, random });
      const front = new DiskInFront(disk.mount(node, 1, clock));
      disks.set(node, { disk, front, clock });
      return front;
    };
    const { network, a, b, heard } = await play([], seed, storeOf);
    for (const { disk } of disks.values())
      disk.takes({ shape: 'exponential', minMs: 1, meanMs: 20, maxMs: 500 });
    const crash = async (runtime: typeof a, node: string, life: number) => {
      const { disk, front, clock } = disks.get(node) as NonNullable<ReturnType<typeof disks.get>>;
      disk.crash(node, life);
      front.behind = disk.mount(node, life + 1, clock);
      await during(a, runtime.crash());
    };
    const noise = {
      loss: 0.15,
      damage: 0.1,
      duplicate: { share: 0.3, withinMs: 30_000, outlives: true },
      reorder: { share: 0.3, withinMs: 500 },
      delay: { shape: 'pareto', minMs: 1, tail: 1, maxMs: 5_000 },
    } as const;
    const all = network.disturb({ id: 'all', from: () => true, to: () => true, noise });
    const refusals = disks.get('b')?.disk.refuse({ every: 7 });
    for (let life = 1; life <= 4; life++) {
      await a.advance(1_300);
      await crash(a, 'a', life);
      network.reset('a', 'b');
      await a.advance(700);
      await crash(b, 'b', life);
    }
    await a.advance('2m');
    expect(all.hits).toBeGreaterThan(40);
    expect(refusals?.hits).toBeGreaterThan(0);
    network.calm();
    refusals?.end();
    await a.advance('10m');
    expect(heard()).toEqual(everything);
  },
);

test('the same seed gives the same run', async () => {
  const trace = async (seed: number) => {
    const { a, heard } = await play([{ action: 'drop', count: 5 }], seed);
    const seen: number[] = [];
    for (let step = 0; step < 400; step++) {
      await a.advance(25);
      seen.push(heard().length);
    }
    return seen;
  };
  const first = await trace(4);
  expect(await trace(4)).toEqual(first);
  expect(await trace(5)).not.toEqual(first);
});
