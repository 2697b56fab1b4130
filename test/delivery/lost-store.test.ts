/** A place that comes back with an empty store: what it is brought to say again from afar is heard. */

import { expect, test } from 'vitest';
import type { Clock } from '../../runtime/clock.ts';
import { SimulatedClock, type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { listener, speaker } from './talkers.ts';

const KINDS = { listener, speaker };

/** A node that begins with nothing. */
function nodeOf(node: string, clock: Clock, network: ReturnType<typeof inProcessNetwork>) {
  return testRuntime({
    kinds: KINDS,
    node,
    clock: clock as SimulatedClock,
    transport: () => network.join(node),
  });
}

function heard(rt: TestRuntime<typeof KINDS>): unknown {
  return rt.actor('listener/1').getSnapshot().context.heard;
}

test('an actor that is born again from another place is not taken for its earlier life', async () => {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const hub = await nodeOf('hub', clock, network);
  await hub.spawn('listener/1');
  await hub.spawn('speaker/parent', { input: { self: 'parent' } });
  const tell = async (shop: TestRuntime<typeof KINDS>, self: string) => {
    const bear = { type: 'bear', address: 'speaker/1@shop', input: { self } } as const;
    await hub.actor('speaker/parent').send(bear);
    await shop.advance('1s');
    const to = ['listener/1@hub'];
    await shop.actor('speaker/1').send({ type: 'speak', to, count: 2 });
    await shop.advance('1s');
  };

  const first = await nodeOf('shop', clock, network);
  await tell(first, 'first life');
  await first.stop();
  const second = await nodeOf('shop', clock, network);
  await tell(second, 'second life');
  expect(heard(hub)).toEqual({ 'first life': [1, 2], 'second life': [1, 2] });
});
