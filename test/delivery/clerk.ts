/** A machine that is asked things, on two nodes: for tests of questions and of requests. */

import { assign, enqueueActions, setup } from 'xstate';
import { answer, type Question, reply } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { LossyNetwork } from './lossy-network.ts';
import { listener, speaker } from './talkers.ts';

const clerk = setup({
  types: {
    context: {} as { asked: string | undefined; kept: string[]; taken: number[] },
    events: {} as
      | Question<{ type: 'now' }, string>
      | Question<{ type: 'twice' }, number>
      | Question<{ type: 'later' }, string>
      | Question<{ type: 'never' }, string>
      | Question<{ type: 'fail' }, string>
      | Question<{ type: 'odd' }, unknown>
      | { type: 'release' }
      | { type: 'take'; number: number },
  },
  delays: { aWhile: 10_000 },
}).createMachine({
  id: 'clerk',
  context: { asked: undefined, kept: [], taken: [] },
  on: {
    now: { actions: reply(() => 'here you are') },
    twice: { actions: [reply(() => 1), reply(() => 2)] },
    later: { actions: assign({ asked: ({ event }) => event.replyTo }) },
    release: {
      actions: answer(
        ({ context }) => context.asked,
        () => 'at last',
      ),
    },
    never: {
      actions: assign({ kept: ({ context, event }) => [...context.kept, event.replyTo ?? ''] }),
    },
    fail: {
      actions: assign(() => {
        throw new Error('no');
      }),
    },
    odd: { actions: reply(() => 10n) },
    take: {
      actions: enqueueActions(({ context, event, enqueue }) =>
        enqueue.assign({ taken: [...context.taken, event.number] }),
      ),
    },
  },
});

export const KINDS = { clerk, listener, speaker };

export async function twoNodes() {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const open = (node: string) =>
    testRuntime({ kinds: KINDS, node, clock, transport: () => network.join(node) });
  const [a, b] = [await open('a'), await open('b')];
  await a.spawn('clerk/c');
  await b.spawn('clerk/c');
  const near = a.actor('clerk/c');
  const far = a.actor('clerk/c@b');
  return { a, b, near, far, network };
}

/** Outcome of a promise, without waiting for it. */
export function watch(promise: Promise<unknown>): { outcome: unknown } {
  const seen: { outcome: unknown } = { outcome: 'pending' };
  promise.then(
    (value) => {
      seen.outcome = value;
    },
    ({ code }) => {
      seen.outcome = code;
    },
  );
  return seen;
}
