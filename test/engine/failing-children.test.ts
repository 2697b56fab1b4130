/**
 * Promises, callbacks and observables whose end no turn can take: they are run again gently, a few
 * times, loudly; whatever happens to the process meanwhile. Then their actor is stopped, and says so.
 */

import { describe, expect, test } from 'vitest';
import { type AnyActorLogic, fromCallback, fromObservable, fromPromise, setup } from 'xstate';
import type { Supervision } from '../../runtime/actor/supervision-options.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { diskFull, faultyStore } from './faulty-store.ts';
import { codeOf, during } from './outcomes.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** A kind whose only child is `child`; without `onError`, like a machine that somebody forgot it in. */
function payment(child: AnyActorLogic) {
  return setup({
    types: { events: {} as { type: 'pay' } | { type: 'leave' } },
    actors: { charge: child },
  }).createMachine({
    initial: 'idle',
    states: {
      idle: { on: { pay: 'charging' } },
      charging: { invoke: { src: 'charge', id: 'charge', onDone: 'paid' }, on: { leave: 'idle' } },
      paid: {},
    },
  });
}

async function open(child: AnyActorLogic, supervise?: Partial<Supervision>) {
  const lines: Line[] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields: fields as Line['fields'] });
  const rt = await testRuntime({
    kinds: { order: payment(child) },
    ...(supervise && { options: { order: { supervise } } }),
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  });
  return { rt, order: await rt.spawn('order/1'), lines };
}

/** Runs it for ten virtual minutes, looking often enough to see each call at its moment. */
async function watch(rt: Awaited<ReturnType<typeof open>>['rt'], calls: () => number) {
  const calledAt: number[] = [];
  for (let step = 0; step < 6_000; step += 1) {
    await rt.settle();
    while (calledAt.length < calls()) calledAt.push(rt.now());
    await rt.advance(100);
  }
  return calledAt;
}

const declined = () => {
  throw new Error('card declined');
};

const failing = (call: () => void) =>
  fromPromise(async () => {
    call();
    declined();
  });

describe.each<readonly [what: string, logic: (call: () => void) => AnyActorLogic]>([
  ['a promise that rejects', failing],
  [
    'a callback that throws',
    (call) =>
      fromCallback(() => {
        call();
        declined();
      }),
  ],
  [
    'an observable that fails',
    (call) =>
      fromObservable(
        () =>
          ({
            subscribe(observer: { error(thrown: unknown): void }) {
              call();
              observer.error(new Error('card declined'));
              return { unsubscribe() {} };
            },
          }) as never,
      ),
  ],
])('%s where no onError is', (_, logic) => {
  test('runs five times, each after a longer pause, and stops its actor', async () => {
    let calls = 0;
    const { rt, order, lines } = await open(
      logic(() => {
        calls += 1;
      }),
    );
    await order.send({ type: 'pay' });
    const calledAt = await watch(rt, () => calls);
    const pauses = calledAt.slice(1).map((at, index) => at - (calledAt[index] as number));
    expect(pauses.map((ms) => Math.floor(ms / 1_000))).toEqual([1, 2, 4, 8]);
    expect(await codeOf(order.send({ type: 'leave' }))).toBe('ACTOR_ENDED');
    expect(order.getSnapshot()).toMatchObject({ value: 'charging', status: 'error' });
    expect(await rt.explain('order/1')).toContain('card declined (tried 5 times)');

    const told = lines.filter(({ fields }) => fields.address === order.address);
    expect(told.map(({ level, message }) => `${level} ${message}`)).toEqual([
      ...Array(4).fill('warn a child failed and is run again'),
      'error an actor was stopped',
    ]);
    for (const { fields } of told) expect(fields.stack).toContain('failing-children.test.ts');
    expect(told.slice(0, 4).map(({ fields }) => [fields.child, fields.attempt])).toEqual(
      [1, 2, 3, 4].map((attempt) => ['charge', attempt]),
    );
    expect(rt.runtime.metrics()).toMatchObject({ childrenRetried: 4, turnsFailed: 5, ends: 1 });
    for (const { cause } of rt.runtime.undelivered()) expect(cause).toContain('card declined');
  });
});

