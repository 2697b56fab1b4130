/** What is otherwise than under XState, for the second table of docs/xstate.md. */

import { expect } from 'vitest';
import { type AnyStateMachine, assign, emit, raise, sendTo, spawnChild } from 'xstate';
import { testRuntime } from '../../simulator/testing.ts';
import { type Any, counted, plain } from './reference-cases.ts';

const counter = plain({ context: { n: 0 }, on: { UP: { actions: counted } } });
const actionLog: string[] = [];

/** Sends events to one actor of the machine and returns the codes they are refused with. */
async function codesOf(machine: AnyStateMachine, ...events: readonly object[]): Promise<unknown[]> {
  const { actor, runtime } = await started(machine);
  const codes: unknown[] = [];
  for (const event of events)
    await actor.send(event).then(
      () => codes.push('taken'),
      ({ code }: { code: string }) => codes.push(code),
    );
  await runtime.stop();
  return codes;
}

async function started(machine: AnyStateMachine, logger?: Any): Promise<Any> {
  const runtime = await testRuntime({ kinds: { machine, counter }, logger });
  return { runtime, actor: await runtime.spawn('machine/1') };
}

const on = (actions: unknown) => plain({ context: { n: 0 }, on: { GO: { actions } } });
const GO = { type: 'GO' };

export const differences: Readonly<Record<string, () => Promise<void>>> = {
  'an action that is a function': async () => {
    actionLog.length = 0;
    const { runtime, actor } = await started(
      plain({
        context: { n: 0 },
        on: {
          GO: {
            actions: [({ self }: Any) => actionLog.push(self.getSnapshot().context.n), counted],
          },
        },
      }),
    );
    await actor.send(GO);
    await runtime.crash();
    // Under XState it would see 0, the state before.
    expect(actionLog).toEqual([1]);
    await runtime.stop();
  },
  '`ref.send` in an action, a promise or a callback': async () => {
    const { runtime, actor } = await started(
      plain({
        context: { order: [] },
        on: {
          GO: { actions: ({ self }: Any) => self.send({ type: 'LAST' }) },
          '*': {
            actions: assign({ order: ({ context, event }: Any) => [...context.order, event.type] }),
          },
        },
      }),
    );
    await Promise.all([actor.send(GO), actor.send({ type: 'WAITING' })]);
    await runtime.settle();
    expect(actor.getSnapshot().context.order).toEqual(['WAITING', 'LAST']);
    await runtime.stop();
  },
  'a guard, an assignment or an input that throws': async () => {
    const { runtime, actor } = await started(
      plain({
        context: { n: 0 },
        on: {
          UP: { actions: counted },
          GO: {
            actions: [
              counted,
              assign(() => {
                throw new Error('no');
              }),
            ],
          },
        },
      }),
    );
    await expect(actor.send(GO)).rejects.toMatchObject({ code: 'TURN_FAILED' });
    await actor.send({ type: 'UP' });
    expect(actor.getSnapshot()).toMatchObject({ status: 'active', context: { n: 1 } });
    expect([...runtime.runtime.undelivered()]).toHaveLength(1);
    await runtime.stop();
  },
  'an event that no state anywhere has': async () => {
    expect(await codesOf(counter, { type: 'DOWN' }, { type: 'UP' })).toEqual([
      'EVENT_UNDECLARED',
      'taken',
    ]);
  },
  'events that begin with `xstate.`': async () => {
    const types = ['xstate.stop', 'xstate.after.1.a', 'xstate.done.actor.a', 'xstate.init'];
    const codes = await codesOf(on(counted), ...types.map((type) => ({ type })));
    expect(new Set(codes)).toEqual(new Set(['EVENT_RESERVED']));
  },
  'a delay that nobody defined': async () => {
    const raised = raise({ type: 'GO' }, { delay: 'nobody' } as never);
    expect(await codesOf(on(raised), GO)).toEqual(['DELAY_INVALID']);
  },
  'a delayed event under an id that is armed': async () => {
    const { runtime, actor } = await started(
      plain({
        context: { n: 0 },
        on: {
          GO: { actions: raise({ type: 'UP' }, { id: 'x', delay: 10 }) },
          UP: { actions: counted },
        },
      }),
    );
    await actor.send(GO);
    await runtime.advance(5);
    await actor.send(GO);
    await runtime.advance(30);
    expect(actor.getSnapshot().context.n).toBe(1);
    await runtime.stop();
  },
  'a cycle without end': async () => {
    expect(await codesOf(on(raise({ type: 'GO' })), GO)).toEqual(['MICROSTEPS_EXCEEDED']);
  },
  'a child whose logic is not in `setup`': async () => {
    const spawning = spawnChild(counter as never, { id: 'x' } as never);
    expect(await codesOf(on(spawning), GO)).toEqual(['CHILD_UNREGISTERED']);
  },
  'children without number': async () => {
    const machine = plain(
      { on: { GO: { actions: Array.from({ length: 65 }, () => spawnChild('kid' as never)) } } },
      { kid: counter },
    );
    expect(await codesOf(machine, GO)).toEqual(['ACTOR_TOO_LARGE']);
  },
  '`sendTo` with a handle of another actor': async () => {
    const machine = plain({
      on: { GO: { actions: sendTo(({ event }: Any) => event.who, { type: 'UP' }) } },
    });
    const { runtime, actor } = await started(machine);
    const who = await runtime.spawn('counter/1');
    const refused = await actor.send({ ...GO, who }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: 'EVENT_REFUSED' });
    await runtime.stop();
  },
  'a context that is not JSON': async () => {
    const said: string[] = [];
    const write = (_: object, text: string): void => void said.push(text);
    const logger = { debug() {}, info() {}, warn: write, error: write };
    const { runtime, actor } = await started(
      plain({ context: { when: new Map([[1, 2]]) } }),
      logger,
    );
    expect(actor.getSnapshot().context.when.get(1)).toBe(2);
    expect(said).toEqual([expect.stringContaining('context.when is a Map')]);
    await runtime.crash();
    expect(actor.getSnapshot().context.when).toEqual({});
    await runtime.stop();
  },
  'the time': async () => {
    const { runtime, actor } = await started(
      plain({
        context: { seen: [] },
        after: { 10: { actions: 'note' } },
        on: { GO: { actions: assign({ seen: ({ event }: Any) => [event.at] }) } },
      }),
    );
    await runtime.advance(7);
    await actor.send(GO);
    expect(actor.getSnapshot().context.seen).toEqual([runtime.now()]);
    await runtime.stop();
  },
  'what a child emits': async () => {
    const machine = plain(
      { invoke: { src: 'kid', id: 'kid' }, on: { GO: { actions: [emit(GO), sendTo('kid', GO)] } } },
      { kid: on(emit({ type: 'CHILD' })) },
    );
    const { runtime, actor } = await started(machine);
    const heard: string[] = [];
    actor.on('*', ({ type }: { type: string }) => heard.push(type));
    await actor.send(GO);
    await runtime.settle();
    expect(heard).toEqual(['GO']);
    await runtime.stop();
  },
  '`start` and `stop` of a handle': async () => {
    const { runtime, actor } = await started(counter);
    actor.stop();
    actor.start();
    await actor.send({ type: 'UP' });
    expect(actor.getSnapshot()).toMatchObject({ status: 'active', context: { n: 1 } });
    await runtime.stop();
  },
};
