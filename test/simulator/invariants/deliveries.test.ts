/** Good and bad histories of messages on their way: taken, waiting, given up, or lost. */

import { describe, expect, test } from 'vitest';
import { nothingIsLost } from '../../../simulator/invariants/deliveries.ts';
import {
  actor,
  commit,
  fault,
  history,
  howOften,
  record,
  type Story,
  sent,
  started,
  turn,
  undelivered,
  whatBroke,
  without,
} from './builders.ts';

const J1 = 'job/j1@A';
const J2 = 'job/j2@B';

describe('MS-1, nothing is lost', () => {
  const waiting = (counter: number) =>
    record(1, { counter, outbox: [[counter, J2, { type: 'told' }]] });
  const settled = (counter: number) => record(1, { counter });

  /** J1 sends one message, and its outbox is empty at the end. */
  function sending(): Story {
    return history()
      .add('b-1', started(), commit('B', 1), commit('B', 1, { [J2]: record(1) }), turn(J2))
      .add('a-1', started(), commit('A', 1), commit('A', 1, { [J1]: waiting(1) }))
      .add('a-1', turn(J1), sent(J1, 1, J2));
  }

  const taken = () => turn(J2, { turn: 2, from: J1, counter: 1 });
  const emptied = () => commit('A', 1, { [J1]: settled(1) });

  test.each<[string, Story]>([
    ['it was taken', sending().add('b-1', taken()).add('a-1', emptied())],
    ['it waits', sending()],
    ['it was given up', sending().add('a-1', emptied(), undelivered(J2))],
    [
      'its sender took the refusal',
      sending().add(
        'a-1',
        emptied(),
        turn(J1, { turn: 2, event: { type: 'message.refused', to: J2 } as never }),
      ),
    ],
    [
      'it was taken in a turn that nobody saw',
      sending()
        .add('b-1', commit('B', 1, { [J2]: record(2, { inbox: { [J1]: [1, 0] } }) }))
        .add('a-1', emptied()),
    ],
    ['its place has lost its disk', sending().add('', fault('diskLost', { place: 'A' }))],
    ['its place keeps nothing', history().add('w-1', sent('run/1@w-1', 1, J2))],
    [
      'it was to give birth to somebody who is there',
      history()
        .add('a-1', started(), commit('A', 1, { [J1]: settled(1) }), actor('job/j3@A', 'born'))
        .add('a-1', turn(J1), sent(J1, 1, 'job/j3@A', { type: 'escapement.spawn' })),
    ],
  ])('holds: %s', (_, story) => {
    expect(whatBroke(nothingIsLost, story)).toEqual([]);
  });

  test('broken: it has left the outbox, and nobody has it', () => {
    const good = sending().add('b-1', taken()).add('a-1', emptied());
    expect(howOften(nothingIsLost, good)).toBe(1);
    const lost = without(good, (one) => one.type === 'turn' && one.counter === 1);
    expect(whatBroke(nothingIsLost, lost)).toEqual([expect.stringContaining('is gone')]);
  });

  test('broken: it was taken by somebody else', () => {
    const story = sending().add('b-1', turn('job/j4@B', { from: J1, counter: 1 }));
    expect(whatBroke(nothingIsLost, story.add('a-1', emptied()))).toHaveLength(1);
  });

  test('broken: it waits in a quiet cluster', () => {
    const quiet = sending().at(70_000);
    expect(whatBroke(nothingIsLost, quiet)).toEqual([expect.stringContaining('has waited')]);
    const faulty = { isFaultFree: false };
    expect(whatBroke(nothingIsLost, quiet, faulty)).toEqual([]);
    expect(whatBroke(nothingIsLost, quiet, { ...faulty, healedAtMs: 0 })).toHaveLength(1);
    expect(whatBroke(nothingIsLost, quiet, { ...faulty, healedAtMs: 60_000 })).toEqual([]);
    expect(whatBroke(nothingIsLost, quiet, { ...faulty, healedAtMs: 0, core: ['a-1'] })).toEqual(
      [],
    );
  });
});
