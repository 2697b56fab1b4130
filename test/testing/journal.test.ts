/** Journals as tests: what a machine is held against, and which changes to it show. */

import { describe, expect, test } from 'vitest';
import { assign, fromPromise, raise, setup } from 'xstate';
import type { JournalTurn } from '../../testing/journal/journal.ts';
import { telling } from '../../testing/journal/journal-files.ts';
import { Judge } from '../../testing/journal/judge.ts';
import { JournalError, testJournal } from '../../testing/journal/test-journal.ts';
import { testedMoves, untested } from '../../testing/journal/tested-moves.ts';

interface Shape {
  readonly limit?: number;
  readonly discountsMax?: number;
  readonly paid?: string;
  readonly step?: number;
}

/** An order with a guard, a deadline, a history state, an event raised to itself, and a promise. */
const orderMachine = ({ limit = 900, discountsMax = 2, paid = 'paid', step = 1 }: Shape = {}) =>
  setup({
    types: { context: {} as { discounts: number } },
    actors: { pack: fromPromise(async () => 1) },
    delays: { limit },
    guards: { mayDiscount: ({ context }) => context.discounts < discountsMax },
  }).createMachine({
    id: 'order',
    context: { discounts: 0 },
    initial: 'open',
    states: {
      open: {
        initial: 'quiet',
        on: {
          pay: paid,
          hide: 'hidden',
          discount: {
            guard: 'mayDiscount',
            actions: assign({ discounts: ({ context }) => context.discounts + step }),
          },
        },
        after: { limit: 'expired' },
        states: { quiet: { on: { ring: 'loud' } }, loud: {}, last: { type: 'history' } },
      },
      hidden: { on: { show: 'open.last', 'show.now': { actions: raise({ type: 'show' }) } } },
      paid: { invoke: { src: 'pack', onDone: 'sent', onError: 'open' } },
      sent: {},
      expired: {},
    },
  });

const AT = 1_000_000;
type Row = readonly [type: string, afterMs: number, state?: unknown, more?: Partial<JournalTurn>];

/** Turns of one actor; `more` is what recordings have beside a history. */
const turnsOf = (...rows: readonly Row[]): JournalTurn[] =>
  rows.map(([type, afterMs, state, more], index) => ({
    ...{ address: 'order/1@shop', turn: index + 1, at: AT + afterMs, event: { type } },
    ...(state !== undefined && { state }),
    ...more,
  }));

const SPAWN = 'escapement.spawn';
const OPEN = { open: 'quiet' };
const LOUD = { open: 'loud' };
const LIMIT = 'xstate.after.limit.order.open';

const HISTORY = turnsOf(
  [SPAWN, 0, OPEN],
  ['discount', 10],
  ['ring', 20, LOUD],
  ['hide', 30, 'hidden'],
  ['show.now', 40, LOUD],
  ['pay', 50, 'paid'],
  ['child error', 60, OPEN],
  [LIMIT, 970, 'expired', { dueAt: AT + 960 }],
);
const whole = (discounts: number, dueAt?: number): Partial<JournalTurn> => ({
  ...{ isWhole: true, context: { discounts } },
  deadlines: dueAt === undefined ? [] : [{ id: LIMIT, dueAt: AT + dueAt }],
});
const RECORDING = turnsOf(
  [SPAWN, 0, OPEN, whole(0, 900)],
  ['discount', 10, OPEN, whole(1, 900)],
  ['discount', 20, OPEN, whole(2, 900)],
  ['discount', 30, OPEN, whole(2, 900)],
  [LIMIT, 905, 'expired', whole(2)],
);

const issuesOf = (machine: ReturnType<typeof orderMachine>, turns: readonly JournalTurn[]) => {
  const judge = new Judge(machine);
  judge.actor(turns);
  return judge.report.issues.map(({ what, turn, recorded, machine: now }) => [
    what,
    turn,
    recorded,
    now,
  ]);
};

