/** Mutants: operators change what they say, tests find them, and for those that live the search has a test. */

import { expect, test } from 'vitest';
import { Suite } from '../../testing/model/suite.ts';
import { scoreOf } from '../../testing/mutants/mutation-score.ts';
import { mutantsOf, OPERATORS } from '../../testing/mutants/operators.ts';
import { expectedOf, killedAfter } from '../../testing/mutants/score.ts';
import { doorMachine } from './door.ts';

test('the mutants of a machine are the same every time, and each differs from it in its definition or its names', () => {
  const ids = mutantsOf(doorMachine).map(({ id }) => id);
  expect(mutantsOf(doorMachine).map(({ id }) => id)).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  const used = new Set(mutantsOf(doorMachine).map(({ operator }) => operator));
  const without = Object.keys(OPERATORS).filter((operator) => !used.has(operator));
  // Operators for which the door has no place.
  expect(without.sort()).toEqual(['entryDropped', 'historyChanged', 'orderSwapped']);
});

test('tests of a door kill all its mutants, those of time too', async () => {
  const suite = new Suite(doorMachine);
  const score = await scoreOf(doorMachine, suite.samples, [...suite.cases(2_000)]);
  expect(score.survivors).toEqual([]);
  expect(score.equivalent).toEqual([]);
  expect(score.killed).toBe(score.mutants);
});

test('shortest paths alone leave mutants alive, and the search has the test for each', async () => {
  const suite = new Suite(doorMachine);
  const ways = [...suite.graph.situations.values()].map(({ input, way }) => ({
    input,
    title: 'way',
    steps: way,
  }));
  const { survivors, killable } = await scoreOf(doorMachine, suite.samples, ways);
  expect(survivors.length).toBeGreaterThan(5);
  for (const { mutant: id, test: killing } of survivors) {
    const mutant = mutantsOf(doorMachine).find((one) => one.id === id);
    const expected = expectedOf(doorMachine, suite.samples, [killing], 'full');
    expect(mutant && killedAfter(mutant, suite.samples, expected, 'full'), id).toBeDefined();
  }
  expect(killable).toBe(mutantsOf(doorMachine).length);
});
