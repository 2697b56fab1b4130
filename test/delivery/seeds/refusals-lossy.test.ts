/**
 * Every message is taken or heard of as refused: one of the two, and once, over a network
 * that does its worst, between nodes that die in the middle of a group.
 */

import { expect, test } from 'vitest';
import type { ForeignMessage } from '../../../runtime/actor/kind.ts';
import {
  SeededRandom,
  SimulatedClock,
  type TestRuntime,
  testRuntime,
} from '../../../simulator/testing.ts';
import { careful } from '../careful.ts';
import { DyingStore } from '../dying-store.ts';
import { LossyNetwork, NO_FAULTS } from '../lossy-network.ts';
import { listener, upTo } from '../talkers.ts';

const KINDS = { careful, listener };
const RECEIVERS = ['listener/l@b', 'listener/nobody@b', 'listener/near@a', 'listener/nobody@a'];
const SENDERS = ['careful/0', 'careful/1'] as const;

/** Anybody who is on another node may not say these numbers to a listener of `b`. */
const isRefused = (number: unknown) => typeof number === 'number' && number % 3 === 0;
const admit = ({ event }: ForeignMessage) =>
  isRefused(event['number']) ? 'every third one' : undefined;

const rising = (x: number, y: number) => x - y;

type Node = TestRuntime<typeof KINDS>;

async function world(seed: number, isWhole: boolean) {
  const clock = new SimulatedClock();
  const random = new SeededRandom(seed, 'refusals');
  const network = new LossyNetwork(clock, seed);
  const open = async (node: string) => {
    const store = new DyingStore(clock, random, isWhole);
    store.isSlow = false;
    const options = { listener: { admit } };
    const transport = () => network.join(node);
    const rt: Node = await testRuntime({
      kinds: KINDS,
      options,
      node,
      clock,
      store,
      transport,
      seed,
    });
    return { rt, store };
  };
  const [a, b] = [await open('a'), await open('b')];
  for (const sender of SENDERS) await a.rt.spawn(sender);
  await a.rt.spawn('listener/near');
  await b.rt.spawn('listener/l');
  a.store.isSlow = true;
  b.store.isSlow = true;
  return { a, b, network, random };
}

async function crash({ rt, store }: { rt: Node; store: DyingStore }): Promise<void> {
  store.die();
  let isBack: boolean = false;
  void rt.crash().then(() => {
    isBack = true;
  });
  while (!isBack) await rt.advance(1);
}

test.each(upTo(12).map((seed) => ({ seed, isWhole: seed % 2 === 0 })))(
  'whatever happens in between (seed $seed, groups whole: $isWhole)',
  async ({ seed, isWhole }) => {
    const { a, b, network, random } = await world(seed, isWhole);
    network.faults = { lost: 0.2, doubled: 0.2, delayMaxMs: 200 };
    for (let step = 0; step < 120; step += 1) {
      const sender = a.rt.actor(random.next() < 0.5 ? SENDERS[0] : SENDERS[1]);
      const to = RECEIVERS[Math.floor(random.next() * RECEIVERS.length)] as string;
      const count = 1 + Math.floor(random.next() * 4);
      void sender.send({ type: 'tell', to, count }).catch(() => {});
      await a.rt.advance(Math.floor(random.next() * 60));
      if (random.next() < 0.1) await crash(random.next() < 0.7 ? a : b);
    }
    network.faults = NO_FAULTS;
    await a.rt.advance('5m');

    let told = 0;
    for (const address of SENDERS) {
      const { refused, told: toldBy } = a.rt.actor(address).getSnapshot().context;
      for (const [receiver, count] of Object.entries(toldBy)) {
        const numbers = refused
          .filter(({ to }) => to === receiver)
          .map(({ event }) => event['number'] as number)
          .sort(rising);
        told += count;
        if (receiver.startsWith('listener/nobody')) expect(numbers).toEqual(upTo(count));
        else if (receiver === 'listener/near@a') expect(numbers).toEqual([]);
        else expect(numbers).toEqual(upTo(count).filter(isRefused));
      }
    }
    expect(told).toBeGreaterThan(100);
    for (const [node, receiver] of [
      [a, 'listener/near'],
      [b, 'listener/l'],
    ] as const) {
      const taken = node.rt.actor(receiver).getSnapshot().context.heard['careful'] ?? [];
      const expected = SENDERS.flatMap((address) => {
        const whole = `${receiver}@${node === a ? 'a' : 'b'}`;
        const numbers = upTo(a.rt.actor(address).getSnapshot().context.told[whole] ?? 0);
        return node === a ? numbers : numbers.filter((number) => !isRefused(number));
      });
      expect([...taken].sort(rising)).toEqual(expected.sort(rising));
    }
    expect(a.rt.runtime.undelivered()).toEqual([]);
    expect(a.rt.runtime.counts()).toMatchObject({ underWay: 0, ready: 0 });
  },
);
