/** Two children under one id: a rehearsal sees the one whose id was taken as well, with its deadlines. */

import { expect, test } from 'vitest';
import { type AnyStateMachine, setup } from 'xstate';
import { linesOf, rehearseUpgrade, stored } from './releases.ts';

const kid = (waiting: string): AnyStateMachine =>
  setup({}).createMachine({
    id: 'kid',
    initial: waiting,
    states: { [waiting]: { after: { 3600000: 'over' } }, over: {} },
  }) as never;

function parent(waiting: string): { parent: AnyStateMachine } {
  const region = { initial: 'on', states: { on: { invoke: { src: 'kid', id: 'kid' } } } };
  const config = {
    id: 'parent',
    type: 'parallel',
    states: { one: region, two: region },
    on: { go: {} },
  };
  const machine = setup({ actors: { kid: kid(waiting) } }).createMachine(config as never);
  return { parent: machine as never };
}

async function rehearsed(next: { parent: AnyStateMachine }): Promise<string[]> {
  const old = parent('waiting');
  const lines = linesOf(rehearseUpgrade(await stored(old, { 'parent/1': ['go'] }), old, next));
  return lines.filter((line) => !line.includes(' version-not-raised '));
}

test('the same machines hold', async () => {
  expect(await rehearsed(parent('waiting'))).toEqual([]);
});

test('a renamed state of both is named', async () => {
  expect(await rehearsed(parent('idle'))).toEqual([
    'parent state-gone 1 The machine has no state "kid:waiting", "kid:waiting"',
  ]);
});
