/** Two nodes and a machine that counts, for tests that watch one from the other. */

import { assign, setup } from 'xstate';
import type { RuntimeLimits } from '../../runtime/base/limits.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { LossyNetwork } from './lossy-network.ts';

const counter = setup({
  types: {
    context: {} as { count: number },
    events: {} as { type: 'inc' } | { type: 'end' } | { type: 'fail' },
    output: {} as number,
  },
}).createMachine({
  id: 'counter',
  context: { count: 0 },
  initial: 'counting',
  on: {
    inc: { actions: assign({ count: ({ context }) => context.count + 1 }) },
    end: '.ended',
    fail: {
      actions: assign(() => {
        throw new Error('broken');
      }),
    },
  },
  states: { counting: { tags: ['busy'] }, ended: { type: 'final' } },
  output: ({ context }) => context.count,
});

const kinds = { counter };
const options = { counter: { supervise: { onFailure: 'stop' as const } } };

interface Seen {
  readonly counts: number[];
  readonly ends: unknown[];
}

export function observer(): Seen & {
  next(snapshot: unknown): void;
  error(e: unknown): void;
  complete(): void;
} {
  const counts: number[] = [];
  const ends: unknown[] = [];
  return {
    counts,
    ends,
    next: (snapshot) =>
      void counts.push((snapshot as { context: { count: number } }).context.count),
    error: (error) => void ends.push((error as { code?: string }).code),
    complete: () => void ends.push('complete'),
  };
}

/** `a` has a handle, `far`, of an actor of `b`; `near` is its handle there. */
export async function open(limits: Partial<RuntimeLimits> = {}) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const at = (node: string, place = node, more: object = {}) =>
    testRuntime({
      kinds,
      options,
      node,
      place,
      clock,
      limits,
      transport: () => network.join(node),
      ...more,
    });
  const [a, b] = [await at('a'), await at('b')];
  await b.spawn('counter/1');
  await a.settle();
  return {
    a,
    b,
    at,
    network,
    clock,
    far: a.runtime.actor('counter/1@b'),
    near: b.actor('counter/1'),
  };
}
