/**
 * Traps of stored state: what must survive the text, what must not happen again, and
 * what a record may say that the machine cannot be.
 */

import { describe, expect, test } from 'vitest';
import { assign, emit, fromPromise, sendParent, sendTo, spawnChild } from 'xstate';
import type { Any } from './reference-cases.ts';
import { codeOf, type Loose, machineOf, Stepper, see } from './stepping.ts';

const leaf = machineOf({
  id: 'leaf',
  context: { seen: [] },
  entry: [sendParent({ type: 'BORN' }), emit({ type: 'born' }), 'enterLeaf'],
  initial: 'a',
  states: {
    a: { after: { 9: 'b' }, on: { PING: { actions: see }, END: 'z' } },
    b: {},
    z: { type: 'final' },
  },
});
const promise = fromPromise(async () => 1);

const machine = machineOf(
  {
    id: 'm',
    context: { seen: [] },
    entry: 'enterRoot',
    initial: 'on',
    on: { BORN: { actions: see } },
    states: {
      on: {
        entry: 'enterOn',
        after: { 100: 'off' },
        invoke: [
          { src: 'leaf', id: 'c', onSnapshot: { actions: see } },
          { src: 'promise', id: 'p' },
        ],
        on: {
          PING: { actions: sendTo('c', { type: 'PING' }) },
          END: { actions: sendTo('c', { type: 'END' }) },
        },
      },
      off: {},
    },
  },
  { leaf, promise },
);

describe('a restored tree', () => {
  test('is where it was and asks for nothing: no entry, no event, no timer, no start', () => {
    const stepper = new Stepper(machine);
    const { text } = stepper;
    stepper.restore();
    expect(stepper.asked).toEqual([]);
    expect(stepper.text).toBe(text);
    expect(stepper.context['seen']).toEqual(['BORN@1', 'xstate.snapshot.c@1']);
  });

  test('does not take a system id for what is below children that have ended', () => {
    // XState leaves its child in the snapshot of a machine that ends in its first step.
    const kid = machineOf(
      {
        invoke: { src: 'below', systemId: 'key' },
        initial: 'z',
        states: { z: { type: 'final' } },
      },
      { below: machineOf({}) },
    );
    const stepper = new Stepper(
      machineOf(
        {
          context: { seen: [] },
          on: {
            A: { actions: spawnChild('kid', { id: 'a' }) },
            B: { actions: spawnChild('kid', { id: 'b' }) },
            KEEP: { actions: spawnChild('leaf', { id: 'c', systemId: 'key' }) },
            PING: {
              actions: sendTo(
                (({ system }: Any) => system.get('key')) as never,
                {
                  type: 'PING',
                } as never,
              ),
            },
          },
        },
        { kid, leaf },
      ),
    );
    stepper.send('A').send('B').send('KEEP').restore().send('PING');
    expect(stepper.child('a')?.status).toBe('done');
    expect(stepper.child('c')?.context.seen).toHaveLength(1);
    stepper.restore().send('PING');
    expect(stepper.child('c')?.context.seen).toHaveLength(2);
  });

  test('ends children in the order in which they were born, those whose id was taken too', () => {
    const busy = (id: string) => ({ invoke: { src: 'promise', id } });
    const fail = (): never => {
      throw new Error('no');
    };
    const failing = machineOf(
      {
        type: 'parallel',
        states: { one: busy('x'), two: busy('x'), three: busy('y') },
        on: { FAIL: { actions: assign(fail) } },
      },
      { promise },
    );
    const parent = machineOf(
      {
        invoke: { src: 'failing', id: 'f', onError: {} },
        on: { FAIL: { actions: sendTo('f', { type: 'FAIL' }) } },
      },
      { failing },
    );
    const [live, restored] = [new Stepper(parent), new Stepper(parent).restore()];
    expect(restored.send('FAIL').asked).toEqual(live.send('FAIL').asked);
    expect(live.asked.filter((asked) => asked.startsWith('stop'))).toHaveLength(3);
  });

  test('goes on like the one it was made from', () => {
    const [live, restored] = [new Stepper(machine), new Stepper(machine).restore()];
    for (const type of ['PING', 'END']) {
      expect(restored.send(type).asked).toEqual(live.send(type).asked);
      expect(restored.text).toBe(live.text);
    }
  });

  test('keeps the numbers of its children, and never gives one away twice', () => {
    const stepper = new Stepper(machine).send('END').restore();
    expect(stepper.tree.sessions()).toEqual({ sessions: { p: 2 }, booked: 2 });
    expect(stepper.restore().restore().tree.sessions()?.booked).toBe(2);
  });

  test('does not bring back the children of a machine that has ended', () => {
    const ended = machineOf(
      {
        initial: 'on',
        states: {
          on: {
            invoke: [
              { src: 'leaf', id: 'c' },
              { src: 'promise', id: 'p' },
            ],
            on: { END: 'z' },
          },
          z: { type: 'final' },
        },
      },
      { leaf, promise },
    );
    const stepper = new Stepper(ended).send('END').restore();
    expect(stepper.status).toBe('done');
    expect(stepper.tree.hasChildren).toBe(false);
    expect(stepper.tree.runningChildren()).toEqual([]);
  });

  test('remembers history, shallow and deep', () => {
    const historic = machineOf({
      initial: 'on',
      states: {
        on: {
          initial: 'x',
          states: {
            x: { on: { NEXT: 'y' } },
            y: { initial: 'y1', states: { y1: { on: { NEXT: 'y2' } }, y2: {} } },
            shallow: { type: 'history' },
            deep: { type: 'history', history: 'deep' },
          },
          on: { OFF: 'off' },
        },
        off: { on: { SHALLOW: 'on.shallow', DEEP: 'on.deep' } },
      },
    });
    const stepper = new Stepper(historic).send('NEXT').send('NEXT').send('OFF').restore();
    expect(stepper.send('DEEP').value).toEqual({ on: { y: 'y2' } });
    expect(stepper.send('OFF').restore().send('SHALLOW').value).toEqual({ on: { y: 'y1' } });
  });

  test('finds the actors in its context again, and forgets those that are gone', () => {
    const keeper = machineOf(
      {
        context: ({ spawn }: { spawn: (src: string, options: Loose) => unknown }) => ({
          nested: [{ ref: spawn('leaf', { id: 'l' }) }],
          gone: null,
        }),
        on: {
          GONE: { actions: assign({ gone: ({ context }) => context['nested'][0].ref }) },
          PING: { actions: sendTo(({ context }) => context['nested'][0].ref, { type: 'PING' }) },
        },
      },
      { leaf },
    );
    const stepper = new Stepper(keeper).restore().send('PING');
    expect(stepper.child('l')?.context['seen']).toEqual(['PING@2']);
  });

  test('without numbers for its children gives them new ones', () => {
    const { snapshot } = JSON.parse(new Stepper(machine).text);
    const stepper = new Stepper(machine).restore(JSON.stringify({ snapshot, booked: 7 }));
    expect(stepper.tree.sessions()).toEqual({ sessions: { c: 8, p: 9 }, booked: 9 });
    expect(stepper.send('PING').child('c')?.context['seen']).toEqual(['PING@2']);
  });

  test('is not fooled by children named like parts of every object', () => {
    const odd = machineOf(
      {
        on: {
          A: { actions: spawnChild('leaf' as never, { id: 'constructor' } as never) },
          B: { actions: spawnChild('leaf' as never, { id: '__proto__' } as never) },
        },
      },
      { leaf },
    );
    const stepper = new Stepper(odd).send('A').restore(
      JSON.stringify({
        snapshot: JSON.parse(new Stepper(odd).send('A').tree.encode()),
        booked: 1,
      }),
    );
    expect(stepper.tree.sessions()).toEqual({ sessions: { constructor: 2 }, booked: 2 });
    expect(codeOf(() => stepper.send('B'))).toBe('CHILD_UNREGISTERED');
  });

  test('is written small: nothing that is empty or usual', () => {
    const plain = new Stepper(machineOf({ context: { n: 1 }, initial: 'a', states: { a: {} } }));
    expect(plain.tree.encode()).toBe('{"value":"a","context":{"n":1}}');
    expect(plain.tree.sessions()).toBeUndefined();
    expect(plain.restore().tree.encode()).toBe('{"value":"a","context":{"n":1}}');
  });
});

