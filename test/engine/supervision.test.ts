/**
 * Supervision after a failed turn: the event is skipped, the actor begins again or is stopped, and how
 * often. And what may fail without any turn failing: actions, performers, observers, readers of the
 * inspection stream.
 */

import { describe, expect, test } from 'vitest';
import { assign, emit, sendTo, setup } from 'xstate';
import type { KindOptions } from '../../runtime/actor/kind.ts';
import { to } from '../../runtime/machine.ts';
import { type TestRuntimeOptions, testRuntime } from '../../simulator/testing.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

type JobEvent =
  | { type: 'fail' }
  | { type: 'step' }
  | { type: 'act' }
  | { type: 'born'; name: string };

const jobMachine = setup({
  types: {
    context: {} as { name: string; steps: number },
    input: {} as { name: string },
    events: {} as JobEvent,
    emitted: {} as { type: 'begun' },
  },
  actions: {
    announce: (_, _params: { name: string }) => {},
    explode: () => {
      throw new Error('an action threw');
    },
    explodeLater: () => Promise.reject(new Error('an action rejected')) as never,
    missing: () => {},
    fail: () => {},
  },
  delays: { limit: 1_000, patience: 60_000 },
}).createMachine({
  context: ({ input }) => ({ name: input.name, steps: 0 }),
  initial: 'waiting',
  states: {
    waiting: {
      entry: [
        { type: 'announce', params: ({ context }) => ({ name: context.name }) },
        emit({ type: 'begun' }),
        sendTo(
          () => to('list/1'),
          ({ context }) => ({ type: 'born', name: context.name }),
        ),
      ],
      on: {
        step: { target: 'working', actions: assign({ steps: ({ context }) => context.steps + 1 }) },
      },
      after: { limit: 'broken' },
    },
    working: { after: { patience: 'broken' } },
    broken: {
      entry: assign({
        steps: () => {
          throw new Error('the deadline threw');
        },
      }),
    },
  },
  on: {
    fail: {
      actions: assign({
        steps: () => {
          throw new Error('no');
        },
      }),
    },
    act: { actions: ['explode', 'explodeLater', 'missing', assign({ steps: 7 })] },
  },
});

const listMachine = setup({
  types: { context: {} as { names: string[] }, events: {} as { type: 'born'; name: string } },
}).createMachine({
  context: { names: [] },
  on: {
    born: { actions: assign({ names: ({ context, event }) => [...context.names, event.name] }) },
  },
});

async function open(
  supervise: KindOptions['supervise'],
  options: Partial<TestRuntimeOptions> = {},
) {
  const announced: string[] = [];
  const rt = await testRuntime({
    ...options,
    kinds: { job: jobMachine, list: listMachine },
    options: {
      job: {
        ...(supervise !== undefined && { supervise }),
        perform: {
          announce: {
            durable: true,
            run: ({ params, effectId }) => {
              announced.push(`${params.name} ${effectId}`);
            },
          },
        },
      },
    },
  });
  await rt.spawn('list/1');
  const job = await rt.spawn('job/1', { input: { name: 'a' } });
  await rt.settle();
  return { rt, job, announced };
}

