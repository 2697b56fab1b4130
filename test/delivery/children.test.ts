/** Children that act by themselves: what starts them, what ends them, and what comes back. */

import { expect, test } from 'vitest';
import {
  type AnyActorLogic,
  assign,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  sendTo,
  setup,
} from 'xstate';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Store } from '../../runtime/store.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';

/** A promise under the test's control, and everything that was ever started. */
class Work {
  readonly runs: Array<{
    readonly input: unknown;
    readonly signal: AbortSignal;
    resolve(output: unknown): void;
    reject(error: unknown): void;
  }> = [];

  readonly logic = fromPromise(
    ({ input, signal }) =>
      new Promise((resolve, reject) => this.runs.push({ input, signal, resolve, reject })),
  );

  get last() {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error('nothing was started');
    return run;
  }
}

function busy(logic: AnyActorLogic, hasOnError = true) {
  return setup({
    types: { context: {} as { got: unknown[]; seen: unknown } },
    actors: { work: logic },
  }).createMachine({
    id: 'busy',
    context: { got: [], seen: null },
    initial: 'idle',
    on: {
      tell: { actions: sendTo('work', ({ event }) => event) },
      ...(hasOnError
        ? {
            '*': { actions: assign({ got: ({ context, event }) => [...context.got, event.type] }) },
          }
        : {}),
    },
    states: {
      idle: { on: { go: 'working' } },
      working: {
        invoke: {
          id: 'work',
          src: 'work',
          input: { box: 7 },
          onDone: {
            target: 'done',
            actions: assign({ seen: ({ event }) => event.output }),
          },
          ...(hasOnError
            ? {
                onError: {
                  target: 'failed',
                  actions: assign({ seen: ({ event }) => event.error }),
                },
              }
            : {}),
          onSnapshot: {
            actions: assign({
              seen: ({ context, event }) =>
                (event as unknown as { snapshot: { context?: unknown } }).snapshot.context ??
                context.seen,
            }),
          },
        },
        on: { leave: 'idle', end: 'ended' },
      },
      done: {},
      failed: {},
      ended: { type: 'final' },
    },
  });
}

async function start(machine: ReturnType<typeof busy>, store: Store = memoryStore()) {
  const rt = await testRuntime({ kinds: { busy: machine }, store, limits: { liveActorsMax: 2 } });
  const actor = await rt.spawn('busy/1');
  const send = (type: string) => actor.send({ type } as never);
  return { rt, actor, send, state: () => actor.getSnapshot().value };
}

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
  expect(runs).toBeLessThanOrEqual(102);
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

test('a child starts after the commit, and not at all when it is refused', async () => {
  const work = new Work();
  const store = memoryStore();
  const commit = store.commit.bind(store);
  let refusal: Error | undefined;
  const held: Array<() => void> = [];
  store.commit = (group, settle) => {
    held.push(() => {
      if (refusal === undefined) commit(group, settle);
      else settle(refusal);
    });
    queueMicrotask(() => {
      if (!isHolding) for (const release of held.splice(0)) release();
    });
  };
  let isHolding = false;
  const { rt, send, state } = await start(busy(work.logic), store);
  isHolding = true;
  const refused = send('go');
  void refused.catch(() => {});
  await rt.settle();
  expect(work.runs).toHaveLength(0);
  refusal = new RuntimeError('INTERNAL', 'no room');
  for (const release of held.splice(0)) release();
  refusal = undefined;
  isHolding = false;
  await expect(refused).rejects.toMatchObject({ code: 'COMMIT_REFUSED' });
  await rt.settle();
  expect(work.runs).toHaveLength(0);
  await send('go');
  expect(work.runs).toHaveLength(1);
  // Leaving is refused: the child that the record has goes on undisturbed.
  isHolding = true;
  const leaving = send('leave');
  void leaving.catch(() => {});
  await rt.settle();
  refusal = new RuntimeError('INTERNAL', 'no room');
  for (const release of held.splice(0)) release();
  refusal = undefined;
  isHolding = false;
  await rt.settle();
  expect(work.runs).toHaveLength(1);
  expect(work.last.signal.aborted).toBe(false);
  work.last.resolve(1);
  await rt.settle();
  expect(state()).toBe('done');
});

test('a result whose commit is refused is not lost: the child runs again', async () => {
  const work = new Work();
  const store = memoryStore();
  const commit = store.commit.bind(store);
  let isRefusing = false;
  store.commit = (group, settle) => {
    if (isRefusing) queueMicrotask(() => settle(new RuntimeError('INTERNAL', 'no room')));
    else commit(group, settle);
    isRefusing = false;
  };
  const { rt, send, state } = await start(busy(work.logic), store);
  await send('go');
  isRefusing = true;
  work.last.resolve(1);
  await rt.settle();
  expect(state()).toBe('working');
  expect(work.runs).toHaveLength(2);
  work.last.resolve(2);
  await rt.settle();
  expect(state()).toBe('done');
});
