/** Differences from XState, for the second table of docs/xstate.md. */

import { expect } from 'vitest';
import {
  type AnyStateMachine,
  assign,
  createActor,
  emit,
  fromCallback,
  raise,
  sendTo,
  spawnChild,
} from 'xstate';
import { Table } from '../../runtime/machine.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { CountingStore } from '../engine/stock.ts';
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
  'a `systemId` given and left by a child that never started': async () => {
    const kid = plain(
      {
        initial: 'first',
        states: { first: { invoke: { src: 'below', systemId: 'key' }, always: 'then' }, then: {} },
      },
      { below: counter },
    );
    // It is invoked and left again within one step, and then invoked for good.
    const machine = plain(
      {
        initial: 'idle',
        states: {
          idle: { on: { GO: 'passing' } },
          passing: { invoke: { src: 'kid', id: 'one' }, always: 'over' },
          over: { on: { GO: 'lasting' } },
          lasting: { invoke: { src: 'kid', id: 'two' } },
        },
      },
      { kid },
    );
    const { runtime, actor } = await started(machine);
    await actor.send(GO);
    await actor.send(GO);
    expect(Object.keys(actor.getSnapshot().children)).toEqual(['two']);
    const live = createActor(machine);
    live.subscribe({ error: (thrown) => expect(String(thrown)).toContain('already exists') });
    live.start();
    live.send(GO);
    live.send(GO);
    expect(live.getSnapshot().status).toBe('error');
    await runtime.stop();
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
  'a context with a `Map` of thousands of entries': async () => {
    const entries = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`row ${at}`, at]));
    const put = (kept: Any) => kept.with?.('row 7', 0) ?? { ...kept, 'row 7': 0 };
    const written = async (kept: unknown) => {
      const store = new CountingStore(memoryStore());
      const change = assign({ kept: ({ context }: Any) => put(context.kept) });
      const machine = plain({ context: { kept }, on: { GO: { actions: change } } });
      const runtime = await testRuntime({ kinds: { machine }, store });
      const actor = await runtime.spawn('machine/1');
      Object.assign(store, { characters: 0, rowsWritten: 0 });
      await actor.send(GO);
      await runtime.stop();
      return store;
    };
    expect(await written(Table.of(entries))).toMatchObject({ rowsWritten: 1 });
    expect((await written(entries)).characters).toBeGreaterThan(JSON.stringify(entries).length);
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
  '`subscribe` and `on` of a child, from anywhere': async () => {
    const { runtime, actor } = await started(
      plain({ invoke: { src: 'kid', id: 'kid' } }, { kid: on(emit({ type: 'CHILD' })) }),
    );
    const { kid } = actor.getSnapshot().children;
    for (const watch of [() => kid.subscribe(() => {}), () => kid.on('*', () => {})])
      expect(watch).toThrow(expect.objectContaining({ code: 'WATCH_REFUSED' }));
    await runtime.stop();
  },
  'a child that throws while it is stopped': async () => {
    const disposing = () => () => {
      throw new Error('dispose');
    };
    const machine = plain(
      {
        initial: 'here',
        states: { here: { invoke: { src: 'kid' }, on: { GO: 'there' } }, there: {} },
      },
      { kid: fromCallback(disposing) },
    );
    const live = createActor(machine);
    live.subscribe({ error: () => {} });
    live.start();
    live.send(GO);
    expect(live.getSnapshot().status).toBe('error');
    const { runtime, actor } = await started(machine);
    await actor.send(GO);
    await runtime.settle();
    expect(actor.getSnapshot()).toMatchObject({ status: 'active', value: 'there' });
    expect(runtime.runtime.undelivered()).toHaveLength(1);
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
