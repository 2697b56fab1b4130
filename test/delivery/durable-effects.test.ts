/** Durable effects: tried until they succeed, under one id, and gone when they have. */

import { expect, test } from 'vitest';
import type { PerformerCall } from '../../runtime/actor/kind.ts';
import { durable, type Seen, start } from './shop.ts';

test('a durable effect is tried again after growing pauses, under one id, and then is gone', async () => {
  const seen: Array<Seen & { at: number }> = [];
  const { rt, actor, record } = await start({
    charge: durable(async (call) => {
      seen.push({ ...call, at: rt.now() });
      if (seen.length < 4) throw new Error('not yet');
    }),
  });
  await actor.send({ type: 'charge', amount: 1 });
  expect(record().effects).toHaveLength(1);
  await rt.advance('1m');
  expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  expect(new Set(seen.map(({ effectId }) => effectId)).size).toBe(1);
  const pauses = seen.slice(1).map(({ at }, index) => at - (seen[index]?.at ?? 0));
  pauses.forEach((pause, index) => {
    expect(pause).toBeGreaterThanOrEqual(100 * 2 ** index);
    expect(pause).toBeLessThanOrEqual(200 * 2 ** index);
  });
  expect(record().effects).toBeUndefined();
  expect(rt.runtime.counts().performers).toBe(0);
});

test('a durable effect runs again after a crash, under the same id, and once it is done never again', async () => {
  const seen: Seen[] = [];
  let isHanging: boolean = true;
  const { rt, actor } = await start({
    charge: durable((call) => {
      seen.push(call);
      return isHanging ? new Promise(() => {}) : undefined;
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.crash();
  isHanging = false;
  await rt.crash();
  await rt.crash();
  await rt.advance('1h');
  expect(seen.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  expect(new Set(seen.map(({ effectId }) => effectId)).size).toBe(1);
  expect(seen[2]?.params).toEqual({ amount: 5 });
});

test('an effect of another life of its actor has another id', async () => {
  const seen: Seen[] = [];
  const limits = { endedRetentionMs: 1_000, dedupRetentionMs: 1_000 };
  const { rt, actor } = await start(
    { charge: durable((call) => void seen.push(call)) },
    { limits },
  );
  await actor.send({ type: 'charge', amount: 1 });
  await rt.runtime.end('shop/1');
  await rt.advance('1m');
  await rt.spawn('shop/1');
  await actor.send({ type: 'charge', amount: 2 });
  await rt.settle();
  expect(seen.map(({ params }) => params)).toEqual([{ amount: 1 }, { amount: 2 }]);
  expect(new Set(seen.map(({ effectId }) => effectId)).size).toBe(2);
});

test('an effect that never succeeds is given up with EFFECT_FAILED, once', async () => {
  let runs = 0;
  const { rt, actor, record } = await start({
    charge: durable(() => {
      runs += 1;
      throw new Error('card declined');
    }, 3),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.advance('1m');
  expect(runs).toBe(3);
  expect(rt.runtime.undelivered()).toMatchObject([
    {
      to: 'shop/1@test',
      error: { code: 'EFFECT_FAILED', message: expect.stringContaining('card declined') },
    },
  ]);
  expect(record().effects).toBeUndefined();
  await rt.crash();
  await rt.advance('1m');
  expect(runs).toBe(3);
});

test('what a durable performer sends is taken once, however often it runs', async () => {
  let runs = 0;
  const { rt, actor, record } = await start({
    charge: durable(async ({ send }) => {
      runs += 1;
      await send({ type: 'charged', number: 1 });
      await send({ type: 'charged', number: 2 });
      if (runs < 4) throw new Error('after sending');
      await send({ type: 'charged', number: 3 });
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.settle();
  await rt.crash();
  await rt.advance('1m');
  expect(runs).toBe(4);
  expect(actor.getSnapshot().context.got).toEqual([1, 2, 3]);
  // Neither effect nor mark is left: an actor may have any number of effects in its life.
  expect(record()).not.toHaveProperty('effects');
  expect(record()).not.toHaveProperty('inbox');
});

test('sends that a performer does not wait for are taken once as well', async () => {
  let runs = 0;
  const { rt, actor } = await start({
    charge: durable(({ send }) => {
      runs += 1;
      void send({ type: 'charged', number: 1 });
      void send({ type: 'unheard of' });
      void send({ type: 'charged', number: 2 });
      if (runs < 3) throw new Error('again');
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.advance('1m');
  expect(runs).toBe(3);
  expect(actor.getSnapshot().context.got).toEqual([1, 2]);
});

test('a performer that threw at once is over as well', async () => {
  const sends: Array<PerformerCall['send']> = [];
  const charge = durable(({ send }) => {
    sends.push(send);
    if (sends.length === 1) throw new Error('at once');
  });
  const { rt, actor } = await start({ charge });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.settle();
  await expect(sends[0]?.({ type: 'charged', number: 1 })).rejects.toMatchObject({
    code: 'ABORTED',
  });
});

test('a performer that is over sends nothing more', async () => {
  let late: PerformerCall['send'] | undefined;
  const { rt, actor } = await start({
    charge: durable(({ send }) => {
      late = send;
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.settle();
  await expect(late?.({ type: 'charged', number: 1 })).rejects.toMatchObject({ code: 'ABORTED' });
  expect(actor.getSnapshot().context.got).toEqual([]);
});

test('stop() aborts what runs; a durable effect stays for the next start', async () => {
  const signals: AbortSignal[] = [];
  const { rt, actor, record } = await start({
    charge: durable(({ signal }) => {
      signals.push(signal);
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      );
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.stop();
  expect(signals[0]?.aborted).toBe(true);
  expect(signals[0]?.reason).toMatchObject({ code: 'RUNTIME_STOPPED' });
  expect(record().effects).toHaveLength(1);
  await rt.start();
  expect(signals).toHaveLength(2);
});

test('an effect whose actor was let go from memory meanwhile is carried out once', async () => {
  let runs = 0;
  let finish = (): void => {};
  const charge = durable(() => {
    runs += 1;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  const { rt, actor, record } = await start({ charge }, { limits: { liveActorsMax: 2 } });
  await actor.send({ type: 'charge', amount: 5 });
  for (const other of ['2', '3', '4', '5']) await rt.spawn(`shop/${other}`);
  finish();
  await rt.settle();
  expect(runs).toBe(1);
  expect(record()).not.toHaveProperty('effects');
});
