/**
 * A store that refuses groups: nothing of a refused one may be seen by anybody, and
 * everything else must come to the same end as without refusals.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { branchMachine, type TellerContext, TICK_MS, tellerMachine } from './bank.ts';
import { diskFull, type FaultyStore, faultyStore } from './faulty-store.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

const BRANCHES = ['east', 'west'];

async function openBank(seed = 1) {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const printed: Array<{ token: string; effectId: string }> = [];
  const rt = await testRuntime({
    kinds: { teller: tellerMachine, branch: branchMachine },
    options: {
      teller: {
        perform: {
          print: {
            durable: true,
            run: ({ params, effectId }) => {
              printed.push({ token: params.token, effectId });
            },
          },
        },
      },
    },
    clock,
    store,
    seed,
  });
  return { rt, store, printed, bornAt: rt.now() };
}

/** Refuses every k-th group, as long as it is asked to. */
function refuseEvery(store: FaultyStore, k: number, groups: number): void {
  let seen = 0;
  store.refuse = () => {
    seen += 1;
    return seen <= groups && seen % k === 0 ? diskFull() : undefined;
  };
}

describe('a store that refuses groups', () => {
  test('every k-th refused: what was acknowledged happened once, the rest not at all', async () => {
    const step = fc.record({
      teller: fc.nat({ max: 2 }),
      branch: fc.nat({ max: 1 }),
      kind: fc.constantFrom('send', 'send', 'send', 'ask'),
      pauseMs: fc.constantFrom(0, 0, 0, 1, 350, TICK_MS),
    });
    const steps = fc.array(step, { minLength: 5, maxLength: 25 });
    const setting = fc.record({
      k: fc.integer({ min: 1, max: 5 }),
      groups: fc.integer({ min: 1, max: 20 }),
      delayTasks: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(setting, steps, async ({ k, groups, delayTasks }, all) => {
        const { rt, store, printed, bornAt } = await openBank();
        const names = ['teller/0', 'teller/1', 'teller/2'] as const;
        const shown: Record<string, number[]> = {};
        const emitted: string[] = [];
        for (const name of names) {
          const teller = await rt.spawn(name);
          shown[name] = [];
          teller.subscribe(({ context }) => shown[name]?.push(context.tokens.length));
          teller.on('order.seen', ({ token }) => emitted.push(token));
        }
        store.delayTasks = delayTasks;
        refuseEvery(store, k, groups);
        const outcomes: Array<Promise<readonly [string, string, string]>> = [];
        for (const [index, { teller, branch, kind, pauseMs }] of all.entries()) {
          const name = names[teller] as (typeof names)[number];
          const token = `${index}`;
          const handle = rt.actor(name);
          const call =
            kind === 'ask'
              ? handle.ask({ type: 'count.asked' })
              : handle.send({ type: 'order.placed', token, branch: BRANCHES[branch] as string });
          outcomes.push(codeOf(call).then((code) => [name, kind === 'ask' ? '' : token, code]));
          if (pauseMs > 0) await rt.advance(pauseMs);
        }
        const ended = await during(rt, Promise.all(outcomes));
        await rt.advance('2m');

        expect(new Set(ended.map(([, , code]) => code))).toSatisfy((codes: Set<string>) =>
          [...codes].every((code) => code === 'taken' || code === 'COMMIT_REFUSED'),
        );
        const taken = ended.filter(([, token, code]) => token !== '' && code === 'taken');
        const tokens = taken.map(([, token]) => token).sort();
        // Exactly what was acknowledged is in the tellers, in the branches, and came back.
        const contexts = names.map((name) => rt.actor(name).getSnapshot().context);
        expect(contexts.flatMap((context) => context.tokens).sort()).toEqual(tokens);
        expect(contexts.flatMap((context) => context.acknowledged).sort()).toEqual(tokens);
        const known = rt.runtime.query({ kind: 'branch' }).actors.map(({ address }) => address);
        const booked = known.flatMap((address) => storedOf(store, address).snapshot.context.booked);
        expect([...booked].sort()).toEqual(tokens);
        // Nothing of a refused turn left: not to performers, not to listeners, not to observers.
        expect([...emitted].sort()).toEqual(tokens);
        expect([...new Set(printed.map(({ token }) => token))].sort()).toEqual(tokens);
        expect(new Set(printed.map(({ effectId }) => effectId)).size).toBe(tokens.length);
        for (const counts of Object.values(shown))
          expect(counts).toEqual([...counts].sort((a, b) => a - b));
        // Memory and store agree, and nothing is under way any more.
        for (const name of names) expectStored(rt, store, name, bornAt);
        expect(rt.runtime.undelivered()).toEqual([]);
        expect(rt.runtime.counts()).toMatchObject({
          ready: 0,
          underWay: 0,
          asks: 0,
          performers: 0,
        });
        await rt.stop();
      }),
      { numRuns: 40 },
    );
  });
});

/** What a handle shows is what is stored, and every tick came from the deadline that was armed. */
function expectStored(
  rt: Awaited<ReturnType<typeof openBank>>['rt'],
  store: FaultyStore,
  name: `teller/${string}`,
  bornAt: number,
): void {
  const { value, context } = rt.actor(name).getSnapshot();
  const stored = storedOf(store, `${name}@test`);
  expect(stored.snapshot).toEqual({ value, context });
  expect(stored.outbox).toBeUndefined();
  expect(stored.effects).toBeUndefined();
  const { ticks } = context as TellerContext;
  let armedAt = bornAt;
  for (const [dueAt, at] of ticks) {
    expect(dueAt).toBe(armedAt + TICK_MS);
    expect(at).toBeGreaterThanOrEqual(dueAt);
    armedAt = at;
  }
  expect(stored.timers?.map(([, dueAt]) => dueAt)).toEqual([armedAt + TICK_MS]);
  expect(armedAt + TICK_MS).toBeGreaterThan(rt.now());
}

describe('one refused group', () => {
  test('gives its senders COMMIT_REFUSED, which may be tried again', async () => {
    const { rt, store } = await openBank();
    const teller = await rt.spawn('teller/1');
    refuseEvery(store, 1, 1);
    const refused = teller.send({ type: 'order.placed', token: 'a', branch: 'east' });
    await expect(during(rt, refused)).rejects.toMatchObject({
      code: 'COMMIT_REFUSED',
      retryable: true,
    });
    expect(teller.getSnapshot().context.tokens).toEqual([]);
    await during(rt, teller.send({ type: 'order.placed', token: 'a', branch: 'east' }));
    await rt.advance('1s');
    expect(teller.getSnapshot().context.acknowledged).toEqual(['a']);
  });

  test('takes every group that was computed meanwhile with it', async () => {
    const { rt, store } = await openBank();
    const one = await rt.spawn('teller/1');
    const two = await rt.spawn('teller/2');
    const start = store.settled;
    refuseEvery(store, 1, 1);
    store.delayTasks = 3;
    const first = codeOf(one.send({ type: 'order.placed', token: 'a', branch: 'east' }));
    await Promise.resolve();
    await Promise.resolve();
    expect(store.waiting).toBe(1);
    const second = codeOf(two.send({ type: 'order.placed', token: 'b', branch: 'east' }));
    const third = codeOf(one.send({ type: 'order.placed', token: 'c', branch: 'east' }));
    expect(await during(rt, Promise.all([first, second, third]))).toEqual([
      'COMMIT_REFUSED',
      'COMMIT_REFUSED',
      'COMMIT_REFUSED',
    ]);
    // The second group never went to the store.
    expect(store.settled).toBe(start + 1);
    expect(storedOf(store, 'teller/1@test').turns).toBe(1);
    await during(rt, one.send({ type: 'order.placed', token: 'd', branch: 'east' }));
    expect(one.getSnapshot().context.tokens).toEqual(['d']);
  });

  test('lets a deadline fire again with the moment it was armed for', async () => {
    const { rt, store, bornAt } = await openBank();
    const teller = await rt.spawn('teller/1');
    refuseEvery(store, 1, 3);
    await rt.advance('5s');
    const [first] = teller.getSnapshot().context.ticks;
    expect(first?.[0]).toBe(bornAt + TICK_MS);
    expect(first?.[1]).toBeGreaterThan(bornAt + TICK_MS);
  });

  test('takes nothing of an actor with it that still waits for its turn', async () => {
    const clock = new SimulatedClock();
    const store = faultyStore(clock);
    const kinds = { teller: tellerMachine, branch: branchMachine };
    // With one turn to a group the actor stands in the queue while its first turn is refused.
    const rt = await testRuntime({ kinds, limits: { groupTurnsMax: 1 }, clock, store });
    const teller = await rt.spawn('teller/1');
    refuseEvery(store, 1, 1);
    const sends = ['a', 'b', 'c', 'd'].map((token) =>
      codeOf(teller.send({ type: 'order.placed', token, branch: 'east' })),
    );
    const codes = await during(rt, Promise.all(sends));
    await rt.advance('1s');
    const taken = ['a', 'b', 'c', 'd'].filter((_, index) => codes[index] === 'taken');
    expect(codes).toContain('COMMIT_REFUSED');
    expect(taken).not.toEqual([]);
    expect(teller.getSnapshot().context.tokens).toEqual(taken);
    expect(storedOf(store, 'branch/east@test').snapshot.context.booked).toEqual(taken);
  });

  test('forgets a birth: the address is free again', async () => {
    const { rt, store } = await openBank();
    refuseEvery(store, 1, 1);
    const refused = await during(rt, codeOf(rt.runtime.spawn('teller/1')));
    expect(refused).toBe('COMMIT_REFUSED');
    expect(await codeOf(rt.actor('teller/1').send({ type: 'order.booked', token: '' }))).toBe(
      'ACTOR_UNKNOWN',
    );
    expect(rt.runtime.counts()).toMatchObject({ live: 0, deadlines: 0 });
    await rt.spawn('teller/1');
    expect(rt.runtime.query().actors).toHaveLength(1);
  });

  test('leaves what waits in the mailboxes waiting', async () => {
    const { rt, store } = await openBank();
    const teller = await rt.spawn('teller/1');
    refuseEvery(store, 1, 1);
    const sends = Array.from({ length: 5 }, (_, index) =>
      codeOf(teller.send({ type: 'order.placed', token: `${index}`, branch: 'east' })),
    );
    const codes = await during(rt, Promise.all(sends));
    const taken = codes.flatMap((code, index) => (code === 'taken' ? [`${index}`] : []));
    expect(teller.getSnapshot().context.tokens).toEqual(taken);
  });

  test('does not take an undelivered message off the list', async () => {
    const { rt, store } = await openBank();
    const teller = await rt.spawn('teller/1');
    await during(
      rt,
      teller.send({ type: 'order.placed', token: 'a', branch: 'not an address' }),
    ).catch(() => {});
    const [lost] = rt.runtime.undelivered();
    refuseEvery(store, 1, 1);
    const dropping = codeOf(rt.runtime.dropUndelivered(lost?.id as string));
    expect(await during(rt, dropping)).toBe('COMMIT_REFUSED');
    expect(rt.runtime.undelivered()).toHaveLength(1);
    await during(rt, rt.runtime.dropUndelivered(lost?.id as string));
    expect(rt.runtime.undelivered()).toEqual([]);
  });

  test('a store that goes on refusing is asked less and less often', async () => {
    const { rt, store } = await openBank();
    await rt.spawn('teller/1');
    refuseEvery(store, 1, Number.POSITIVE_INFINITY);
    await rt.advance('60s');
    expect(store.refused).toBeGreaterThan(5);
    expect(store.refused).toBeLessThan(40);
    store.refuse = () => undefined;
    await rt.advance('10s');
    expect(rt.actor('teller/1').getSnapshot().context.ticks.length).toBeGreaterThan(2);
  });
});
