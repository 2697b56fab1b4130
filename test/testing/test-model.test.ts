/** Test models in the shape of `@xstate/test`: paths with executors, deadlines and outcomes of promises among them. */

import { expect, test } from 'vitest';
import { createTestModel } from '../../testing/model/test-model.ts';
import { doorMachine } from './door.ts';

test('shortest paths reach every situation, and call executors of events and checks of states', async () => {
  const model = createTestModel(doorMachine);
  const seen = new Set<string>();
  const done = new Set<string>();
  for (const path of model.getShortestPaths())
    await path.test({
      events: { '*': ({ event }) => void done.add(event.type) },
      states: {
        open: () => void seen.add('open'),
        '#door.gone': () => void seen.add('gone'),
        '*': (state) => void seen.add(JSON.stringify(state.value)),
      },
    });
  expect([...seen].sort()).toEqual(
    ['"closed"', '"gone"', '"locked"', '"open"', '"paid"', 'gone', 'open'].sort(),
  );
  expect([...done].sort()).toContain('after.door.locked.abandoned');
});

test('transition paths have deadlines and what promises come to', () => {
  const types = createTestModel(doorMachine)
    .getTransitionPaths()
    .flatMap(({ steps }) => steps.map(({ event }) => event.type));
  expect(new Set(types)).toEqual(
    new Set([
      ...['push', 'pay', 'lock', 'unlock', 'done.0.door.paid', 'error.0.door.paid'],
      ...['after.door.open.closing', 'after.door.locked.abandoned'],
    ]),
  );
});

test('an event without an executor is an error that names it', async () => {
  const [path] = createTestModel(doorMachine).getPathsFromEvents([{ type: 'push' }]);
  await expect(path?.test({})).rejects.toThrow('"push"');
});
