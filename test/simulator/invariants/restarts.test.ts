/** Good and bad histories for what actors go on from: takeovers, torn groups, refused groups. */

import { describe, expect, test } from 'vitest';
import {
  goesOnFromRecord,
  refusedNeverHappened,
  wholeOrAbsent,
} from '../../../simulator/invariants/restarts.ts';
import {
  commit,
  history,
  howOften,
  record,
  type Story,
  started,
  turn,
  whatBroke,
} from './builders.ts';

const J1 = 'job/j1@A';
const J2 = 'job/j2@A';

/** J1 has two turns that were shown, and one that only its record knows of. */
function crashed(): Story {
  return history()
    .add('a-1', started(), commit('A', 1), commit('A', 1, { [J1]: record(2) }))
    .add('a-1', turn(J1), turn(J1, { turn: 2 }), commit('A', 1, { [J1]: record(3) }))
    .add('a-2', started(), commit('A', 2));
}

const goneOn = (turns: number) => commit('A', 2, { [J1]: record(turns) });

describe('MS-6, an actor goes on from its record', () => {
  test.each<[string, Story]>([
    ['turn by turn', crashed().add('a-2', goneOn(5), turn(J1, { turn: 4 }), turn(J1, { turn: 5 }))],
    [
      'what is written without a turn is none',
      crashed().add('a-2', goneOn(3), goneOn(4), turn(J1, { turn: 4 })),
    ],
    [
      'the node before shows late what it had committed',
      crashed()
        .add('a-2', goneOn(4), turn(J1, { turn: 4 }))
        .add('a-1', turn(J1, { turn: 3 })),
    ],
    [
      'a node that loses the lease and gets it again shows nothing of before',
      crashed()
        .add('a-2', goneOn(4), commit('A', 3), commit('A', 3, { [J1]: record(5) }))
        .add('a-2', turn(J1, { turn: 5 })),
    ],
    [
      'an actor that is removed begins again',
      crashed().add('a-2', commit('A', 2, { [J1]: null }), goneOn(1), turn(J1, { turn: 1 })),
    ],
  ])('holds: %s', (_, story) => {
    expect(whatBroke(goesOnFromRecord, story)).toEqual([]);
  });

  test.each<[string, Story]>([
    ['a turn comes twice', crashed().add('a-2', goneOn(4), turn(J1, { turn: 3 }))],
    ['a turn is missing', crashed().add('a-2', goneOn(5), turn(J1, { turn: 5 }))],
    [
      'a turn is missing on one node',
      history().add('a-1', started(), commit('A', 1, { [J1]: record(2) }), turn(J1, { turn: 2 })),
    ],
    ['an older image was served', crashed().add('a-2', goneOn(3), turn(J1, { turn: 3 }))],
  ])('broken: %s', (_, story) => {
    expect(whatBroke(goesOnFromRecord, story)).toHaveLength(1);
  });

  const stateStory = (value: unknown, context: object): Story =>
    history()
      .add('a-1', started(), commit('A', 1, { [J1]: record(1, { snapshot: { value, context } }) }))
      .add('a-1', turn(J1, { state: 'open', context: { a: 1, b: undefined } }))
      .add('a-2', started(), goneOn(2), turn(J1, { turn: 2 }));

  test('the record says what was shown', () => {
    const good = stateStory('open', { a: 1 });
    expect(whatBroke(goesOnFromRecord, good)).toEqual([]);
    expect(howOften(goesOnFromRecord, good)).toBe(2);
    expect(whatBroke(goesOnFromRecord, stateStory('shut', { a: 1 }))).toHaveLength(1);
    expect(whatBroke(goesOnFromRecord, stateStory('open', { a: 2 }))).toHaveLength(1);
    expect(whatBroke(goesOnFromRecord, stateStory({ open: 'wide' }, { a: 1 }))).toHaveLength(1);
  });
});

