/** Sites of mutants: a test that enters none of the changed states does the same to a mutant as to its machine. */

import { expect, test } from 'vitest';
import { notingCopy } from '../../testing/model/noting.ts';
import { samplesFor } from '../../testing/model/samples.ts';
import { Subject } from '../../testing/model/subject.ts';
import { Suite } from '../../testing/model/suite.ts';
import { mutantsOf } from '../../testing/mutants/operators.ts';
import { expectedOf, killedAfter } from '../../testing/mutants/score.ts';
import { killingTest } from '../../testing/mutants/search.ts';
import { mayShow, searchedStates, siteOf } from '../../testing/mutants/site.ts';
import { doorMachine } from './door.ts';

const samples = samplesFor(doorMachine);
const mutants = mutantsOf(doorMachine);

test('what kills a mutant enters a state in which it differs', () => {
  const { noting, found } = notingCopy(doorMachine);
  const subject = new Subject(noting);
  let skipped = 0;
  for (const one of new Suite(doorMachine).cases(400)) {
    found.hits.clear();
    subject.begin(samples.inputs[one.input]);
    for (const step of one.steps) subject.perform(step);
    const entered = new Set(found.hits.keys());
    const expected = expectedOf(doorMachine, samples, [one], 'full');
    for (const mutant of mutants) {
      if (mayShow(siteOf(doorMachine, mutant), entered)) continue;
      skipped += 1;
      expect([mutant.id, killedAfter(mutant, samples, expected, 'full')]).toEqual([
        mutant.id,
        undefined,
      ]);
    }
  }
  expect(skipped).toBeGreaterThan(100);
});

test('a search that enters no such state finds nothing', () => {
  const bound = { stepsMax: 6 };
  const searched = searchedStates(doorMachine, samples, bound);
  expect(searched).toEqual(new Set(['door', 'door.closed', 'door.open', 'door.locked']));
  const unseen = mutants.filter((mutant) => !mayShow(siteOf(doorMachine, mutant), searched));
  expect(unseen.length).toBeGreaterThan(3);
  for (const mutant of unseen)
    expect(killingTest(doorMachine, mutant, samples, bound)).toBe(undefined);
});

test('a change to what several states share has no site', () => {
  const shared = mutants.filter((mutant) => siteOf(doorMachine, mutant) === undefined);
  expect([...new Set(shared.map(({ operator }) => operator))].sort()).toEqual([
    'delayDoubled',
    'delayLonger',
    'delayShorter',
  ]);
});
