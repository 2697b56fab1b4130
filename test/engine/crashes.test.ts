/**
 * Crashes at any point: what was acknowledged is there afterwards, nothing is there that
 * was never sent, deadlines keep their moments, and entry actions do not run again.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { faultyStore } from './faulty-store.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

const LIMIT_MS = 1_000;

interface Stamps {
  readonly at?: number;
  readonly dueAt?: number;
}

/** Counts what it takes; after each event a new deadline, and the moments of all that came. */
const counterMachine = setup({
  types: {
    context: {} as { tokens: string[]; dues: number[]; ats: number[]; births: number },
    events: {} as { type: 'add'; token: string; at?: number },
  },
  actions: { announce: (_, _params: { births: number }) => {} },
  delays: { limit: LIMIT_MS },
}).createMachine({
  context: { tokens: [], dues: [], ats: [], births: 0 },
  entry: [
    assign({ births: ({ context }) => context.births + 1 }),
    { type: 'announce', params: ({ context }) => ({ births: context.births }) },
  ],
  initial: 'counting',
  states: {
    counting: {
      on: {
        add: {
          target: 'counting',
          reenter: true,
          actions: assign({
            tokens: ({ context, event }) => [...context.tokens, event.token],
            ats: ({ context, event }) => [...context.ats, event.at ?? -1],
          }),
        },
      },
      after: {
        limit: {
          target: 'counting',
          reenter: true,
          actions: assign({
            dues: ({ context, event }) => [...context.dues, (event as Stamps).dueAt ?? -1],
            ats: ({ context, event }) => [...context.ats, (event as Stamps).at ?? -1],
          }),
        },
      },
    },
  },
});

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('send' as const), actor: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 10, 999, 1_000, 1_001, 4_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('tasks' as const),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
);

/** What may be true of one actor. */
interface Model {
  /** Sent, in order, with the outcome of each: known, or open until the end. */
  readonly sent: Array<{ token: string; outcome: string }>;
}

test('after any crash an actor is where its acknowledged events left it, or further', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, delayTasks) => {
        const clock = new SimulatedClock();
        const store = faultyStore(clock);
        const announced: number[] = [];
        const rt = await testRuntime({
          kinds: { counter: counterMachine },
          options: {
            counter: { perform: { announce: ({ params }) => announced.push(params.births) } },
          },
          clock,
          store,
        });
        const bornAt = rt.now();
        const names = ['counter/0', 'counter/1', 'counter/2'] as const;
        const models: Model[] = [];
        for (const name of names) {
          await rt.spawn(name);
          models.push({ sent: [] });
        }
        store.delayTasks = delayTasks;
        const calls: Array<Promise<void>> = [];
        let count = 0;
        for (const each of steps) {
          if (each.do === 'send') {
            count += 1;
            const sent = { token: `${count}`, outcome: 'open' };
            models[each.actor]?.sent.push(sent);
            const name = names[each.actor] as (typeof names)[number];
            const call = codeOf(rt.actor(name).send({ type: 'add', token: sent.token }));
            calls.push(
              call.then((code) => {
                sent.outcome = code;
              }),
            );
            if (count % 3 === 0) await Promise.resolve();
          } else if (each.do === 'pass') await rt.advance(each.ms);
          else if (each.do === 'tasks') {
            for (let task = 0; task < each.count; task += 1) {
              for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
              clock.runDue();
            }
          } else {
            await rt.crash();
            for (const [index, name] of names.entries())
              expectPossible(rt.actor(name).getSnapshot().context.tokens, models[index] as Model);
          }
        }
        await during(rt, Promise.all(calls));
        await rt.crash();
        await rt.advance(3 * LIMIT_MS);
        for (const [index, name] of names.entries()) {
          const { context } = rt.actor(name).getSnapshot();
          expectPossible(context.tokens, models[index] as Model);
          expect(context.births).toBe(1);
          // Every deadline came once, exactly one limit after the event or deadline before it.
          expect(context.ats).toEqual([...context.ats].sort((a, b) => a - b));
          expect(context.ats).toHaveLength(context.tokens.length + context.dues.length);
          const armed = new Set([bornAt, ...context.ats].map((at) => at + LIMIT_MS));
          for (const dueAt of context.dues) expect(armed.has(dueAt)).toBe(true);
          expect(new Set(context.dues).size).toBe(context.dues.length);
          const last = context.ats.at(-1) as number;
          const { timers } = storedOf(store, `${name}@test`);
          expect(timers?.map(([, dueAt]) => dueAt)).toEqual([last + LIMIT_MS]);
          expect(last + LIMIT_MS).toBeGreaterThan(rt.now());
        }
        // The entry action ran at spawn and never again.
        expect(announced).toEqual([1, 1, 1]);
        await rt.stop();
      },
    ),
    { numRuns: 60 },
  );
});

