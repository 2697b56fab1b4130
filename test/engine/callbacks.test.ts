/** Callbacks and observables that throw when they are told something or are stopped, and references that are watched. */

import { describe, expect, test } from 'vitest';
import { createActor, fromCallback, fromObservable, sendTo, setup } from 'xstate';
import { testRuntime } from '../../simulator/testing.ts';
import { codeOf } from './outcomes.ts';

type Where = 'receive' | 'dispose' | 'unsubscribe';
type On = 'handled' | 'unhandled';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: { readonly error?: string; readonly stack?: string; readonly child?: string };
}

/** `on` runs a child that fails; `elsewhere` is where it is no more. */
function machineThat(where: Where, on: On) {
  const fails = (): never => {
    throw new Error(`it failed in ${where}`);
  };
  const callback = fromCallback(({ receive }) => {
    receive(() => {
      if (where === 'receive') fails();
    });
    return () => {
      if (where === 'dispose') fails();
    };
  });
  const observable = fromObservable(() => ({
    subscribe: () => ({ unsubscribe: fails }),
  }));
  return setup({
    types: { events: {} as { type: 'tell' } | { type: 'leave' } | { type: 'idle' } },
    actors: { child: (where === 'unsubscribe' ? observable : callback) as typeof callback },
  }).createMachine({
    initial: 'on',
    ...(on === 'handled' && { on: { 'xstate.error.actor.cb': '.failed' } as object }),
    states: {
      on: {
        invoke: { id: 'cb', src: 'child' },
        on: { tell: { actions: sendTo('cb', { type: 'told' }) }, leave: 'elsewhere' },
      },
      elsewhere: { on: { idle: {} } },
      failed: {},
    },
  });
}

async function open(where: Where, on: On, onFailure: 'skip' | 'stop' = 'skip') {
  const lines: Line[] = [];
  const log =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields });
  const machine = machineThat(where, on);
  const rt = await testRuntime({
    kinds: { machine },
    options: { machine: { supervise: { onFailure } } },
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  });
  const actor = await rt.spawn('machine/1');
  const play = async (...types: Array<'tell' | 'leave'>) => {
    for (const type of types) await actor.send({ type });
    await rt.settle();
  };
  const told = () => lines.filter(({ level }) => level === 'error' || level === 'warn');
  return { rt, actor, machine, play, told };
}

/** The state under XState's own `createActor`; `error` of an actor that it ended. */
function stateUnderXstate(where: Where, on: On): unknown {
  const live = createActor(machineThat(where, on));
  live.subscribe({ error: () => {} });
  live.start();
  live.send({ type: where === 'receive' ? 'tell' : 'leave' });
  const { status, value } = live.getSnapshot();
  return (status as string) === 'error' ? 'error' : value;
}

describe.each<Where>(['dispose', 'unsubscribe'])('a child that throws in %s', (where) => {
  test('is logged with its stack and counted, and its parent hears of it as under XState', async () => {
    const { rt, actor, play, told } = await open(where, 'handled');
    await play('leave');
    expect(actor.getSnapshot().value).toBe('failed');
    expect(stateUnderXstate(where, 'handled')).toBe('failed');
    expect(told()).toMatchObject([
      {
        level: 'error',
        message: 'a child failed while it was stopped',
        fields: { child: 'cb', stack: expect.stringContaining('callbacks.test.ts') },
      },
    ]);
    expect(rt.runtime.metrics()).toMatchObject({ childStopsFailed: 1, turnsFailed: 0 });
  });

  test('fails a turn of a parent that does not handle it, where XState ends the parent', async () => {
    const { rt, actor, play, told } = await open(where, 'unhandled');
    await play('leave');
    expect(stateUnderXstate(where, 'unhandled')).toBe('error');
    expect(actor.getSnapshot()).toMatchObject({ value: 'elsewhere', status: 'active' });
    expect(rt.runtime.metrics()).toMatchObject({ childStopsFailed: 1, turnsFailed: 1 });
    expect(told().map(({ message }) => message)).toEqual([
      'a child failed while it was stopped',
      'a turn failed',
    ]);
    for (const { fields } of told()) expect(fields.stack).toContain('callbacks.test.ts');
    expect(rt.runtime.undelivered()).toMatchObject([
      { to: 'machine/1@test', event: { error: `it failed in ${where}` } },
    ]);
  });

  test('stops a parent that is to be stopped by failures', async () => {
    const { actor, play } = await open(where, 'unhandled', 'stop');
    await play('leave');
    expect(actor.getSnapshot().status).toBe('error');
  });

  test('is logged when its node stops, and keeps nobody from stopping', async () => {
    const { rt, told } = await open(where, 'unhandled');
    await rt.stop();
    expect(told().map(({ message }) => message)).toEqual(['a child failed while it was stopped']);
  });
});

describe('a callback that throws in receive', () => {
  test('is an error of the child, as under XState', async () => {
    const { actor, play, rt } = await open('receive', 'handled');
    await play('tell');
    expect(actor.getSnapshot().value).toBe('failed');
    expect(stateUnderXstate('receive', 'handled')).toBe('failed');
    expect(rt.runtime.undelivered()).toEqual([]);
  });

  test('is logged with its stack, counted and run again where nobody handles it', async () => {
    const { rt, actor, play, told } = await open('receive', 'unhandled');
    await play('tell');
    expect(stateUnderXstate('receive', 'unhandled')).toBe('error');
    expect(told()).toMatchObject([
      {
        message: 'a child failed and is run again',
        fields: { child: 'cb', stack: expect.stringContaining('callbacks.test.ts') },
      },
    ]);
    expect(rt.runtime.metrics()).toMatchObject({ childrenRetried: 1, turnsFailed: 1 });
    expect(await rt.explain('machine/1')).toContain('"cb" has failed 1 times');
    await rt.advance('10s');
    expect(await rt.explain('machine/1')).toContain('"cb" (child) runs');
    expect(actor.getSnapshot().status).toBe('active');
  });
});

describe('a reference inside an actor', () => {
  const kid = setup({}).createMachine({ on: { up: {} } });

  test('is not watched, neither by an action nor from outside', async () => {
    const seen: unknown[] = [];
    const attempt = (watch: () => unknown): void => {
      try {
        watch();
        seen.push('watched');
      } catch (thrown) {
        seen.push((thrown as { code?: string }).code);
      }
    };
    type Ref = {
      subscribe(next: () => void): unknown;
      on(type: string, next: () => void): unknown;
    };
    const watchBoth = (ref: unknown): void => {
      attempt(() => (ref as Ref).subscribe(() => {}));
      attempt(() => (ref as Ref).on('*', () => {}));
    };
    const parent = setup({
      types: { events: {} as { type: 'watch' } },
      actors: { kid },
    }).createMachine({
      invoke: { id: 'kid', src: 'kid', systemId: 'kid' },
      on: {
        watch: {
          actions: ({ system }) => {
            watchBoth(system.get('kid'));
            watchBoth(system.get('kid')._parent);
          },
        },
      },
    });
    const rt = await testRuntime({ kinds: { parent } });
    const actor = await rt.spawn('parent/1');
    expect(await codeOf(actor.send({ type: 'watch' }))).toBe('taken');
    watchBoth(actor.getSnapshot().children.kid);
    await rt.crash();
    watchBoth(actor.getSnapshot().children.kid);
    expect(seen).toEqual(Array.from({ length: 8 }, () => 'WATCH_REFUSED'));
  });
});