describe('a record that the machine cannot be in is RECORD_INVALID', () => {
  const good = JSON.parse(new Stepper(machine).text) as {
    snapshot: Loose & { children: Record<string, Loose & { snapshot: Loose }> };
  };
  const { children } = good.snapshot;
  const nested = machineOf({ id: 'n', invoke: { src: 'machine', id: 'below' } }, { machine });
  const chart = new Stepper(machine).chart;
  const above = new Stepper(nested).chart;

  const wrong: Array<[string, Loose]> = [
    ['an unknown state', { value: 'nowhere' }],
    ['a state named like a part of every object', { value: '__proto__' }],
    ['an unknown state below', { value: { on: 'nowhere' } }],
    ['two states at once', { value: { on: {}, off: {} } }],
    ['no state', { value: {} }],
    ['no value', { value: null }],
    ['a number for a value', { value: 5 }],
    ['an unknown status', { status: 'zombie' }],
    ['no context', { context: null }],
    ['children that are none', { children: null }],
    [
      'a child of an unknown source',
      { children: { ...children, x: { ...children['c'], src: 'nobody' } } },
    ],
    ['a child without a snapshot', { children: { c: { src: 'leaf' } } }],
    [
      'a child of an unknown status',
      {
        children: {
          c: { src: 'leaf', snapshot: { ...children['c']?.snapshot, status: 'zombie' } },
        },
      },
    ],
    [
      'a child in an unknown state',
      {
        children: {
          c: { src: 'leaf', snapshot: { ...children['c']?.snapshot, value: 'nowhere' } },
        },
      },
    ],
  ];

  test.each(wrong)('%s', (_, change) => {
    const snapshot = { ...good.snapshot, ...change };
    expect(codeOf(() => chart.restore('a', structuredClone({ ...good, snapshot })))).toBe(
      'RECORD_INVALID',
    );
    // The same one level further down, where XState would only give an actor that is in error.
    const outer = { value: {}, context: {}, children: { below: { src: 'machine', snapshot } } };
    expect(codeOf(() => above.restore('a', structuredClone({ snapshot: outer })))).toBe(
      'RECORD_INVALID',
    );
  });

  test('as is one that failed, and one that is nothing', () => {
    const failed = { ...good.snapshot, status: 'error', children: {} };
    for (const snapshot of [failed, null, 5, 'x', []]) {
      expect(codeOf(() => chart.restore('a', { snapshot }))).toBe('RECORD_INVALID');
    }
  });

  test('but the one they were made from is fine', () => {
    expect(chart.restore('a', structuredClone(good)).snapshot.value).toBe('on');
  });
});