/** All that was acknowledged is there, in the order of sending, and nothing that was never sent. */
function expectPossible(tokens: readonly string[], { sent }: Model): void {
  const order = sent.map(({ token }) => token);
  expect(tokens).toEqual(order.filter((token) => tokens.includes(token)));
  for (const { token, outcome } of sent) if (outcome === 'taken') expect(tokens).toContain(token);
  for (const { outcome } of sent) expect(['taken', 'open', 'NOT_HOSTED']).toContain(outcome);
}

test('a deadline that was due while the process was down comes as soon as it is back', async () => {
  const rt = await testRuntime({ kinds: { counter: counterMachine } });
  await rt.spawn('counter/1');
  const bornAt = rt.now();
  rt.runtime.crash();
  rt.clock.advanceBy(10 * LIMIT_MS + 1);
  await rt.start();
  const { dues, ats } = rt.actor('counter/1').getSnapshot().context;
  expect(dues).toEqual([bornAt + LIMIT_MS]);
  expect(ats).toEqual([rt.now()]);
});

test('deadlines of a kind that is not registered yet wait for it', async () => {
  const rt = await testRuntime({ kinds: { counter: counterMachine } });
  await rt.spawn('counter/1');
  const bornAt = rt.now();
  rt.runtime.crash();
  const later = await testRuntime({ kinds: {}, clock: rt.clock, store: rt.store });
  await later.advance(10 * LIMIT_MS);
  expect(storedOf(rt.store, 'counter/1@test').turns).toBe(1);
  later.runtime.register('counter', counterMachine);
  await later.settle();
  expect(storedOf(rt.store, 'counter/1@test').snapshot.context.dues).toEqual([bornAt + LIMIT_MS]);
  await later.advance(LIMIT_MS);
  expect(storedOf(rt.store, 'counter/1@test').turns).toBe(3);
});

test('a crash leaves nothing running: no clock task, no live actor, no call', async () => {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const rt = await testRuntime({ kinds: { counter: counterMachine }, clock, store });
  const one = await rt.spawn('counter/1');
  store.delayTasks = 2;
  const sent = codeOf(one.send({ type: 'add', token: 'a' }));
  const asked = codeOf(one.ask({ type: 'add', token: 'b' }));
  rt.runtime.crash();
  expect(await sent).toBe('NOT_HOSTED');
  expect(await asked).toMatch(/NOT_HOSTED|RUNTIME_STOPPED/);
  expect(await codeOf(one.send({ type: 'add', token: 'c' }))).toBe('RUNTIME_STOPPED');
  expect(await codeOf(one.ask({ type: 'add', token: 'c' }))).toBe('RUNTIME_STOPPED');
  expect(await codeOf(rt.runtime.spawn('counter/2'))).toBe('RUNTIME_STOPPED');
  expect(rt.runtime.counts()).toEqual({
    live: 0,
    deadlines: 0,
    ready: 0,
    underWay: 0,
    watchers: 0,
    watches: 0,
    unanswered: 0,
    asks: 0,
    performers: 0,
    questions: 0,
  });
  while (store.waiting > 0) {
    clock.runDue();
    await Promise.resolve();
  }
  expect(clock.nextDueAt()).toBeUndefined();
});

test('a crash while the store goes on refusing leaves no clock task either', async () => {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const rt = await testRuntime({ kinds: { counter: counterMachine }, clock, store });
  await rt.spawn('counter/1');
  store.refuse = () => new Error('EIO');
  await rt.advance('5s');
  rt.runtime.crash();
  await rt.settle();
  expect(clock.nextDueAt()).toBeUndefined();
});
