/**
 * The lives of an actor: its end, what is known of it afterwards, a new spawn at the same
 * address, and the day it is forgotten. And the end of the whole runtime.
 */

import { describe, expect, test } from 'vitest';
import { assign, fromPromise, sendTo, setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import { to } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { diskFull, faultyStore } from './faulty-store.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

const DAY_MS = 86_400_000;

const taskMachine = setup({
  types: {
    context: {} as { steps: number; bornAt: number; childAt: number },
    input: {} as { steps?: number; at: number },
    events: {} as { type: 'step' } | { type: 'end'; farewell?: string } | { type: 'work' },
    output: {} as { steps: number },
  },
  actions: { work: () => {} },
  actors: { child: fromPromise(async () => 7) },
  delays: { limit: DAY_MS },
}).createMachine({
  context: ({ input }) => ({ steps: input.steps ?? 0, bornAt: input.at, childAt: 0 }),
  initial: 'open',
  states: {
    open: {
      after: { limit: 'ended' },
      on: {
        step: { actions: assign({ steps: ({ context }) => context.steps + 1 }) },
        work: { actions: 'work', target: 'asking' },
        end: {
          target: 'ended',
          actions: sendTo(({ event }) => to(event.farewell ?? ''), { type: 'step' }),
        },
      },
    },
    asking: {
      invoke: {
        src: 'child',
        onDone: {
          target: 'open',
          actions: assign({ childAt: ({ event }) => (event as unknown as { at: number }).at }),
        },
      },
    },
    ended: { type: 'final' },
  },
  output: ({ context }) => ({ steps: context.steps }),
});

describe('an actor that has ended', () => {
  test('takes nothing more, and can still be looked at, also after a crash', async () => {
    const rt = await testRuntime({ kinds: { task: taskMachine } });
    const task = await rt.spawn('task/1', { input: {} });
    const seen: string[] = [];
    task.subscribe({
      next: ({ status }) => seen.push(status),
      complete: () => seen.push('complete'),
    });
    await task.send({ type: 'step' });
    await task.send({ type: 'end' });
    expect(seen).toEqual(['active', 'done', 'complete']);
    for (let round = 0; round < 2; round += 1) {
      expect(await codeOf(task.send({ type: 'step' }))).toBe('ACTOR_ENDED');
      expect(await codeOf(task.ask({ type: 'step' }))).toBe('ACTOR_ENDED');
      expect(task.getSnapshot()).toMatchObject({ status: 'done', output: { steps: 1 } });
      expect(rt.runtime.query({ status: 'done' }).actors).toHaveLength(1);
      expect(await rt.explain('task/1')).toContain('has ended in "ended" after 3 turns');
      await rt.crash();
    }
    expect(rt.runtime.undelivered()).toEqual([]);
    expect(storedOf(rt.store, task.address).timers).toBeUndefined();
  });

  test('has its last message delivered, also when the process dies in between', async () => {
    const clock = new SimulatedClock();
    const store = faultyStore(clock);
    const rt = await testRuntime({ kinds: { task: taskMachine }, clock, store });
    const other = await rt.spawn('task/other', { input: {} });
    store.delayTasks = 2;
    const task = await rt.spawn('task/3', { input: {} });
    void task.send({ type: 'end', farewell: 'task/other' }).catch(() => {});
    for (let each = 0; each < 3; each += 1) {
      for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
      clock.runDue();
    }
    await rt.crash();
    await rt.advance('10s');
    expect(task.getSnapshot().status).toBe('done');
    expect(other.getSnapshot().context.steps).toBe(1);
    expect(storedOf(store, task.address).outbox).toBeUndefined();
  });

  test('can be born again: a new life that goes on with the old numbers', async () => {
    const rt = await testRuntime({ kinds: { task: taskMachine } });
    const other = await rt.spawn('task/other', { input: {} });
    const task = await rt.spawn('task/1', { input: { steps: 5 } });
    await task.send({ type: 'end', farewell: 'task/other' });
    await rt.settle();
    const { turns, counter = 0 } = storedOf(rt.store, task.address);
    expect([turns, counter]).toEqual([2, rt.now() + 1]);
    await rt.advance(1_000);
    await rt.spawn('task/1', { input: {} });
    expect(task.getSnapshot()).toMatchObject({
      status: 'active',
      context: { steps: 0, bornAt: rt.now() },
    });
    await rt.crash();
    await during(rt, task.send({ type: 'end', farewell: 'task/other' }));
    await rt.settle();
    expect(storedOf(rt.store, task.address)).toMatchObject({ turns: 4, counter: counter + 1 });
    expect(other.getSnapshot().context.steps).toBe(2);
    expect(rt.runtime.history('task/1').map(({ turn }) => turn)).toEqual([1, 2, 3, 4]);
  });

  test('is forgotten after endedRetentionMs, and not a moment before', async () => {
    const limits = { endedRetentionMs: 5_000 };
    const rt = await testRuntime({ kinds: { task: taskMachine }, limits });
    const task = await rt.spawn('task/1', { input: {} });
    await rt.spawn('task/2', { input: {} });
    await task.send({ type: 'end' });
    await rt.advance(2_000);
    await rt.crash();
    await rt.advance(2_999);
    expect(await codeOf(task.send({ type: 'step' }))).toBe('ACTOR_ENDED');
    await rt.advance(1);
    expect(await codeOf(task.send({ type: 'step' }))).toBe('ACTOR_UNKNOWN');
    expect(rt.store.load(task.address)).toBeUndefined();
    expect(rt.runtime.history('task/1')).toEqual([]);
    expect(rt.runtime.query().actors).toHaveLength(1);
    await rt.spawn('task/1', { input: {} });
    expect(task.getSnapshot().status).toBe('active');
  });

  test('is forgotten also when the store refuses at first, and when its last message waits', async () => {
    const limits = { endedRetentionMs: 5_000 };
    const clock = new SimulatedClock();
    const store = faultyStore(clock);
    const rt = await testRuntime({ kinds: { task: taskMachine }, limits, clock, store });
    const task = await rt.spawn('task/1', { input: {} });
    await during(rt, task.send({ type: 'end', farewell: 'task/1@elsewhere' }));
    await rt.advance(60_000);
    // Nobody is elsewhere: the message is still under way, and must not be lost with its sender.
    expect(storedOf(store, task.address)?.outbox).toHaveLength(1);
    const plain = await rt.spawn('task/2', { input: {} });
    await during(rt, plain.send({ type: 'end' }));
    await rt.advance(4_990);
    store.refuse = () => diskFull();
    await rt.advance(1_000);
    expect(store.load(plain.address)).toBeDefined();
    store.refuse = () => undefined;
    await rt.advance(60_000);
    expect(store.load(plain.address)).toBeUndefined();
  });

  test('is heard again when it is born after it was forgotten', async () => {
    for (const limits of [
      {},
      { endedRetentionMs: 5_000 },
      { endedRetentionMs: 5_000, dedupRetentionMs: 9_000 },
    ]) {
      const rt = await testRuntime({ kinds: { task: taskMachine }, limits });
      const other = await rt.spawn('task/other', { input: {} });
      const task = await rt.spawn('task/1', { input: {} });
      await task.send({ type: 'end', farewell: 'task/other' });
      await rt.settle();
      for (const pause of ['6s', '10s', '7d', '1d', '1h'] as const) {
        await rt.advance(pause);
        await rt.spawn('task/1', { input: {} });
        await rt.spawn('task/other', { input: {}, ifAbsent: true });
        const before = other.getSnapshot().context.steps;
        await during(rt, task.send({ type: 'end', farewell: 'task/other' }));
        await rt.settle();
        expect(other.getSnapshot().context.steps).toBe(before + 1);
      }
    }
  });

  test('leaves nothing behind once everything has ended and is forgotten', async () => {
    const limits = { endedRetentionMs: 5_000, dedupRetentionMs: 5_000 };
    const rt = await testRuntime({ kinds: { task: taskMachine }, limits });
    for (let index = 0; index < 20; index += 1) {
      const task = await rt.spawn(`task/${index}`, { input: {} });
      await task.send({ type: 'work' });
      await rt.settle();
      expect(task.getSnapshot().context.childAt).toBe(rt.now());
      await task.send({ type: 'end', farewell: index > 0 ? `task/${index - 1}` : '' });
    }
    await rt.advance('1m');
    expect(new Set(Object.values(rt.runtime.counts()))).toEqual(new Set([0]));
    expect([...rt.store.entries()]).toEqual([]);
    expect(rt.clock.nextDueAt()).toBeUndefined();
  });
});

describe('stop', () => {
  test('takes no new calls, finishes what waits, commits, and closes the store', async () => {
    const clock = new SimulatedClock();
    const store = faultyStore(clock);
    const rt = await testRuntime({ kinds: { task: taskMachine }, clock, store });
    const task = await rt.spawn('task/1', { input: {} });
    store.delayTasks = 3;
    const sends = Array.from({ length: 10 }, () => codeOf(task.send({ type: 'step' })));
    const stopping = rt.stop();
    expect(await codeOf(task.send({ type: 'step' }))).toBe('RUNTIME_STOPPED');
    expect(await codeOf(task.ask({ type: 'step' }))).toBe('RUNTIME_STOPPED');
    expect(await codeOf(rt.runtime.spawn('task/2', { input: {} }))).toBe('RUNTIME_STOPPED');
    await stopping;
    expect(await Promise.all(sends)).toEqual(Array(10).fill('taken'));
    expect(storedOf(store, task.address).snapshot.context.steps).toBe(10);
    expect(store.waiting).toBe(0);
    expect(clock.nextDueAt()).toBeUndefined();
    await rt.runtime.stop();
  });

  test('waits for performers, but not longer than drainMs', async () => {
    const clock = new SimulatedClock();
    let finish: () => void = () => {};
    let signal: AbortSignal | undefined;
    const rt = await testRuntime({
      kinds: { task: taskMachine },
      options: {
        task: {
          perform: {
            work: (call) => {
              signal = call.signal;
              return new Promise<void>((resolve) => {
                finish = resolve;
              });
            },
          },
        },
      },
      limits: { drainMs: 1_000 },
      clock,
    });
    const task = await rt.spawn('task/1', { input: {} });
    await task.send({ type: 'work' });
    expect(rt.runtime.counts().performers).toBe(1);
    let isStopped = false;
    const stopping = rt.runtime.stop().then(() => {
      isStopped = true;
    });
    await rt.advance(500);
    expect([isStopped, signal?.aborted]).toEqual([false, false]);
    finish();
    await rt.advance(5);
    await stopping;
    expect(signal?.aborted).toBe(true);

    await rt.start();
    await rt.spawn('task/2', { input: {} });
    await rt.actor('task/2').send({ type: 'work' });
    const startedAt = rt.now();
    await rt.stop();
    expect(rt.now() - startedAt).toBeGreaterThanOrEqual(1_000);
    expect(rt.now() - startedAt).toBeLessThan(1_100);
    expect(signal?.aborted).toBe(true);
  });

  test('comes from a signal too, and from the end of a block', async () => {
    const controller = new AbortController();
    const runtime = await createRuntime({
      signal: controller.signal,
      kinds: { task: taskMachine },
    });
    await runtime.spawn('task/1', { input: {} });
    controller.abort();
    expect(await codeOf(runtime.spawn('task/2', { input: {} }))).toBe('RUNTIME_STOPPED');
    await runtime.stop();
    {
      await using other = await createRuntime({ kinds: { task: taskMachine } });
      await other.spawn('task/1', { input: {} });
    }
  });

  test('ends although the store goes on refusing', async () => {
    const clock = new SimulatedClock();
    const store = faultyStore(clock);
    const rt = await testRuntime({ kinds: { task: taskMachine }, clock, store });
    const task = await rt.spawn('task/1', { input: {} });
    store.refuse = () => diskFull();
    const sent = codeOf(task.send({ type: 'step' }));
    await rt.stop();
    expect(await sent).toBe('COMMIT_REFUSED');
    expect(clock.nextDueAt()).toBeUndefined();
  });
});
