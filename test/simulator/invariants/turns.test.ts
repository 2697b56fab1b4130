/** Good and bad histories for single turns: after the end, failing, too early, after a pause. */

import { describe, expect, test } from 'vitest';
import { catchesUp } from '../../../simulator/invariants/pauses.ts';
import {
  deadlinesInOrder,
  machinesAreTotal,
  nothingAfterEnd,
  turnsAreFinite,
} from '../../../simulator/invariants/turns.ts';
import {
  actor,
  commit,
  history,
  howOften,
  node,
  record,
  type Story,
  started,
  timers,
  turn,
  whatBroke,
} from './builders.ts';

const J1 = 'job/j1@A';
const FIRST = 'xstate.after.first.job';
const LATER = 'xstate.after.later.job';

const failure = (code: string) => ({ code, message: 'No.', retryable: false }) as never;

describe('RT-1, nothing after the end', () => {
  const lived = () =>
    history().add('a-1', started(), actor(J1, 'born'), turn(J1), timers(J1, {}), actor(J1, 'done'));

  test('holds: an end, and another life', () => {
    const story = lived().add('a-1', actor(J1, 'born'), turn(J1, { turn: 2 }));
    expect(whatBroke(nothingAfterEnd, story)).toEqual([]);
    expect(howOften(nothingAfterEnd, story)).toBe(1);
  });

  test('holds: the end was refused, so that nobody told of it', () => {
    const story = history().add('a-1', started(), actor(J1, 'born'), turn(J1));
    story.add('a-1', commit('A', 1, {}, { change: 'refused', addresses: [J1] }), turn(J1));
    expect(whatBroke(nothingAfterEnd, story)).toEqual([]);
  });

  const endedUnseen = () =>
    history()
      .add('a-1', started(), commit('A', 1, { [J1]: record(2, { status: 'done' }) }))
      .add('a-2', started(), commit('A', 2, { [J1]: record(3) }));

  test('holds: a replaced node shows late how the actor was born and lived', () => {
    const story = history()
      .add('a-1', started(), commit('A', 1, { [J1]: record(1) }))
      .add('a-2', started(), commit('A', 2, { [J1]: record(2, { status: 'done' }) }))
      .add('a-2', turn(J1, { turn: 2 }), timers(J1, {}), actor(J1, 'done'))
      .add('a-1', actor(J1, 'born'), turn(J1));
    expect(whatBroke(nothingAfterEnd, story)).toEqual([]);
    story.add('a-2', commit('A', 2, { [J1]: record(3, { status: 'done' }) }));
    expect(whatBroke(nothingAfterEnd, story.add('a-2', turn(J1, { turn: 3 })))).toHaveLength(1);
  });

  test('holds: born again after an end that nobody saw', () => {
    const story = endedUnseen().add('a-2', actor(J1, 'born'), turn(J1, { turn: 3 }));
    expect(whatBroke(nothingAfterEnd, story)).toEqual([]);
  });

  test.each<[string, Story]>([
    ['a turn', lived().add('a-1', turn(J1))],
    ['a deadline', lived().add('a-1', turn(J1, { event: { type: FIRST } }))],
    ['a turn elsewhere', lived().add('a-2', turn(J1))],
    ['a turn after an end that nobody saw', endedUnseen().add('a-2', turn(J1, { turn: 3 }))],
    [
      'a deadline that is kept',
      history().add('a-1', turn(J1), timers(J1, { [FIRST]: 5 }), actor(J1, 'stopped')),
    ],
  ])('broken: %s', (_, story) => {
    expect(whatBroke(nothingAfterEnd, story)).toHaveLength(1);
  });
});

describe('RT-2, RT-3 and RT-4, turns that fail', () => {
  const failed = (code: string) => turn(J1, { error: failure(code) });

  test('RT-3 is broken by a machine that throws', () => {
    expect(whatBroke(machinesAreTotal, history().add('a-1', turn(J1)))).toEqual([]);
    expect(whatBroke(machinesAreTotal, history().add('a-1', failed('TURN_FAILED')))).toHaveLength(
      1,
    );
  });

  test.each(['MICROSTEPS_EXCEEDED', 'ACTOR_TOO_LARGE', 'OUTBOX_FULL'])(
    'RT-4 is broken by %s',
    (code) => {
      expect(whatBroke(turnsAreFinite, history().add('a-1', failed(code)))).toHaveLength(1);
      expect(whatBroke(turnsAreFinite, history().add('a-1', failed('TURN_FAILED')))).toEqual([]);
    },
  );
});