describe('the pause of a child that failed', () => {
  test('outlives crashes, and so does the number of its runs', async () => {
    let calls = 0;
    const { rt, order } = await open(
      failing(() => {
        calls += 1;
      }),
    );
    await order.send({ type: 'pay' });
    await rt.settle();
    for (const expected of [1, 2, 3, 4, 5]) {
      expect(calls).toBe(expected);
      for (let crash = 0; crash < 4; crash += 1) {
        await rt.crash();
        await rt.settle();
        await rt.advance(150);
      }
      expect(calls).toBe(expected);
      if (expected === 5) break;
      expect(await rt.explain('order/1')).toMatch(
        new RegExp(`"charge" has failed ${expected} times and is run again in .*card declined`),
      );
      await rt.advance(2 ** (expected - 1) * 1_000);
    }
    expect(await codeOf(order.send({ type: 'leave' }))).toBe('ACTOR_ENDED');
  });

  test('ends with the state of the child; one that is invoked again begins to count again', async () => {
    let calls = 0;
    const { rt, order } = await open(
      failing(() => {
        calls += 1;
      }),
    );
    await order.send({ type: 'pay' });
    await rt.settle();
    await order.send({ type: 'leave' });
    await rt.advance('1h');
    expect(calls).toBe(1);
    expect(await rt.explain('order/1')).not.toContain('run again');
    await during(rt, order.send({ type: 'pay' }));
    await rt.settle();
    expect(await rt.explain('order/1')).toContain('"charge" has failed 1 times');
  });

  test('is over for one that succeeds; its actor goes on', async () => {
    let calls = 0;
    const charge = fromPromise(async () => {
      calls += 1;
      if (calls < 3) declined();
      return 'receipt';
    });
    const { rt, order } = await open(charge);
    await order.send({ type: 'pay' });
    await rt.advance('1m');
    expect([calls, order.getSnapshot().value]).toEqual([3, 'paid']);
    expect(await rt.explain('order/1')).not.toContain('run again');
  });

  test('holds under restart too, and stop runs nothing again', async () => {
    for (const [onFailure, runs] of [
      ['restart', 5],
      ['stop', 1],
    ] as const) {
      let calls = 0;
      const charge = failing(() => {
        calls += 1;
      });
      const machine = setup({ actors: { charge } }).createMachine({ invoke: { src: 'charge' } });
      const rt = await testRuntime({
        kinds: { order: machine },
        options: { order: { supervise: { onFailure } } },
      });
      await rt.spawn('order/1');
      const calledAt = await watch(rt as never, () => calls);
      for (let call = 1; call < calledAt.length; call += 1)
        expect((calledAt[call] as number) - (calledAt[call - 1] as number)).toBeGreaterThan(999);
      expect([onFailure, calls]).toEqual([onFailure, runs]);
    }
  });

  test("and the number of runs are the kind's to choose", async () => {
    let calls = 0;
    const { rt, order } = await open(
      failing(() => {
        calls += 1;
      }),
      { attemptsMax: Number.POSITIVE_INFINITY, pauseMinMs: 10, pauseMaxMs: 50_000 },
    );
    await order.send({ type: 'pay' });
    await rt.advance('1h');
    expect(calls).toBeGreaterThan(60);
    expect(order.getSnapshot().status).toBe('active');
    for (const supervise of [
      { attemptsMax: 0 },
      { pauseMinMs: 0 },
      { pauseMinMs: 9, pauseMaxMs: 8 },
    ])
      await expect(
        open(
          fromPromise(async () => {}),
          supervise,
        ),
      ).rejects.toMatchObject({
        code: 'OPTION_INVALID',
      });
  });
});

test('what a child gave that no turn could take is among the undelivered ones, whole', async () => {
  const charge = fromPromise(async () => ({ receipt: 'r-1' }));
  const machine = setup({ actors: { charge } }).createMachine({
    initial: 'charging',
    states: {
      charging: { invoke: { src: 'charge', onDone: { target: 'paid', guard: declined } } },
      paid: {},
    },
  });
  const rt = await testRuntime({ kinds: { order: machine } });
  await rt.spawn('order/1');
  await rt.advance('1m');
  const kept = rt.runtime.undelivered();
  expect(kept).toHaveLength(5);
  for (const { event } of kept)
    expect(event).toMatchObject({ type: 'child done', output: { receipt: 'r-1' } });
});

test('a commit that is refused costs no run of a child whose end it would have kept', async () => {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  let calls = 0;
  let pay!: (receipt: string) => void;
  const charge = fromPromise(() => {
    calls += 1;
    return new Promise((resolve) => {
      pay = resolve;
    });
  });
  const rt = await testRuntime({ kinds: { order: payment(charge) }, clock, store });
  const order = await rt.spawn('order/1');
  await order.send({ type: 'pay' });
  await rt.settle();
  let isFull = true;
  store.refuse = () => (isFull ? diskFull() : undefined);
  pay('r-1');
  await rt.advance('1m');
  expect([calls, store.refused > 3]).toEqual([1, true]);
  expect(order.getSnapshot().value).toBe('charging');
  isFull = false;
  await rt.advance('1m');
  expect([calls, order.getSnapshot().value]).toEqual([1, 'paid']);
});
