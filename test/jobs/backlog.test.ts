/**
 * Backlog: what counts as waiting, how long it is thought to take, and who is refused because of it.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Backlog } from '../../programs/jobs/manager/backlog.ts';
import { Pace } from '../../programs/jobs/manager/pace.ts';
import { SheddingLog } from '../../programs/jobs/manager/shedding-log.ts';
import { SILENT_LOGGER } from '../../runtime/base/limits.ts';

const HOUR_MS = 3_600_000;

function backlogOf(
  bounds: Partial<ConstructorParameters<typeof Backlog>[0]> = {},
  clock = { now: 0 },
) {
  const backlog = new Backlog(
    {
      backlogWorkflowsMax: 1_000,
      backlogWaitMaxMs: null,
      backlogFreeWorkflows: 0,
      readyMax: 16,
      ...bounds,
    },
    () => clock.now,
  );
  const moved = (jobId: string, from: string, to: string) =>
    backlog.hear({ event: 'workflow.transition', at: clock.now, jobId, from, to });
  /** One workflow begins and is done, as long after the one before as is said. */
  const done = (jobId: string, afterMs: number) => {
    moved(jobId, 'PENDING', 'DISPATCHED');
    clock.now += afterMs;
    moved(jobId, 'RUNNING', 'COMPLETED');
  };
  return { backlog, clock, moved, done };
}

describe('a backlog', () => {
  test('has the workflows of a job from its acceptance until they begin, again when they are tried again', () => {
    const { backlog, moved } = backlogOf();
    backlog.add('j', 'c', 3);
    expect(backlog.workflows).toBe(3);
    moved('j', 'PENDING', 'DISPATCHED');
    moved('j', 'PENDING', 'CANCELLING');
    expect(backlog.workflows).toBe(1);
    moved('j', 'DISPATCHED', 'FAILED');
    moved('j', 'FAILED_READY_FOR_RETRY', 'PENDING');
    expect(backlog.workflows).toBe(2);
  });

  test('has as many of a job ahead of others as may ask for a worker at a time', () => {
    for (const [readyMax, ahead] of [
      [4, 4],
      [16, 16],
      [1_000, 100],
    ] as const) {
      const { backlog, done, moved } = backlogOf({ readyMax });
      backlog.add('j', 'c', 101);
      done('j', 1_000);
      // One second each, as the one before.
      expect(backlog.waitMs).toBe(ahead * 1_000);
      for (let left = 98; left >= 0; left -= 1) moved('j', 'PENDING', 'DISPATCHED');
      expect(backlog.waitMs).toBe(1_000);
    }
  });

  test('has nothing of a job that has ended or was not taken, whatever is logged of it afterwards', () => {
    const { backlog, moved } = backlogOf();
    backlog.add('j', 'c', 3);
    backlog.hear({ event: 'job.ended', at: 0, jobId: 'j' });
    moved('j', 'PENDING', 'CANCELLING');
    backlog.drop('j');
    moved('unknown', 'PENDING', 'CANCELLING');
    expect(backlog.view()).toMatchObject({ workflows: 0, clients: 0 });
  });

  test('is never negative, and the sum of its clients, whatever is logged', () => {
    const step = fc.tuple(
      fc.constantFrom('add', 'drop', 'begin', 'again', 'end'),
      fc.constantFrom('a', 'b', 'c'),
      fc.integer({ min: 0, max: 5 }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { backlog, moved } = backlogOf();
        for (const [what, jobId, count] of steps) {
          if (what === 'add') backlog.add(jobId, `client of ${jobId}`, count);
          else if (what === 'drop') backlog.drop(jobId);
          else if (what === 'begin') moved(jobId, 'PENDING', 'DISPATCHED');
          else if (what === 'again') moved(jobId, 'FAILED_READY_FOR_RETRY', 'PENDING');
          else backlog.hear({ event: 'job.ended', at: 0, jobId });
          expect(backlog.workflows).toBeGreaterThanOrEqual(0);
          expect(backlog.view().clients).toBeLessThanOrEqual(3);
        }
        for (const jobId of ['a', 'b', 'c']) backlog.drop(jobId);
        expect(backlog.view()).toMatchObject({ workflows: 0, clients: 0 });
      }),
    );
  });

  test('is full at its bound, and says when to come again', () => {
    const { backlog } = backlogOf({ backlogWorkflowsMax: 4 });
    backlog.add('j', 'c', 3);
    expect(backlog.overload('c', HOUR_MS)).toBeUndefined();
    backlog.add('k', 'c', 9);
    const refused = { bound: 'workflows', waiting: 12, max: 4, retryAfterMs: 5_000 };
    expect(backlog.overload('c', HOUR_MS)).toEqual(refused);
    expect(backlog.view().isShedding).toBe(true);
    backlog.drop('k');
    expect(backlog.overload('c', HOUR_MS)).toBeUndefined();
  });

  test('leaves others their share while one floods it, and refuses everybody at twice the bound', () => {
    const { backlog } = backlogOf({ backlogWorkflowsMax: 100 });
    backlog.add('flood', 'flooder', 100);
    expect(backlog.overload('flooder', HOUR_MS)).toBeDefined();
    for (let n = 0; n < 50; n += 1) {
      expect(backlog.overload('other', HOUR_MS)).toBeUndefined();
      backlog.add(`other-${n}`, 'other', 1);
    }
    // Its half of the bound; a third client would have a third.
    expect(backlog.overload('other', HOUR_MS)).toBeDefined();
    expect(backlog.overload('third', HOUR_MS)).toBeUndefined();
    backlog.add('third', 'third', 50);
    expect(backlog.overload('fourth', HOUR_MS)).toBeDefined();
  });

  test('gives a flood no more than its part as soon as somebody else waits', () => {
    const { backlog } = backlogOf({ backlogWorkflowsMax: 100 });
    backlog.add('modest', 'modest', 1);
    backlog.add('flood', 'flooder', 49);
    expect(backlog.overload('flooder', HOUR_MS)).toBeUndefined();
    backlog.add('more', 'flooder', 1);
    expect(backlog.overload('flooder', HOUR_MS)).toMatchObject({ waiting: 51, max: 100 });
    expect(backlog.overload('modest', HOUR_MS)).toBeUndefined();
    backlog.drop('modest');
    expect(backlog.overload('flooder', HOUR_MS)).toBeUndefined();
  });

  test('knows nothing of time before anything has ended, and refuses by number alone', () => {
    const { backlog, clock } = backlogOf({ backlogWaitMaxMs: 1 });
    backlog.add('j', 'c', 999);
    clock.now += HOUR_MS;
    expect(backlog.view().waitMs).toBeNull();
    expect(backlog.overload('c', 1)).toBeUndefined();
  });

  test('refuses where the work ahead takes longer than it may', () => {
    const { backlog, done } = backlogOf({ backlogWaitMaxMs: 5_000 });
    const addAll = (prefix: string, count: number) => {
      for (let n = 0; n < count; n += 1) backlog.add(`${prefix}${n}`, 'c', 1);
    };
    addAll('j', 100);
    for (let n = 0; n < 20; n += 1) done(`j${n}`, 40);
    expect(backlog.view()).toMatchObject({ workflows: 80, waitMs: 80 * 40 });
    expect(backlog.overload('c', HOUR_MS)).toBeUndefined();
    addAll('k', 45);
    expect(backlog.overload('c', HOUR_MS)).toEqual({
      ...{ bound: 'wait', waiting: 125, max: 125 },
      retryAfterMs: 1_000,
    });
    addAll('l', 100);
    expect(backlog.overload('c', HOUR_MS)?.retryAfterMs).toBe(101 * 40);
  });

  test('has others wait for the workflows of a large job that may ask at a time, not for all', () => {
    const { backlog, done } = backlogOf({ backlogWaitMaxMs: 1_000 });
    backlog.add('large', 'c', 900);
    for (let n = 0; n < 50; n += 1) done('large', 40);
    expect(backlog.view()).toMatchObject({ workflows: 850, waitMs: 16 * 40 });
    expect(backlog.overload('c', HOUR_MS)).toBeUndefined();
  });

  test('refuses those first who have the least time, a tenth of which they may wait', () => {
    const { backlog, done } = backlogOf();
    for (let n = 0; n < 100; n += 1) backlog.add(`j${n}`, 'c', 1);
    for (let n = 0; n < 50; n += 1) done(`j${n}`, 100);
    expect(backlog.overload('c', 60_000)).toBeUndefined();
    expect(backlog.overload('c', 50_000)).toMatchObject({ bound: 'wait', max: 50 });
  });

  test('always has room for what is free, and for one where nothing waits', () => {
    const { backlog, done } = backlogOf({ backlogWaitMaxMs: 1, backlogFreeWorkflows: 10 });
    backlog.add('j', 'c', 10);
    done('j', HOUR_MS);
    expect(backlog.overload('c', 1)).toBeUndefined();
    backlog.add('k', 'c', 1);
    expect(backlog.overload('c', 1)).toMatchObject({ max: 10, retryAfterMs: 60_000 });
    const tight = backlogOf({ backlogWaitMaxMs: 1 });
    tight.backlog.add('j', 'c', 1);
    tight.done('j', HOUR_MS);
    expect(tight.backlog.overload('c', 1)).toBeUndefined();
  });
});