describe('supervision', () => {
  test('skip goes on from the state before, until it happens too often', async () => {
    const { rt, job } = await open({ onFailure: 'skip', failuresMax: 3, withinMs: 10_000 });
    await job.send({ type: 'step' });
    for (let failure = 0; failure < 3; failure += 1) await codeOf(job.send({ type: 'fail' }));
    expect(job.getSnapshot()).toMatchObject({ value: 'working', status: 'active' });
    await rt.advance(10_001);
    for (let failure = 0; failure < 3; failure += 1) await codeOf(job.send({ type: 'fail' }));
    await job.send({ type: 'step' }).catch(() => {});
    expect(await codeOf(job.send({ type: 'fail' }))).toBe('TURN_FAILED');
    expect(await codeOf(job.send({ type: 'step' }))).toBe('ACTOR_ENDED');
    expect(rt.runtime.query({ status: 'stopped' }).actors).toMatchObject([
      { address: job.address },
    ]);
    expect(await rt.explain('job/1')).toContain('was stopped in "working"');
    expect(rt.runtime.undelivered()).toHaveLength(7);
  });

  test('restart begins again from the input of the birth, and everything it asks for happens', async () => {
    const { rt, job, announced } = await open({ onFailure: 'restart' });
    await job.send({ type: 'step' });
    await rt.advance(500);
    const begun: string[] = [];
    job.on('begun', () => begun.push('begun'));
    expect(await codeOf(job.send({ type: 'fail' }))).toBe('TURN_FAILED');
    await rt.settle();
    expect(job.getSnapshot()).toMatchObject({ value: 'waiting', context: { name: 'a', steps: 0 } });
    expect(begun).toEqual(['begun']);
    // The message and the durable effect of its first state are as good as those of any turn.
    expect(rt.actor('list/1').getSnapshot().context.names).toEqual(['a', 'a']);
    expect(announced).toHaveLength(2);
    expect(new Set(announced).size).toBe(2);
    expect(storedOf(rt.store, job.address)).not.toHaveProperty('outbox');
    expect(storedOf(rt.store, job.address)).not.toHaveProperty('effects');
    const [[, dueAt] = []] = storedOf(rt.store, job.address).timers ?? [];
    expect(dueAt).toBe(rt.now() + 1_000);
  });

  test('a durable effect of a restart is done even if the process dies first', async () => {
    const done: string[] = [];
    let isAlive = false;
    const rt = await testRuntime({
      kinds: { job: jobMachine, list: listMachine },
      options: {
        job: {
          supervise: { onFailure: 'restart' },
          perform: {
            announce: {
              durable: true,
              run: async ({ params, effectId }) => {
                if (!isAlive) await new Promise(() => {});
                done.push(`${params.name} ${effectId}`);
              },
            },
          },
        },
      },
    });
    await rt.spawn('list/1');
    const job = await rt.spawn('job/1', { input: { name: 'a' } });
    await codeOf(job.send({ type: 'fail' }));
    isAlive = true;
    await rt.crash();
    await rt.settle();
    expect(done).toHaveLength(2);
  });

  test('restart stops an actor that fails too often, or cannot begin again', async () => {
    const { rt, job } = await open({ onFailure: 'restart', failuresMax: 1, withinMs: 60_000 });
    await codeOf(job.send({ type: 'fail' }));
    expect(job.getSnapshot().status).toBe('active');
    await codeOf(job.send({ type: 'fail' }));
    expect(await codeOf(job.send({ type: 'step' }))).toBe('ACTOR_ENDED');
    await rt.advance('1h');
    expect(rt.runtime.query({ status: 'active', kind: 'job' }).actors).toEqual([]);
  });

  test('stop ends the actor; its deadlines go, its observers hear why', async () => {
    const { rt, job } = await open({ onFailure: 'stop' });
    const errors: unknown[] = [];
    job.subscribe({ error: (error) => errors.push((error as { code: string }).code) });
    expect(await codeOf(job.send({ type: 'fail' }))).toBe('TURN_FAILED');
    expect(errors).toEqual(['TURN_FAILED']);
    expect(await codeOf(job.send({ type: 'step' }))).toBe('ACTOR_ENDED');
    // They stay for anybody who revives it; none is waited for.
    expect(rt.runtime.query({ kind: 'job', status: 'stopped' }).actors).toMatchObject([
      { dueAt: null },
    ]);
    await rt.crash();
    expect(await codeOf(job.send({ type: 'step' }))).toBe('ACTOR_ENDED');
    await rt.spawn('job/1', { input: { name: 'b' } });
    expect(job.getSnapshot()).toMatchObject({ status: 'active', context: { name: 'b' } });
    expect(await rt.explain('job/1')).not.toContain('was stopped');
  });
});

describe('a deadline whose turn fails', () => {
  test('does not come again; it is among the undelivered and can be delivered later', async () => {
    const { rt, job } = await open(undefined);
    await rt.advance('1h');
    expect(rt.runtime.undelivered()).toHaveLength(1);
    expect(rt.runtime.undelivered()[0]).toMatchObject({
      to: job.address,
      event: { type: expect.stringContaining('xstate.after.limit') },
      error: { code: 'TURN_FAILED' },
    });
    expect(job.getSnapshot().value).toBe('waiting');
    expect(storedOf(rt.store, job.address)).not.toHaveProperty('timers');
    expect(rt.clock.nextDueAt()).toBeUndefined();
    await during(rt, job.send({ type: 'step' }));
    const [kept] = rt.runtime.undelivered();
    // In its new state nothing waits for that deadline: it is taken, and changes nothing.
    expect(await during(rt, codeOf(rt.runtime.retryUndelivered(kept?.id as string)))).toBe('taken');
    expect(rt.runtime.undelivered()).toEqual([]);
    expect(job.getSnapshot().value).toBe('working');
  });
});

describe('what fails after the commit', () => {
  test('an action that throws or rejects harms neither its actor nor the others after it', async () => {
    const { rt, job } = await open(undefined);
    await job.send({ type: 'act' });
    await rt.settle();
    expect(job.getSnapshot().context.steps).toBe(7);
    expect(rt.runtime.undelivered()).toEqual([]);
  });

  test('an observer, a listener and a reader that throw harm nobody', async () => {
    const logged: string[] = [];
    const log = (_: object, message: string) => logged.push(message);
    const { rt, job } = await open(undefined, {
      logger: { debug: log, info: log, warn: log, error: log },
    });
    const throwing = () => {
      throw new Error('no');
    };
    const seen: string[] = [];
    job.subscribe({ next: throwing, error: throwing, complete: throwing });
    job.subscribe(({ value }) => seen.push(`next ${JSON.stringify(value)}`));
    job.on('begun', throwing);
    rt.runtime.inspect(throwing);
    rt.runtime.inspect(({ type }) => seen.push(type));
    await job.send({ type: 'step' });
    await job.send({ type: 'step' });
    expect(seen).toContain('next "working"');
    expect(seen.filter((type) => type === 'turn')).toHaveLength(2);
    expect(logged).toContain('an observer threw');
    expect(logged.filter((line) => line.startsWith('an inspection reader threw'))).toHaveLength(1);
  });
});
