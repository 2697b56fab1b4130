/** Promise children: what starts them, what ends them, and what comes back. */

import { expect, test } from 'vitest';
import { fromPromise } from 'xstate';
import { busy, start, Work } from './busy.ts';

test('a promise that resolves goes on by onDone', async () => {
  const work = new Work();
  const { rt, actor, send } = await start(busy(work.logic));
  await send('go');
  expect(work.runs.map(({ input }) => input)).toEqual([{ box: 7 }]);
  work.last.resolve({ done: true });
  await rt.settle();
  expect(actor.getSnapshot()).toMatchObject({ value: 'done', context: { seen: { done: true } } });
});

test('a promise that rejects goes on by onError, with the very error', async () => {
  const work = new Work();
  const { rt, actor, send, state } = await start(busy(work.logic));
  await send('go');
  const error = new RangeError('too far');
  work.last.reject(error);
  await rt.settle();
  expect(state()).toBe('failed');
  expect(actor.getSnapshot().context.seen).toBe(error);
});

test('a promise that rejects and has no onError runs again, and its actor ends in the end', async () => {
  const work = new Work();
  const { rt, actor, send, state } = await start(busy(work.logic, false));
  await send('go');
  work.last.reject(new Error('first time'));
  await rt.settle();
  expect(state()).toBe('working');
  expect(rt.runtime.undelivered()).toHaveLength(1);
  expect(work.runs).toHaveLength(1);
  await rt.advance('2s');
  expect(work.runs).toHaveLength(2);
  work.last.resolve('second time');
  await rt.settle();
  expect(actor.getSnapshot().context.seen).toBe('second time');
  expect(state()).toBe('done');
});

test('a promise that always rejects is tried a bounded number of times', async () => {
  let runs = 0;
  const failing = fromPromise(async () => {
    runs += 1;
    throw new Error('again');
  });
  const { rt, actor, send } = await start(busy(failing, false));
  await send('go');
  for (let round = 0; round < 300; round += 1) await rt.settle();
  expect(runs).toBe(1);
  await rt.advance('1m');
  expect(runs).toBe(5);
  await expect(actor.send({ type: 'go' } as never)).rejects.toMatchObject({ code: 'ACTOR_ENDED' });
});

test('a state that is left aborts its promise, and what comes late is dropped', async () => {
  const work = new Work();
  const { rt, send, state } = await start(busy(work.logic));
  await send('go');
  const first = work.last;
  await send('leave');
  expect(first.signal.aborted).toBe(true);
  await send('go');
  first.resolve('late');
  await rt.settle();
  expect(state()).toBe('working');
  work.last.resolve('in time');
  await rt.settle();
  expect(state()).toBe('done');
});

test('a promise runs again after a crash, with the same input, and is not forgotten meanwhile', async () => {
  const work = new Work();
  const { rt, send, state } = await start(busy(work.logic));
  await send('go');
  for (let other = 2; other < 12; other += 1) await rt.spawn(`busy/${other}`);
  expect(work.runs).toHaveLength(1);
  await rt.crash();
  expect(work.runs.map(({ input }) => input)).toEqual([{ box: 7 }, { box: 7 }]);
  expect(work.runs[0]?.signal.aborted).toBe(true);
  work.runs[0]?.resolve('from the dead');
  await rt.settle();
  expect(state()).toBe('working');
  work.last.resolve('alive');
  await rt.settle();
  expect(state()).toBe('done');
});

test('an actor that ends takes its children with it', async () => {
  const work = new Work();
  const { rt, send } = await start(busy(work.logic));
  await send('go');
  await send('end');
  expect(work.last.signal.aborted).toBe(true);
  await rt.crash();
  expect(work.runs).toHaveLength(1);
});