describe('RT-12, deadlines in order', () => {
  const armed = (due: Readonly<Record<string, number>>) =>
    history().add('a-1', started(), turn(J1, { takenAt: 1 }), timers(J1, due));
  const fired = (type: string, takenAt: number, number = 2) =>
    turn(J1, { turn: number, event: { type }, takenAt });

  test.each<[string, Story]>([
    ['due', armed({ [FIRST]: 10, [LATER]: 20 }).add('a-1', fired(FIRST, 10))],
    ['overdue', armed({ [FIRST]: 10, [LATER]: 20 }).add('a-1', fired(FIRST, 30))],
    ['of equals, either', armed({ [FIRST]: 10, [LATER]: 10 }).add('a-1', fired(LATER, 10))],
    ['after a turn that nobody saw', armed({}).add('a-1', fired(FIRST, 30, 3))],
    ['in another life', armed({}).add('a-1', started(2), fired(FIRST, 30))],
    [
      'delivered again by hand',
      history()
        .add('a-1', started(), turn(J1, { error: failure('TURN_FAILED') }), timers(J1, {}))
        .add('a-1', fired(FIRST, 30)),
    ],
  ])('holds: %s', (_, story) => {
    expect(whatBroke(deadlinesInOrder, story)).toEqual([]);
  });

  test.each<[string, Story]>([
    ['early by 1 ms', armed({ [FIRST]: 10 }).add('a-1', fired(FIRST, 9))],
    ['replaced by a later one', armed({ [FIRST]: 40 }).add('a-1', fired(FIRST, 10))],
    ['cancelled', armed({ [LATER]: 20 }).add('a-1', fired(FIRST, 30))],
    ['the later one first', armed({ [FIRST]: 10, [LATER]: 20 }).add('a-1', fired(LATER, 30))],
    ['time goes back', armed({}).add('a-1', turn('job/j2@A', { takenAt: 0 }))],
  ])('broken: %s', (_, story) => {
    expect(whatBroke(deadlinesInOrder, story)).toHaveLength(1);
  });
});

test('RT-12 is broken by a deadline that is armed twice, unless there are children', () => {
  const due = (dueAt: number) => ({ id: FIRST, dueAt });
  const twice = { ...timers(J1, {}), timers: [due(5), due(9)] };
  const told = (stored: string) =>
    history().add('a-1', started(), commit('A', 1, { [J1]: stored }), turn(J1), twice);
  expect(whatBroke(deadlinesInOrder, told(record(1)))).toHaveLength(1);
  const snapshot = { value: 'open', context: {}, children: { one: {}, two: {} } };
  expect(whatBroke(deadlinesInOrder, told(record(1, { snapshot })))).toEqual([]);
});

describe('RT-7, after a pause', () => {
  const replaced = () =>
    history()
      .add('a-1', started(), commit('A', 1, { [J1]: record(2) }), node('paused'))
      .add('a-2', started(), commit('A', 2, { [J1]: record(3) }))
      .add('a-1', node('resumed'));

  test('holds when a replaced node shows what it had committed', () => {
    const story = replaced().add('a-1', turn(J1), turn(J1, { turn: 2 }));
    expect(whatBroke(catchesUp, story)).toEqual([]);
    expect(howOften(catchesUp, story)).toBe(2);
  });

  test('broken when it shows more', () => {
    const story = replaced().add('a-1', turn(J1), turn(J1, { turn: 2 }), turn(J1, { turn: 3 }));
    expect(whatBroke(catchesUp, story)).toHaveLength(1);
  });

  const waiting = (dueAt: number) =>
    history()
      .add('a-1', started(), commit('A', 1, { [J1]: record(1, { timers: [[FIRST, dueAt]] }) }))
      .at(1_000)
      .add('a-1', turn(J1, { takenAt: 501_000 }))
      .at(60_000);

  test('a deadline of the future may wait, by the clock of its node', () => {
    expect(whatBroke(catchesUp, waiting(560_000))).toEqual([]);
    expect(howOften(catchesUp, waiting(560_000))).toBe(1);
  });

  test('broken by a deadline that nobody takes', () => {
    expect(whatBroke(catchesUp, waiting(540_000))).toHaveLength(1);
    const faulty = { isFaultFree: false };
    expect(whatBroke(catchesUp, waiting(540_000), faulty)).toEqual([]);
    expect(whatBroke(catchesUp, waiting(540_000), { ...faulty, healedAtMs: 20_000 })).toHaveLength(
      1,
    );
    expect(whatBroke(catchesUp, waiting(540_000), { ...faulty, healedAtMs: 50_000 })).toEqual([]);
    expect(whatBroke(catchesUp, waiting(540_000), { core: ['a-2'] })).toEqual([]);
  });

  test('an actor that has ended waits for nothing', () => {
    const story = history().add('a-1', started(), turn(J1));
    const ended = record(1, { status: 'stopped', timers: [[FIRST, 1]] });
    story.add('a-1', commit('A', 1, { [J1]: ended })).at(90_000);
    expect(whatBroke(catchesUp, story)).toEqual([]);
  });
});
