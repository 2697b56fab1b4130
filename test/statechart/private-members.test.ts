/**
 * The parts of XState that are not promised to anybody and that the seam relies on.
 *
 * After an upgrade of xstate this file says what has moved. Then read the statechart and
 * xstate files in runtime/ against the new source, and run the differential test long.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type AnyStateMachine,
  and,
  assign,
  createActor,
  createMachine,
  enqueueActions,
  raise,
  sendTo,
  spawnChild,
  stopChild,
} from 'xstate';
import { checkXStateVersion } from '../../runtime/statechart/xstate-versions.ts';
import { ROOT } from '../project-files.ts';

// biome-ignore lint/suspicious/noExplicitAny: what is private has no types.
type Inside = any;

const inside = (value: unknown): Inside => value;

describe('xstate', () => {
  test('is the copy that these tests are to run on, of a version that is supported', () => {
    const folder = process.env.ESCAPEMENT_TEST_XSTATE ?? join(ROOT, 'node_modules', 'xstate');
    expect(createRequire(import.meta.url)(folder).createActor).toBe(createActor);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    // Of one outside of the range the rest of this file says whether it may become its end.
    if (process.env.ESCAPEMENT_TRY_XSTATE !== version) checkXStateVersion(version);
  });
});

/** A child actor as the host meets it: built by XState on a system that only takes notes. */
function meet(logic: AnyStateMachine, onActor: (actor: Inside) => void = () => {}) {
  const calls: string[] = [];
  const system = {
    scheduler: { cancelAll: () => calls.push('cancelAll'), schedule() {}, cancel() {} },
    _bookId: () => 'x:7',
    _register: () => calls.push('_register'),
    _unregister: () => calls.push('_unregister'),
    _set: () => calls.push('_set'),
    _relay: (_: unknown, __: unknown, event: { type: string }) =>
      calls.push(`_relay ${event.type}`),
    _sendInspectionEvent: (event: { type: string; actorRef: Inside }) => {
      if (event.type === '@xstate.actor') onActor(event.actorRef);
    },
  };
  const options = { parent: { system }, id: 'c', src: 'name', systemId: 'key' };
  const actor = inside(createActor(logic, options as never));
  return { actor, calls };
}

describe('an actor', () => {
  const machine = createMachine({
    entry: ['act', raise({ type: 'LATE' }, { delay: 5 })],
    initial: 'a',
    states: { a: { on: { END: 'z' } }, z: { type: 'final' } },
  });

  test('takes its system from its parent and its session from _bookId', () => {
    const { actor } = meet(machine);
    expect(actor).toMatchObject({ id: 'c', src: 'name', sessionId: 'x:7' });
    expect(Object.keys(actor)).toEqual(
      expect.arrayContaining(['_parent', '_deferred', '_actorScope', 'logic', 'logger', 'system']),
    );
    expect(actor['_parent']).toHaveProperty('system', actor['system']);
  });

  test('is announced before it takes its first state, so that its logic can be replaced', () => {
    const other = createMachine({ initial: 'other', states: { other: {} } });
    const { actor } = meet(machine, (announced) => {
      expect(announced['_snapshot']).toBeUndefined();
      expect(announced['src']).toBe('name');
      Object.assign(announced, { logic: other });
    });
    expect(actor['getSnapshot']()).toHaveProperty('value', 'other');
  });

  test('asks its scope for everything, and waits with it until it runs', () => {
    const executed: string[] = [];
    const { actor, calls } = meet(machine, (announced) => {
      const scope = inside(announced['_actorScope']);
      expect(Object.keys(scope).sort()).toEqual(
        [
          'self',
          'id',
          'sessionId',
          'logger',
          'defer',
          'system',
          'stopChild',
          'emit',
          'actionExecutor',
        ].sort(),
      );
      Object.assign(scope, {
        actionExecutor: (action: { type: string }) =>
          inside(announced['_deferred'])['push'](() => executed.push(action.type)),
      });
    });
    expect(executed).toEqual([]);
    actor['start']();
    expect(executed).toEqual(['act', 'xstate.raise']);
    expect(calls).toEqual(['_set', '_register', '_set']);
  });

  test('is not started 0, running 1, stopped 2; drops its timers and its names at the end, then tells its parent', () => {
    const { actor, calls } = meet(machine);
    expect(actor['_processingStatus']).toBe(0);
    actor['start']();
    expect(actor['_processingStatus']).toBe(1);
    calls.length = 0;
    actor['_send']({ type: 'END' });
    expect(actor['_processingStatus']).toBe(2);
    expect(calls).toEqual(['cancelAll', '_unregister', '_relay xstate.done.actor.c']);
    expect(meet(machine).actor['_stop']()).toHaveProperty('_processingStatus', 2);
  });

  test('catches what its logic throws at birth and at restore', () => {
    const broken = createMachine({}).provide({});
    broken.restoreSnapshot = () => {
      throw new Error('broken');
    };
    const options = { parent: { system: inside(meet(machine).actor['system']) }, snapshot: {} };
    expect(createActor(broken, options as never).getSnapshot().status).toBe('error');
  });
});

