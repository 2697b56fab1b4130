/** A message that had to wait says for how long, with each copy: what it says is as old as that. */

import { expect, test } from 'vitest';
import { assign, sendTo, setup } from 'xstate';
import { ageOf, Outbox } from '../../runtime/actor/outbox.ts';
import { parseEnvelope } from '../../runtime/delivery/envelope.ts';
import { decodeFrame } from '../../runtime/delivery/frame.ts';
import { Outgoing } from '../../runtime/delivery/outgoing.ts';
import { to } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { LossyNetwork } from './lossy-network.ts';

type Told = { readonly type: 'told'; readonly number: number; readonly ageMs?: number };

const gossip = setup({
  types: {
    context: {} as { heard: ReadonlyArray<readonly [number: number, ageMs: number]> },
    events: {} as { type: 'tell'; to: string; number: number } | Told,
  },
}).createMachine({
  context: { heard: [] },
  on: {
    tell: {
      actions: sendTo(
        ({ event }) => to(event.to),
        ({ event }) => ({ type: 'told', number: event.number }),
      ),
    },
    told: {
      actions: assign({
        heard: ({ context, event }) => [
          ...context.heard,
          [event.number, event.ageMs ?? 0] as const,
        ],
      }),
    },
  },
});

const kinds = { gossip };

test('fresh ones have no age, those that waited for their receiver have theirs, also over a crash', async () => {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const transport = (node: string) => () => network.join(node);
  const a = await testRuntime({ kinds, node: 'a', clock, transport: transport('a') });
  const b = await testRuntime({ kinds, node: 'b', clock, transport: transport('b') });
  await a.spawn('gossip/1');
  await b.spawn('gossip/1');
  const tell = (number: number) =>
    a.actor('gossip/1').send({ type: 'tell', to: 'gossip/1@b', number });
  await tell(1);
  await b.advance('1s');
  await b.runtime.crash();
  await tell(2);
  await a.advance('7s');
  await tell(3);
  await a.crash();
  await a.advance('3s');
  await b.crash();
  await b.advance('20s');
  const { heard } = b.actor('gossip/1').getSnapshot().context;
  expect(heard.map(([number]) => number)).toEqual([1, 2, 3]);
  const [first, second, third] = heard.map(([, ageMs]) => ageMs);
  expect(first).toBe(0);
  expect(second).toBeGreaterThanOrEqual(10_000);
  expect((second as number) - (third as number)).toBe(7_000);
  await tell(4);
  await b.advance('1s');
  expect(b.actor('gossip/1').getSnapshot().context.heard.at(-1)).toEqual([4, 0]);
});

test('each message of a batch has its own', () => {
  const outbox = new Outbox();
  const outgoing = new Outgoing();
  for (const at of [1_000, 4_000, 4_950]) {
    const row = outbox.add('gossip/1@b', { type: 'told' }, at);
    outgoing.addRow('gossip/1@a', row, row.counter - 1, ageOf(row, 5_000));
  }
  const ages = decodeFrame(outgoing.encode()).envelopes.map((each) => parseEnvelope(each).ageMs);
  expect(ages).toEqual([4_000, 1_000, 0]);
});

test('what an earlier release stored has none', () => {
  const [lane] = new Outbox(7, [[7, 'gossip/1@b', { type: 'told' }]]).lanes();
  expect(ageOf(lane?.rows[0] as never, 1_000_000)).toBe(0);
});

test.each([-1, 0.5, '7', null])('an age of %s is malformed', (ageMs) => {
  const envelope = { to: 'gossip/1@b', from: 'gossip/1@a', counter: 1, after: 0 };
  expect(() => parseEnvelope({ ...envelope, ageMs, event: { type: 'told' } })).toThrow('ageMs');
});
