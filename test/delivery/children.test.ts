/** Children that are no promises: callbacks, observables, reducers, machines. */

import { expect, test } from 'vitest';
import { type AnyActorLogic, fromCallback, fromObservable, fromTransition, setup } from 'xstate';
import { busy, start, Work } from './busy.ts';

test('a callback sends, hears, emits and cleans up', async () => {
  const log: unknown[] = [];
  const callback = fromCallback(({ sendBack, receive, emit, input }) => {
    log.push(['start', input]);
    sendBack({ type: 'hello' });
    receive((event) => {
      log.push(['heard', event.type]);
      emit({ type: 'noise' });
      sendBack({ type: 'echo' });
    });
    return () => log.push('cleaned');
  });
  const { rt, actor, send } = await start(busy(callback));
  await send('go');
  await send('tell');
  await rt.settle();
  expect(actor.getSnapshot().context.got).toEqual(['hello', 'echo']);
  for (let other = 2; other < 12; other += 1) await rt.spawn(`busy/${other}`);
  await send('leave');
  expect(log).toEqual([['start', { box: 7 }], ['heard', 'tell'], 'cleaned']);
  await rt.settle();
});

test('a callback that throws is an error of its child', async () => {
  const error = new Error('at once');
  const callback = fromCallback(() => {
    throw error;
  });
  const { rt, actor, send, state } = await start(busy(callback));
  await send('go');
  await rt.settle();
  expect(state()).toBe('failed');
  expect(actor.getSnapshot().context.seen).toBe(error);
});

interface Watcher {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

function observed() {
  const watchers: Watcher[] = [];
  let unsubscribed = 0;
  const logic = fromObservable(() => ({
    subscribe: (watcher: unknown) => {
      watchers.push(watcher as Watcher);
      return { unsubscribe: () => (unsubscribed += 1) };
    },
  }));
  return { logic, watchers, unsubscribed: () => unsubscribed };
}

test('an observable shows each value and its end', async () => {
  const source = observed();
  const { rt, actor, send, state } = await start(busy(source.logic as AnyActorLogic));
  await send('go');
  source.watchers[0]?.next(1);
  source.watchers[0]?.next(2);
  await rt.settle();
  expect(actor.getSnapshot().context.seen).toBe(2);
  source.watchers[0]?.complete();
  await rt.settle();
  expect(state()).toBe('done');
  source.watchers[0]?.next(3);
  await rt.settle();
  expect(state()).toBe('done');
});

test('an observable that fails is an error, one whose state is left is unsubscribed', async () => {
  const source = observed();
  const { rt, actor, send, state } = await start(busy(source.logic as AnyActorLogic));
  await send('go');
  await send('leave');
  expect(source.unsubscribed()).toBe(1);
  source.watchers[0]?.next(1);
  await send('go');
  const error = new Error('broken');
  source.watchers[1]?.error(error);
  await rt.settle();
  expect(state()).toBe('failed');
  expect(actor.getSnapshot().context.seen).toBe(error);
});

test('a reducer lives in its parent’s record', async () => {
  const counter = fromTransition(
    (count: number, event: { type: string }) => (event.type === 'tell' ? count + 1 : count),
    0,
  );
  const { rt, actor, send } = await start(busy(counter as AnyActorLogic));
  await send('go');
  await send('tell');
  await rt.crash();
  await send('tell');
  const child = actor.getSnapshot().children.work as { getSnapshot(): { context: number } };
  expect(child.getSnapshot().context).toBe(2);
});

test('a machine child has promises of its own', async () => {
  const work = new Work();
  const inner = setup({ actors: { work: work.logic } }).createMachine({
    initial: 'working',
    states: {
      working: { invoke: { src: 'work', input: 5, onDone: 'done' } },
      done: { type: 'final' },
    },
    output: 'from inside',
  });
  const { rt, actor, send } = await start(busy(inner));
  await send('go');
  await rt.crash();
  expect(work.runs.map(({ input }) => input)).toEqual([5, 5]);
  work.last.resolve(null);
  await rt.settle();
  expect(actor.getSnapshot()).toMatchObject({ value: 'done', context: { seen: 'from inside' } });
});
