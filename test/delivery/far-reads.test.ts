/** Reads of actors of other nodes: explanations and histories, what they cost, who may, and nodes that are away. */

import { describe, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { codeOf, codeOfThrown, during } from '../engine/outcomes.ts';
import { LossyNetwork } from './lossy-network.ts';

const order = setup({
  types: { context: {} as { notes: string[] }, events: {} as { type: 'note'; text: string } },
  delays: { limit: 60_000 },
}).createMachine({
  context: { notes: [] },
  initial: 'open',
  on: {
    note: { actions: assign({ notes: ({ context, event }) => [...context.notes, event.text] }) },
  },
  states: { open: { after: { limit: 'late' } }, late: {} },
});

async function open(limits: object = {}) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const at = (node: string, kinds: Record<string, never>) =>
    testRuntime({ kinds, node, clock, limits, transport: () => network.join(node) });
  const a = await at('a', { order: order as never });
  const b = await at('b', {});
  await a.spawn('order/1' as never, {} as never);
  await b.settle();
  return { a, b: b.runtime, rt: b, network };
}

describe('an actor of another node', () => {
  test('is explained by its host as it would be there, also to a node without the kind', async () => {
    const { a, b, rt } = await open();
    const here = await a.explain('order/1');
    expect(here).toContain('order/1@a is "open" after 1 turns');
    expect(await during(rt, b.explain('order/1@a'))).toBe(here);
    expect(await during(rt, b.explain('order/2@a'))).toContain('there is no such actor');
  });

  test('tells its history, and history of this place says where to ask', async () => {
    const { a, b, rt } = await open();
    for (let index = 0; index < 5; index += 1)
      await a.actor('order/1').send({ type: 'note', text: `${index}` } as never);
    expect(codeOfThrown(() => b.history('order/1@a'))).toBe('NOT_HOSTED');
    expect(await during(rt, b.fetchHistory('order/1@a'))).toEqual(a.runtime.history('order/1'));
    expect(await during(rt, b.fetchHistory('order/1@a', { limit: 2 }))).toMatchObject([
      { turn: 5 },
      { turn: 6 },
    ]);
    expect(await codeOf(b.fetchHistory('order/1@a', { limit: 0 }))).toBe('OPTION_INVALID');
    expect(await during(rt, a.runtime.fetchHistory('order/1'))).toHaveLength(6);
  });

  test('is read without a turn and without a commit', async () => {
    const { a, b, rt } = await open();
    const { turns, commits } = a.runtime.metrics();
    for (let index = 0; index < 20; index += 1) {
      await during(rt, b.explain('order/1@a'));
      await during(rt, b.fetchHistory('order/1@a'));
    }
    expect(a.runtime.metrics()).toMatchObject({ turns, commits });
    expect(a.runtime.history('order/1')).toHaveLength(1);
  });

  test('of a node that is away, or silent, is an error with a code', async () => {
    const { b, rt, network } = await open();
    network.filter = () => false;
    expect(await during(rt, codeOf(b.explain('order/1@a')))).toBe('ASK_TIMED_OUT');
    expect(await during(rt, codeOf(b.fetchHistory('order/1@a', { timeoutMs: 10 })))).toBe(
      'ASK_TIMED_OUT',
    );
    network.cut('a', 'b');
    await rt.settle();
    expect(await codeOf(b.explain('order/1@a'))).toBe('ASK_LOST');
    expect(await codeOf(b.fetchHistory('order/1@a'))).toBe('ASK_LOST');
    expect(await codeOf(b.explain('order/1@nowhere'))).toBe('ASK_LOST');
  });

  test('whose history is longer than a message tells the last of it', async () => {
    const { a, b, rt } = await open({ messageBytesMax: 2_000 });
    for (let index = 0; index < 90; index += 1)
      await a.actor('order/1').send({ type: 'note', text: 'x' } as never);
    const rows = await during(rt, b.fetchHistory('order/1@a'));
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.length).toBeLessThan(90);
    expect(rows.at(-1)).toMatchObject({ turn: 91 });
  });
});
