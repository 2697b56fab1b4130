/** Lint: each rule finds what was planted for it, and says nothing of a machine without faults. */

import { expect, test } from 'vitest';
import { assign, fromPromise, raise, setup } from 'xstate';
import { lint } from '../../testing/lint/lint.ts';
import { doorMachine } from './door.ts';

const work = fromPromise(() => Promise.resolve(1));
const sound = { on: { go: 'b' } } as const;

const PLANTED: Readonly<Record<string, ReturnType<typeof machineOf>>> = {
  'unknown-guard': machineOf({ a: { on: { go: { guard: 'isRead', target: 'b' } } }, b: {} }),
  'unknown-delay': machineOf({ a: { after: { pauze: 'b' } }, b: {} }),
  'unknown-action': machineOf({ a: { entry: 'annonce', ...sound }, b: {} }),
  'unreachable-state': machineOf({ a: sound, b: {}, c: { on: { go: 'a' } } }),
  'losing-transition': machineOf({
    a: { on: { go: [{ target: 'b' }, { guard: 'isReady', target: 'c' }], other: 'c' } },
    b: {},
    c: {},
  }),
  'untaken-event': machineOf({ a: { entry: raise({ type: 'gone' }), ...sound }, b: {} }),
  'lossy-context': machineOf({ a: sound, b: {} }, { since: new Date(0) }),
  'inner-deadline': machineOf({
    a: {
      after: { pause: 'c' },
      initial: 'x',
      states: { x: { on: { go: 'y' }, after: { long: 'y' } }, y: {} },
    },
    c: {},
  }),
  'shadowed-deadline': machineOf({
    a: { after: { pause: 'b', long: 'c' }, on: { go: 'c' } },
    b: {},
    c: {},
  }),
  'retries-over-deadline': machineOf({
    a: {
      after: { long: 'c' },
      initial: 'trying',
      states: {
        trying: { on: { fail: { guard: 'hasTriesLeft', target: 'pausing' } } },
        pausing: { after: { pause: 'trying' } },
      },
    },
    c: {},
  }),
  'uncapped-extension': machineOf({
    a: { on: { go: { target: 'a', reenter: true } }, after: { pause: 'b' } },
    b: {},
  }),
  'untimed-wait': machineOf({ a: { invoke: { src: 'work', onDone: 'b' } }, b: {} }),
  'literal-delay': machineOf({ a: { after: { 500: 'b' } }, b: {} }),
  'inline-effect': machineOf({ a: { entry: () => {}, ...sound }, b: {} }),
};

function machineOf(states: object, context: object = {}) {
  return setup({
    actors: { work },
    actions: { announce: () => {}, count: assign({}) },
    guards: {
      isReady: () => true,
      hasTriesLeft: ({ context: { tries = 0 } }: { context: { tries?: number } }) => tries < 5,
    },
    delays: { pause: 3_000, long: 10_000 },
  }).createMachine({ id: 'm', context, initial: 'a', states } as never);
}

test.each(Object.keys(PLANTED))('%s is found, and nothing else', (rule) => {
  const rules = lint(PLANTED[rule] as never).map((issue) => issue.rule);
  expect(rules).toEqual([rule]);
});

test('a sound machine has no issues but where it waits for a promise without a limit', () => {
  expect(lint(doorMachine).map(({ rule, where }) => `${rule} ${where}`)).toEqual([
    'uncapped-extension door.open on push',
    'untimed-wait door.paid',
  ]);
});

test('a misspelt name comes with the right one', () => {
  expect(lint(PLANTED['unknown-guard'] as never)[0]?.message).toContain('"isReady"');
});
