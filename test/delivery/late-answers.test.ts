/** Answers to questions that were kept: by a later turn, and by a performer. */

import { describe, expect, test } from 'vitest';
import { assign, createActor, setup } from 'xstate';
import type { PerformerCall } from '../../runtime/actor/kind.ts';
import { answer, type Question } from '../../runtime/machine.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { SimulatedClock, type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { watch } from './clerk.ts';
import { LossyNetwork } from './lossy-network.ts';

interface Work {
  readonly replyTo: string;
  readonly number: number;
}

const desk = setup({
  types: {
    context: {} as { asked: string; number: number },
    events: {} as
      | Question<{ type: 'job.wait'; number: number }, number>
      | { type: 'job.finished'; by: string }
      | Question<{ type: 'job.run'; number: number }, string>,
  },
  actions: { work: (_, _params: Work) => {} },
}).createMachine({
  id: 'desk',
  context: { asked: '', number: 0 },
  on: {
    'job.wait': {
      actions: assign({
        asked: ({ event }) => event.replyTo ?? '',
        number: ({ event }) => event.number,
      }),
    },
    'job.finished': {
      actions: answer(
        ({ context }) => context.asked,
        ({ context, event }) => `${context.number} by ${event.by}`,
      ),
    },
    'job.run': {
      actions: {
        type: 'work',
        params: ({ event }) => ({ replyTo: event.replyTo ?? '', number: event.number }),
      },
    },
  },
});

type Desk = TestRuntime<{ desk: typeof desk }>;

/** The same actor on the node that asks, and on another one. */
async function twoDesks(work: (call: PerformerCall & { readonly params: Work }) => unknown) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const open = (node: string): Promise<Desk> =>
    testRuntime({
      kinds: { desk },
      options: { desk: { perform: { work } } },
      node,
      clock,
      transport: () => network.join(node),
    });
  const [a, b] = [await open('a'), await open('b')];
  await a.spawn('desk/1');
  await b.spawn('desk/1');
  return { a, b, near: a.actor('desk/1'), far: a.actor('desk/1@b'), network };
}

describe.each(['near', 'far'] as const)('a question from %s', (where) => {
  test('is answered in a later turn', async () => {
    const { a, [where]: asked } = await twoDesks(() => {});
    const seen = watch(asked.ask({ type: 'job.wait', number: 7 }, { timeoutMs: 60_000 }));
    await a.advance('10s');
    expect(seen.outcome).toBe('pending');
    void asked.send({ type: 'job.finished', by: 'ada' });
    await a.settle();
    expect(seen.outcome).toBe('7 by ada');
    expect(a.runtime.counts()).toMatchObject({ asks: 0, underWay: 0 });
  });

  test('is answered by a performer, and nobody else is', async () => {
    const { a, [where]: asked } = await twoDesks(({ params, reply }) => {
      reply(params.replyTo, `done ${params.number}`);
      reply(params.replyTo, 'again');
    });
    const first = watch(asked.ask({ type: 'job.run', number: 1 }));
    const second = watch(asked.ask({ type: 'job.run', number: 2 }));
    await a.settle();
    expect([first.outcome, second.outcome]).toEqual(['done 1', 'done 2']);
    expect(a.runtime.counts()).toMatchObject({ asks: 0, performers: 0, underWay: 0 });
  });

  test('is answered by a performer long after', async () => {
    let finish = (): void => {};
    const { a, [where]: asked } = await twoDesks(
      ({ params, reply }) =>
        new Promise<void>((resolve) => {
          finish = () => {
            reply(params.replyTo, 'at last');
            resolve();
          };
        }),
    );
    const seen = watch(asked.ask({ type: 'job.run', number: 1 }, { timeoutMs: 60_000 }));
    await a.advance('30s');
    expect(seen.outcome).toBe('pending');
    finish();
    await a.settle();
    expect(seen.outcome).toBe('at last');
  });
});

test('what nobody asked is answered by nobody: nothing happens, and nothing throws', async () => {
  const seen: unknown[] = [];
  const { a, b, near } = await twoDesks(({ reply }) => {
    for (const replyTo of ['', undefined, 7, null, 'nobody', 'ask/x', 'ask/x@nowhere', 'ask/x@b'])
      seen.push(reply(replyTo as string, 1));
    // An actor is no question, wherever it is.
    for (const replyTo of ['desk/1@a', 'desk/1@b', 'desk/1']) seen.push(reply(replyTo, 1));
    seen.push(reply('ask/x@b', 10n));
  });
  await near.send({ type: 'job.run', number: 1 });
  await near.send({ type: 'job.finished', by: 'ada' });
  await a.advance('1m');
  expect(seen).toEqual(new Array(12).fill(undefined));
  for (const node of [a, b]) {
    expect(node.runtime.undelivered()).toEqual([]);
    expect(node.runtime.history('desk/1').map(({ error }) => error)).not.toContainEqual(
      expect.anything(),
    );
  }
  expect(a.store.load('desk/1@a')).not.toContain('"outbox"');
  for (const node of [a, b]) expect(node.runtime.metrics().messagesRefused.EVENT_RESERVED).toBe(0);
});

test('a performer that was told to stop answers nobody', async () => {
  let call: (PerformerCall & { readonly params: Work }) | undefined;
  const work = (next: PerformerCall & { readonly params: Work }) => {
    call = next;
    return new Promise(() => {});
  };
  const lease = localLease();
  const rt = await testRuntime({
    kinds: { desk },
    options: { desk: { perform: { work } } },
    lease,
  });
  const actor = await rt.spawn('desk/1');
  const seen = watch(actor.ask({ type: 'job.run', number: 1 }, { timeoutMs: 2_000 }));
  await rt.settle();
  lease.expire('test');
  await rt.settle();
  expect(seen.outcome).toBe('ASK_LOST');
  expect(call?.signal.aborted).toBe(true);
  call?.reply(call.params.replyTo, 'too late');
  await rt.advance('10s');
  expect(seen.outcome).toBe('ASK_LOST');
});

test("under XState's own createActor an answer goes nowhere", () => {
  const actor = createActor(desk).start();
  actor.send({ type: 'job.wait', number: 1, replyTo: 'ask/1@a' });
  actor.send({ type: 'job.finished', by: 'ada' });
  expect(actor.getSnapshot().context.number).toBe(1);
  expect(actor.getSnapshot().status).toBe('active');
});
