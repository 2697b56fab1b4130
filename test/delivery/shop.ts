/** A machine whose actions are carried out by performers of the test's choice. */

import { assign, emit, log, setup } from 'xstate';
import type { DurablePerformer, Performer } from '../../runtime/actor/kind.ts';
import type { Logger, RuntimeLimits } from '../../runtime/base/limits.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';

export interface Seen {
  readonly params: unknown;
  readonly effectId: string;
  readonly attempt: number;
}

const shop = setup({
  types: {
    context: {} as { got: number[] },
    events: {} as
      | { type: 'charge'; amount: number }
      | { type: 'charged'; number: number }
      | { type: 'inline' }
      | { type: 'several' }
      | { type: 'missing' },
    emitted: {} as { type: 'rang' },
  },
  actions: {
    charge: (_, _params: { amount: number }) => {},
    print: (_, _params: { line: string }) => {},
    absent: () => {},
  },
}).createMachine({
  id: 'shop',
  context: { got: [] },
  on: {
    charge: { actions: { type: 'charge', params: ({ event }) => ({ amount: event.amount }) } },
    charged: { actions: assign({ got: ({ context, event }) => [...context.got, event.number] }) },
    inline: {
      actions: ({ self, context }) => {
        self.send({ type: 'charged', number: context.got.length });
        self.send({ type: 'unheard of' } as never);
      },
    },
    several: {
      actions: [
        { type: 'print', params: { line: 'first' } },
        emit({ type: 'rang' }),
        log('in between'),
        { type: 'print', params: { line: 'last' } },
      ],
    },
    missing: { actions: 'nobody' as never },
  },
});

type Perform = Record<string, Performer | DurablePerformer>;

export async function start(
  perform: Perform,
  options: { readonly logger?: Logger; readonly limits?: Partial<RuntimeLimits> } = {},
) {
  const store = memoryStore();
  const rt = await testRuntime({
    kinds: { shop },
    store,
    options: { shop: { perform } },
    ...options,
  });
  const actor = await rt.spawn('shop/1');
  const record = () => JSON.parse(store.load('shop/1@test') ?? '{}');
  return { rt, actor, record };
}

export function durable(run: Performer, attemptsMax = 5): DurablePerformer {
  return { durable: true, attemptsMax, run };
}
