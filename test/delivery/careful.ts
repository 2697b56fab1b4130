/** A machine that wants to hear the outcome of its messages, on two nodes: for tests of refusals. */

import { assign, enqueueActions, setup } from 'xstate';
import type { ForeignMessage } from '../../runtime/actor/kind.ts';
import type { RuntimeLimits } from '../../runtime/base/limits.ts';
import { type MessageRefused, spawnRoot, type Timed, to } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { holdableStore } from './held-commits.ts';
import { LossyNetwork } from './lossy-network.ts';
import { listener } from './talkers.ts';

export interface Heard {
  readonly to: string;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
  readonly code: string;
  readonly at: number;
}

/** Whether its machine breaks on the refusal of a message called `poison`. */
export const defect = { isThere: true };

export const careful = setup({
  types: {
    context: {} as { refused: readonly Heard[]; told: Record<string, number> },
    events: {} as
      | MessageRefused
      | { type: 'tell'; to: string; count: number }
      | { type: 'say'; to: string; sayings: ReadonlyArray<{ type: string }> }
      | { type: 'bear'; address: string; input?: unknown }
      | Timed<{ type: 'end' }>,
  },
}).createMachine({
  id: 'careful',
  context: { refused: [], told: {} },
  initial: 'talking',
  states: {
    talking: {
      on: {
        say: {
          actions: enqueueActions(({ event, enqueue }) => {
            for (const saying of event.sayings) enqueue.sendTo(to(event.to), saying);
          }),
        },
        // Every number it tells a receiver is one more than the last one it told that receiver.
        tell: {
          actions: enqueueActions(({ context, event, enqueue }) => {
            const { told } = context;
            const before = told[event.to] ?? 0;
            for (let number = before + 1; number <= before + event.count; number += 1)
              enqueue.sendTo(to(event.to), { type: 'heard', from: 'careful', number });
            enqueue.assign({ told: { ...told, [event.to]: before + event.count } });
          }),
        },
        bear: {
          actions: spawnRoot(
            ({ event }) => event.address,
            ({ event }) => event.input,
          ),
        },
        'message.refused': {
          actions: assign({
            refused: ({ context, event: { event, to: receiver, code, at } }) => {
              if (event.type === 'poison' && defect.isThere) throw new Error('a defect');
              return [...context.refused, { to: receiver, event, code, at }];
            },
          }),
        },
        end: 'ended',
      },
    },
    ended: { type: 'final' },
  },
});

/** Has no transition for what it hears of. */
const careless = setup({
  types: { events: {} as { type: 'say'; to: string; sayings: ReadonlyArray<{ type: string }> } },
}).createMachine({
  on: {
    say: {
      actions: enqueueActions(({ event, enqueue }) => {
        for (const saying of event.sayings) enqueue.sendTo(to(event.to), saying);
      }),
    },
  },
});

export const KINDS = { careful, careless, listener };

/** Two nodes; what `a` commits can be held back. */
export async function twoNodes(limits: Partial<RuntimeLimits> = {}) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const { store, hold, release } = holdableStore();
  const options = { listener: { admit: refusalOf } };
  const shared = { kinds: KINDS, options, clock, limits };
  const a = await testRuntime({
    ...shared,
    node: 'a',
    store,
    transport: () => network.join('a'),
  });
  const b = await testRuntime({ ...shared, node: 'b', transport: () => network.join('b') });
  await a.spawn('careful/c');
  await a.spawn('listener/near');
  await b.spawn('listener/l');
  await b.spawn('listener/ended');
  await b.actor('listener/ended').send({ type: 'end' });
  const sender = a.actor('careful/c');
  return {
    a,
    b,
    network,
    sender,
    say: (receiver: string, ...sayings: Array<{ type: string; [field: string]: unknown }>) =>
      sender.send({ type: 'say', to: receiver, sayings }),
    refused: (): readonly Heard[] => sender.getSnapshot().context.refused,
    heardBy: (address: 'listener/l' | 'listener/near') =>
      (address === 'listener/l' ? b : a).actor(address).getSnapshot().context.heard,
    hold,
    release,
  };
}

const refusalOf = ({ event }: ForeignMessage) =>
  event['by'] === 'nobody' ? 'nobody is not known' : undefined;

export const heard = (number: number) => ({ type: 'heard', from: 's', number });