describe('the pace of a datacenter', () => {
  test('leaves out the time in which nothing waits', () => {
    const pace = new Pace();
    pace.wait(true, 0);
    pace.end(100);
    pace.wait(false, 100);
    pace.end(HOUR_MS);
    pace.wait(true, HOUR_MS);
    pace.end(HOUR_MS + 50);
    expect(pace.msPerWorkflow(HOUR_MS + 50)).toBe(50);
  });

  test('slows down while nothing ends', () => {
    const pace = new Pace();
    pace.wait(true, 0);
    pace.end(10);
    expect(pace.msPerWorkflow(1_010)).toBe(1_010);
  });

  test('follows a change within some hundred ends', () => {
    const pace = new Pace();
    pace.wait(true, 0);
    const slowUntil = 1_000_000;
    for (let at = 1_000; at <= slowUntil; at += 1_000) pace.end(at);
    for (let n = 1; n <= 300; n += 1) pace.end(slowUntil + n * 10);
    expect(pace.msPerWorkflow(slowUntil + 3_000)).toBe(10);
  });
});

test('a flood of refusals is no flood of lines', () => {
  const lines: object[] = [];
  let at = 0;
  const logger = { ...SILENT_LOGGER, warn: (fields: object) => lines.push(fields) };
  const log = new SheddingLog({ datacenter: 'A', logger, now: () => at });
  const overload = { bound: 'wait', waiting: 9, max: 4, retryAfterMs: 1_000 } as const;
  for (let n = 0; n < 1_000; n += 1) {
    log.add(overload);
    at += 25;
  }
  expect(lines.map((line) => (line as { refused: number }).refused)).toEqual([1, 400, 400]);
  expect(lines[0]).toMatchObject({ event: 'submission.shed', datacenter: 'A', waiting: 9 });
});