describe('MS-7, records of a torn group are old or new', () => {
  /** The node dies in a group of two, of which the first was written. */
  const torn = () =>
    history()
      .add('a-1', started(), commit('A', 1, { [J1]: record(1), [J2]: record(1) }))
      .add('a-1', turn(J1), turn(J2))
      .add('a-1', commit('A', 1, { [J1]: record(3) }, { change: 'split', addresses: [J1, J2] }))
      .add('a-1', started(2), commit('A', 2));
  const next = (one: number, two: number) =>
    torn()
      .add('a-1', commit('A', 2, { [J1]: record(one), [J2]: record(two) }))
      .add('a-1', turn(J1, { turn: one }), turn(J2, { turn: two }));

  test('holds when one goes on from the new and the other from the old', () => {
    expect(whatBroke(wholeOrAbsent, next(4, 2))).toEqual([]);
    expect(howOften(wholeOrAbsent, next(4, 2))).toBe(2);
  });

  test.each([
    ['the first goes on from the old', 2, 2],
    ['the first goes on from between', 3, 2],
    ['the second goes on from the new', 4, 4],
  ])('broken: %s', (_, one, two) => {
    expect(whatBroke(wholeOrAbsent, next(one, two))).toHaveLength(1);
  });

  test('broken: half a record', () => {
    const half = record(3).slice(0, 40);
    const story = history().add(
      'a-1',
      commit('A', 1, { [J1]: half }, { change: 'split', addresses: [J1] }),
    );
    expect(whatBroke(wholeOrAbsent, story)).toEqual([`The record of ${J1} is torn.`]);
  });

  test('holds after a group that was lost whole', () => {
    const story = history()
      .add('a-1', started(), commit('A', 1, { [J1]: record(1) }), turn(J1))
      .add('a-1', commit('A', 1, {}, { change: 'lost', addresses: [J1] }), started(2))
      .add('a-1', commit('A', 2, { [J1]: record(2) }), turn(J1, { turn: 2 }));
    expect(whatBroke(wholeOrAbsent, story)).toEqual([]);
    expect(howOften(wholeOrAbsent, story)).toBe(1);
  });
});

describe('MS-12, a refused group never happened', () => {
  const refused = () =>
    history()
      .add('a-1', started(), commit('A', 1, { [J1]: record(4) }))
      .add('a-1', ...[1, 2, 3].map((number) => turn(J1, { turn: number })))
      .add('a-1', commit('A', 1, {}, { change: 'refused', addresses: [J1], error: 'full' }));
  const written = (turns: number) => commit('A', 1, { [J1]: record(turns) });

  test('holds when the next turn is the one after the record', () => {
    const story = refused().add('a-1', turn(J1, { turn: 4 }), written(5), turn(J1, { turn: 5 }));
    expect(whatBroke(refusedNeverHappened, story)).toEqual([]);
    expect(howOften(refusedNeverHappened, story)).toBe(1);
  });

  test('broken when the actor was kept in memory', () => {
    const story = refused().add('a-1', turn(J1, { turn: 4 }), written(7), turn(J1, { turn: 7 }));
    expect(whatBroke(refusedNeverHappened, story)).toHaveLength(1);
  });

  test('is over when somebody else has taken the place', () => {
    const story = refused().add('a-2', started(), commit('A', 2, { [J1]: record(7) }));
    story.add('a-2', turn(J1, { turn: 7 }));
    expect(whatBroke(refusedNeverHappened, story)).toEqual([]);
    expect(howOften(refusedNeverHappened, story)).toBe(0);
  });

  test('broken when a newborn of a refused group lives on', () => {
    const story = history().add('a-1', started(), commit('A', 1));
    story.add('a-1', commit('A', 1, {}, { change: 'refused', addresses: [J1] }));
    story.add('a-1', written(2), turn(J1, { turn: 2 }));
    expect(whatBroke(refusedNeverHappened, story)).toHaveLength(1);
  });
});