describe('a machine', () => {
  const machine = createMachine({
    id: 'm',
    initial: 'a',
    states: {
      a: {
        entry: 'in',
        exit: 'out',
        always: { guard: () => false },
        on: { E: 'b' },
        after: { 5: 'b' },
      },
      b: { type: 'parallel', states: { x: {}, h: { type: 'history' } } },
    },
  });

  test('is made again by provide, with methods of its own that can be replaced', () => {
    const copy = machine.provide({});
    expect(copy).not.toBe(machine);
    expect(copy.root).not.toBe(machine.root);
    for (const method of ['transition', 'getInitialSnapshot', 'restoreSnapshot', 'start']) {
      expect(Object.hasOwn(copy, method)).toBe(true);
    }
    expect(machine).toHaveProperty('__xstatenode', true);
    expect(copy.options).toEqual({ maxIterations: Number.POSITIVE_INFINITY });
  });

  test('takes nodes of its own for what its history states remember', () => {
    const machine = createMachine({
      id: 'a.b',
      initial: 's',
      states: { s: {}, h: { type: 'history' } },
    });
    const node = inside(machine).root.states.s;
    const stored = { ...machine.resolveState({ value: 's' }), historyValue: { 'a.b.h': [node] } };
    const restored = inside(machine).restoreSnapshot(stored, {});
    expect(restored.historyValue['a.b.h']).toEqual([node]);
    expect([node.id, node.path]).toEqual(['a.b.s', ['s']]);
  });

  test('keeps in its nodes what the copy changes', () => {
    const copy = inside(machine.provide({}));
    const a = inside(inside(inside(copy['root'])['states'])['a']);
    expect(a).toMatchObject({ key: 'a', type: 'atomic', always: [{ actions: [] }] });
    expect(inside(a['entry'])).toHaveLength(2);
    expect(inside(a['exit'])).toHaveLength(2);
    expect([...(a['transitions'] as Map<string, unknown>).keys()]).toEqual([
      'E',
      'xstate.after.5.m.a',
    ]);
    expect(inside(copy['root'])['initial']).toMatchObject({ actions: [] });
    expect(inside(copy['implementations'])).toMatchObject({ actions: {}, delays: {}, actors: {} });
  });

  test('hands its birth event to _getPreInitialState and each other event to getTransitionData', () => {
    const copy = machine.provide({});
    const seen: string[] = [];
    for (const [method, index] of [
      ['_getPreInitialState', 1],
      ['getTransitionData', 1],
    ] as const) {
      const original = inside(copy)[method]?.bind(copy);
      Object.assign(copy, {
        [method]: (...args: Array<{ type: string }>) => {
          seen.push(`${method} ${args[index]?.type}`);
          return original?.(...args);
        },
      });
    }
    createActor(copy).start().send({ type: 'E' });
    expect(seen).toEqual(['_getPreInitialState xstate.init', 'getTransitionData E']);
  });

  test('replaces the action executor of its scope during a microstep and puts it back', () => {
    const used: unknown[] = [];
    const system = { _sendInspectionEvent() {} };
    const executor = () => used.push(scope.actionExecutor);
    const scope = { self: { system }, system, actionExecutor: executor };
    const snapshot = machine.getInitialSnapshot(scope as never);
    machine.transition(snapshot, { type: 'E' }, scope as never);
    expect(used.length).toBeGreaterThan(0);
    expect(used).not.toContain(executor);
    expect(scope.actionExecutor).toBe(executor);
  });

  test('says of a cycle what the seam looks for', () => {
    const cycle = createMachine({
      options: { maxIterations: 5 },
      on: { E: { actions: raise({ type: 'E' }) } },
    });
    const actor = createActor(cycle);
    let error: unknown;
    actor.subscribe({
      error: (thrown) => {
        error = thrown;
      },
    });
    actor.start().send({ type: 'E' });
    expect(String(error)).toMatch(/^Error: Infinite loop detected/);
  });
});

describe("XState's own actions", () => {
  test('are functions that carry what they do', () => {
    const shape = (action: unknown) => Object.keys(action as object).sort();
    expect(shape(raise({ type: 'E' }))).toEqual([
      'delay',
      'event',
      'execute',
      'id',
      'resolve',
      'type',
    ]);
    expect(shape(sendTo('c', { type: 'E' }))).toEqual([
      'delay',
      'event',
      'execute',
      'id',
      'resolve',
      'retryResolve',
      'to',
      'type',
    ]);
    expect(shape(spawnChild('c' as never))).toEqual([
      'execute',
      'id',
      'input',
      'resolve',
      'src',
      'syncSnapshot',
      'systemId',
      'type',
    ]);
    expect(shape(stopChild('c'))).toEqual(['actorRef', 'execute', 'resolve', 'type']);
    expect(shape(enqueueActions(() => {}))).toEqual(['collect', 'resolve', 'type']);
    expect(shape(assign({}))).toEqual(['assignment', 'resolve', 'type']);
    expect(shape(and([]))).toEqual(['check', 'guards']);
  });

  test('are called by the names that the host knows', () => {
    const types = [
      raise({ type: 'E' }),
      sendTo('c', { type: 'E' }),
      spawnChild('c' as never),
      enqueueActions(() => {}),
    ];
    expect(types.map((action) => inside(action)['type'])).toEqual([
      'xstate.raise',
      'xstate.sendTo',
      'xstate.spawnChild',
      'xstate.enqueueActions',
    ]);
  });
});
