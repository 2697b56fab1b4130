/** Faults around deadlines of users' actors, and plans that are tests when the mistake is mended. */

import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import { invariant, NEMESES, type SimulateOptions, simulate } from '../../simulator/index.ts';

const GRACE_MS = 30_000;

/** Somebody is warned ten minutes after the booking, and has half a minute to confirm until it is gone. */
const hasty = setup({
  types: {
    context: {} as { warnedAt: number; goneAt: number },
    events: {} as { type: 'booking.confirm'; at?: number },
  },
  delays: { warning: 600_000, limit: 600_000 + GRACE_MS },
}).createMachine({
  context: { warnedAt: 0, goneAt: 0 },
  type: 'parallel',
  states: {
    notice: {
      initial: 'quiet',
      states: {
        quiet: { after: { warning: 'warned' } },
        warned: { entry: assign({ warnedAt: ({ event }) => timeOf(event) }) },
      },
    },
    place: {
      initial: 'held',
      states: {
        held: {
          on: { 'booking.confirm': 'confirmed' },
          // It counts from the booking: anybody who is warned late has less time, or none.
          after: { limit: 'gone' },
        },
        confirmed: {},
        gone: { entry: assign({ goneAt: ({ event }) => timeOf(event) }) },
      },
    },
  },
});

/** The limit begins with the warning. */
const careful = setup({
  types: { context: {} as { warnedAt: number; goneAt: number } },
  delays: { warning: 600_000, grace: GRACE_MS },
}).createMachine({
  context: { warnedAt: 0, goneAt: 0 },
  initial: 'held',
  on: { 'booking.confirm': '.confirmed' },
  states: {
    held: { after: { warning: 'warned' } },
    warned: {
      entry: assign({ warnedAt: ({ event }) => timeOf(event) }),
      after: { grace: 'gone' },
    },
    confirmed: {},
    gone: { entry: assign({ goneAt: ({ event }) => timeOf(event) }) },
  },
});

function timeOf(event: unknown): number {
  return (event as { at?: number }).at ?? 0;
}

const kinds = { booking: hasty };

const hasTime = invariant<typeof kinds>('anybody who is warned has time left', (run) => ({
  turn: (record) => {
    for (const { context, address } of run.actors('booking')) {
      // Clocks that are off may be read at both ends.
      const leftMs = context.goneAt - context.warnedAt + 2 * run.facts.epsilonMs;
      if (context.goneAt > 0)
        run.check(leftMs >= GRACE_MS / 2, `${address} had ${leftMs} ms`, record);
    }
  },
}));

/** Over in the end, whatever went wrong: true only where faults heal and deadlines are waited for. */
const isOver = invariant<typeof kinds>('every booking is over', (run) => ({
  end: () => {
    for (const { context, address } of run.actors('booking'))
      run.check(context.goneAt > 0, `${address} is still held`);
  },
}));

function booking(more: Partial<SimulateOptions<typeof kinds>> = {}) {
  return simulate<typeof kinds>({
    kinds,
    places: { hall: { nodes: 1 } },
    workload: ({ at, spawn, chance }) => {
      at(chance.whole(0, 5_000), 'book', () => spawn('booking/1'));
    },
    invariants: [hasTime, isOver],
    until: '40m',
    seeds: 12,
    ...more,
  });
}

describe('a race at a deadline', () => {
  test('is found within a few seeds, long after the last step', async () => {
    const report = await booking();
    const [failure] = report.failures;
    expect(failure?.invariant).toBe('anybody who is warned has time left');
    expect(failure?.plan.nemeses.length).toBeGreaterThan(0);
    expect(failure?.atMs).toBeGreaterThan(600_000);
  });

  test('leaves a plan that holds as soon as the mistake is mended', async () => {
    const [failure] = (await booking()).failures;
    assert(failure);
    const { plan } = failure;
    expect(plan.healAtMs).not.toBeNull();
    expect(plan.untilMs).toBeGreaterThan(2 * Number(plan.healAtMs) - 1);
    const again = await booking({ plan });
    expect(again.failures[0]?.traceHash).toBe(failure.traceHash);
    const mended = await booking({ plan, kinds: { booking: careful as never } });
    mended.assertNone();
    expect(mended.exercised['every booking is over']).toBe(1);
  });

  test('is not found where there is none', async () => {
    (await booking({ kinds: { booking: careful as never }, seeds: 20 })).assertNone();
  });
});

/** As `hasTime`, by clocks that may jump. */
const hasTimeByTheWall = invariant<typeof kinds>(
  'anybody who is warned has time by the wall',
  (run) => ({
    turn: (record) => {
      for (const { context, address } of run.actors('booking'))
        if (context.goneAt > 0)
          run.check(context.goneAt - context.warnedAt >= GRACE_MS / 2, address, record);
    },
  }),
);

test.each(['crashAtDeadline', 'pauseAtDeadline', 'stepClockAtDeadline'])(
  '%s alone finds it, too',
  async (kind) => {
    expect(NEMESES).toHaveProperty(kind);
    const report = await booking({
      nemeses: [kind],
      invariants: [hasTimeByTheWall],
      places: { hall: { nodes: 1 } },
      seeds: 40,
    });
    expect(report.failures[0]?.plan.nemeses).toEqual([expect.objectContaining({ kind })]);
    expect(report.faults[kind]?.effective).toBeGreaterThan(0);
  },
);