describe('a history', () => {
  test('is a list of moves of the chart: guards, history, raised events, outcomes and deadlines', () => {
    const { issues, ...counts } = testJournal(orderMachine(), HISTORY);
    expect(issues).toEqual([]);
    expect(counts).toEqual({ actors: 1, turns: 8, same: 0, moves: 8, unknown: 0, failed: 0 });
  });

  test.each<readonly [string, Shape, readonly unknown[]]>([
    ['another target', { paid: 'sent' }, ['move', 6, 'paid', 'sent']],
    [
      'a delay a millisecond longer',
      { limit: 901 },
      ['deadline', 8, expect.stringContaining('900 ms'), '901 ms'],
    ],
  ])('shows %s', (_, shape, issue) => {
    expect(issuesOf(orderMachine(shape), HISTORY)).toEqual([issue]);
  });

  test('whose beginning was dropped is judged from where it is known again', () => {
    const cut = HISTORY.slice(1);
    const { moves, unknown } = testJournal(orderMachine(), cut);
    // Nobody knows where it stood for two turns.
    expect([moves, unknown]).toEqual([5, 2]);
    expect(issuesOf(orderMachine({ limit: 901 }), cut.slice(6))).toEqual([]);
  });

  test('with a turn that failed, one that is missing, and an order of an operator, is no failure', () => {
    const [spawn, discount, ring, hide] = HISTORY as [
      JournalTurn,
      JournalTurn,
      JournalTurn,
      JournalTurn,
    ];
    const moved = { ...discount, event: { type: 'escapement.moveDeadline' } };
    const report = testJournal(orderMachine(), [
      ...[spawn, moved, { ...ring, hasFailed: true }, { ...hide, turn: 5 }],
      { ...HISTORY[4], turn: 9, state: { open: 'quiet' } } as JournalTurn,
    ]);
    expect(report).toMatchObject({ unknown: 3, failed: 1, moves: 1, issues: [] });
  });

  test('in a state that the machine does not have says so', () => {
    const turns = turnsOf([SPAWN, 0, 'opened']);
    expect(issuesOf(orderMachine(), turns)).toEqual([
      ['move', 1, 'opened', 'it has no such state'],
    ]);
  });
});

describe('a recording', () => {
  test('is taken by the machine itself, with contexts and deadlines', () => {
    expect(testJournal(orderMachine(), RECORDING)).toMatchObject({ same: 5, issues: [] });
  });

  test.each<readonly [string, Shape, readonly unknown[]]>([
    ['a guard', { discountsMax: 1 }, ['context', 3, '{"discounts":2}', '{"discounts":1}']],
    ['an assignment', { step: 2 }, ['context', 2, '{"discounts":1}', '{"discounts":2}']],
    [
      'a delay',
      { limit: 899 },
      [
        'deadline',
        1,
        expect.stringContaining(`${AT + 900}`),
        expect.stringContaining(`${AT + 899}`),
      ],
    ],
  ])('shows %s', (_, shape, issue) => {
    expect(issuesOf(orderMachine(shape), RECORDING)[0]).toEqual(issue);
  });

  test('with a secret that was replaced is judged by its states alone', () => {
    const hidden = RECORDING.map((turn) => ({ ...turn, isWhole: turn.event.type === SPAWN }));
    expect(testJournal(orderMachine(), hidden)).toMatchObject({ same: 1, moves: 4 });
  });
});

test('the error has the first turn of each kind, and how many are like it', () => {
  const two = [...RECORDING, ...RECORDING.map((turn) => ({ ...turn, address: 'order/2@shop' }))];
  const message = (): unknown => testJournal(orderMachine({ limit: 899 }), two);
  expect(message).toThrow(JournalError);
  expect(message).toThrow('deadline: turn 1 of order/1@shop, and 1 more like it');
});

test('moves that were seen live and are in no test are listed, the most frequent first', () => {
  const machine = orderMachine();
  const judge = new Judge(machine);
  judge.actor(HISTORY);
  judge.actor(HISTORY.slice(0, 4));
  const steps = [
    { type: 'send', event: { type: 'hide' } },
    { type: 'send', event: { type: 'show.now' } },
    { type: 'send', event: { type: 'pay' } },
    { type: 'reject', child: '0.order.paid', message: 'no' },
    { type: 'advance', byMs: 900 },
  ] as const;
  const tested = testedMoves(machine, { inputs: { '': undefined } }, [
    { input: '', title: 'all', steps },
  ]);
  expect(untested(judge.report, tested).map(({ event, count }) => [event, count])).toEqual([
    ['discount', 2],
    ['ring', 2],
    ['hide', 2],
    ['show.now', 1],
    ['pay', 1],
  ]);
});

test('of actors that show the same moves one is kept', () => {
  const short = RECORDING.slice(0, 2);
  expect(telling([RECORDING, HISTORY, short, short])).toEqual([short, RECORDING, HISTORY]);
});
