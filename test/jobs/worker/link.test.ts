import { expect, test } from 'vitest';
import { setup } from 'xstate';
import { Link } from '../../../programs/jobs/worker/link.ts';
import { SILENT_LOGGER } from '../../../runtime/base/limits.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { testRuntime } from '../../../simulator/testing.ts';
import { SimulatedClock } from '../../../simulator/world/clock.ts';
import { inProcessNetwork } from '../../../transports/in-process.ts';

const ear = setup({
  types: { events: {} as { type: 'word.said'; word: string } },
  actions: { hear: (_, _params: { word: string }) => {} },
}).createMachine({
  on: { 'word.said': { actions: { type: 'hear', params: ({ event }) => event } } },
});

/** A link that may have one message under way, and somebody far away who listens. */
async function connected() {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const heard: string[] = [];
  const far = await testRuntime({
    kinds: { ear },
    options: { ear: { perform: { hear: ({ params: { word } }) => void heard.push(word) } } },
    node: 'far',
    clock,
    transport: () => network.join('far'),
  });
  const near = await testRuntime({
    kinds: {},
    node: 'near',
    clock,
    limits: { outboxMax: 1 },
    transport: () => network.join('near'),
  });
  await far.spawn('ear/1');
  const triedAt: number[] = [];
  const startedAt = clock.now();
  const counted = {
    actor(address: never) {
      triedAt.push((clock.now() - startedAt) / 1_000);
      return near.runtime.actor(address);
    },
  };
  const link = new Link(counted as unknown as Runtime, clock, SILENT_LOGGER);
  const say = (word: string, to = 'ear/1@far', signal?: AbortSignal) => {
    let isOver = false;
    const told = link.tell(to, { type: 'word.said', word }, signal).finally(() => {
      isOver = true;
    });
    return { told, isOver: () => isOver };
  };
  return { far, heard, link, network, say, triedAt };
}

test('says everything, also what was refused for now', async () => {
  const { far, heard, network, say } = await connected();
  network.cut('near', 'far');
  const words = ['one', 'two'].map((word) => say(word));
  await far.advance('30s');
  expect(words.map(({ isOver }) => isOver())).toEqual([false, false]);
  network.heal('near', 'far');
  await far.advance('10s');
  expect(words.map(({ isOver }) => isOver())).toEqual([true, true]);
  expect(heard.sort()).toEqual(['one', 'two']);
});

test('says what was refused for now again after 1, 2, 4 and then every 5 seconds', async () => {
  const { far, network, say, triedAt } = await connected();
  network.cut('near', 'far');
  say('one');
  say('two');
  await far.advance('30s');
  // The first one has taken all the room, and waits for its answer.
  expect(triedAt.slice(1)).toEqual([0, 1, 3, 7, 12, 17, 22, 27]);
});

test('gives up what is refused for good', async () => {
  const { far, say } = await connected();
  const { told } = say('hello', 'ear/nobody@far');
  await far.settle();
  await told;
});

test('ends with its signal, and with the worker', async () => {
  const { far, heard, link, network, say } = await connected();
  network.cut('near', 'far');
  const abort = new AbortController();
  const waiting = [say('one', 'ear/1@far', abort.signal), say('two'), say('three')];
  await far.advance('5s');
  abort.abort();
  await waiting[0]?.told;
  link.close();
  await Promise.all(waiting.map(({ told }) => told));
  expect(heard).toEqual([]);
  // Nothing is said after the end.
  await say('four').told;
  link.hint('ear/1@far', { type: 'word.said', word: 'five' });
});
