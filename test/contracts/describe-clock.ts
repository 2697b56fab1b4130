/**
 * Contract of every Clock. Real clocks run it too, so it waits for what must happen, however late, and
 * never for a time by which it should have.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../runtime/ports/clock.ts';

/** A clock, and how to let its time pass. */
export interface ClockDriver {
  readonly clock: Clock;
  /** Lets at least this much time pass and runs what is due in it. */
  pass(durationMs: number): Promise<void>;
  /** Lets time pass until the claim holds. */
  until(isTrue: () => boolean): Promise<void>;
  close(): void;
}

/** Node fires a longer timeout after 1 ms. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;
const YEAR_MS = 365 * 24 * 3_600_000;

export function describeClock(name: string, open: () => ClockDriver): void {
  describe(`${name} keeps the clock contract`, () => {
    let driver: ClockDriver;
    beforeEach(() => {
      driver = open();
    });
    afterEach(() => driver.close());

    describe('now', () => testNow(() => driver));
    describe('schedule', () => testSchedule(() => driver));
    describe('far tasks', () => testFarTasks(() => driver));
    describe('cancel', () => testCancel(() => driver));
    describe('defer', () => testDefer(() => driver));
  });
}

function testNow(driver: () => ClockDriver): void {
  test('is in whole milliseconds since the epoch', () => {
    const now = driver().clock.now();
    expect(Number.isSafeInteger(now)).toBe(true);
    expect(now).toBeGreaterThan(Date.UTC(2020, 0));
  });

  test('never goes back', async () => {
    const { clock, pass } = driver();
    const seen: number[] = [];
    for (let round = 0; round < 5; round++) {
      for (let read = 0; read < 2_000; read++) seen.push(clock.now());
      await pass(1);
    }
    expect(seen.every((at, index) => index === 0 || at >= (seen[index - 1] as number))).toBe(true);
  });

  test('goes forward by what passes', async () => {
    const { clock, pass } = driver();
    const before = clock.now();
    await pass(5);
    expect(clock.now()).toBeGreaterThanOrEqual(before + 5);
  });
}

function testSchedule(driver: () => ClockDriver): void {
  test('runs each task once, never early, in the order of their moments', async () => {
    const { clock, pass, until } = driver();
    const start = clock.now();
    const ran: number[] = [];
    const early: number[] = [];
    for (const after of [8, 3, 12, 5, 1, 10, 2, 7]) {
      clock.schedule(start + after, () => {
        ran.push(after);
        if (clock.now() < start + after) early.push(after);
      });
    }
    await until(() => ran.length === 8);
    await pass(3);
    expect(early).toEqual([]);
    expect(ran).toEqual([1, 2, 3, 5, 7, 8, 10, 12]);
  });

  test('is not early either when the loop was busy before', async () => {
    const { clock, until } = driver();
    const early: number[] = [];
    let count = 0;
    for (let round = 0; round < 4; round++) {
      for (let turn = 0; turn < 20_000; turn++) clock.now();
      const at = clock.now() + 2;
      clock.schedule(at, () => {
        count++;
        if (clock.now() < at) early.push(at);
      });
      await until(() => count === round + 1);
    }
    expect(early).toEqual([]);
  });

  test('runs tasks of one moment in the order they were given', async () => {
    const { clock, until } = driver();
    const at = clock.now() + 4;
    const given = Array.from({ length: 100 }, (_, index) => index);
    const ran: number[] = [];
    for (const index of given) clock.schedule(at, () => ran.push(index));
    await until(() => ran.length === given.length);
    expect(ran).toEqual(given);
  });

  test('runs a task of the past soon, but not inside the call', async () => {
    const { clock, until } = driver();
    let hasRun = false;
    clock.schedule(clock.now() - 1_000, () => {
      hasRun = true;
    });
    expect(hasRun).toBe(false);
    await until(() => hasRun);
  });

  test('runs a task that was scheduled by a task', async () => {
    const { clock, until } = driver();
    const ran: string[] = [];
    const at = clock.now() + 1;
    clock.schedule(at, () => {
      clock.schedule(at, () => ran.push('same moment'));
      clock.schedule(at + 2, () => ran.push('later'));
      ran.push('first');
    });
    await until(() => ran.length === 3);
    expect(ran).toEqual(['first', 'same moment', 'later']);
  });

  test('refuses a moment that is no moment', () => {
    const { clock } = driver();
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => clock.schedule(at, () => {})).toThrow(RangeError);
    }
  });
}

function testFarTasks(driver: () => ClockDriver): void {
  test('do not run before their time, beyond any limit of a timeout', async () => {
    const { clock, pass } = driver();
    const start = clock.now();
    const ran: number[] = [];
    const distances = [TIMEOUT_MAX_MS, TIMEOUT_MAX_MS + 1, 2 ** 32 + 2, YEAR_MS, 40 * YEAR_MS];
    const cancels = distances.map((far) => clock.schedule(start + far, () => ran.push(far)));
    await pass(10);
    for (const cancel of cancels) cancel();
    expect(ran).toEqual([]);
  });

  test('hold up no near one', async () => {
    const { clock, until } = driver();
    let hasRun = false;
    clock.schedule(clock.now() + YEAR_MS, () => {});
    clock.schedule(clock.now() + 2, () => {
      hasRun = true;
    });
    await until(() => hasRun);
  });
}

function testCancel(driver: () => ClockDriver): void {
  test('keeps a task from running, and only that one', async () => {
    const { clock, until } = driver();
    const at = clock.now() + 3;
    const ran: string[] = [];
    clock.schedule(at, () => ran.push('before'));
    const cancel = clock.schedule(at, () => ran.push('cancelled'));
    clock.schedule(at, () => ran.push('after'));
    clock.schedule(at + 2, () => ran.push('end'));
    cancel();
    await until(() => ran.includes('end'));
    expect(ran).toEqual(['before', 'after', 'end']);
  });

  test('also works from a task of the same moment', async () => {
    const { clock, until } = driver();
    const at = clock.now() + 3;
    const ran: string[] = [];
    clock.schedule(at, () => cancel());
    const cancel = clock.schedule(at, () => ran.push('cancelled'));
    clock.schedule(at + 1, () => ran.push('end'));
    await until(() => ran.includes('end'));
    expect(ran).toEqual(['end']);
  });

  test('is harmless twice, and after the task has run', async () => {
    const { clock, until } = driver();
    const ran: string[] = [];
    const cancelled = clock.schedule(clock.now() + 1, () => ran.push('cancelled'));
    const cancel = clock.schedule(clock.now() + 1, () => ran.push('task'));
    cancelled();
    cancelled();
    await until(() => ran.length === 1);
    clock.schedule(clock.now() + 2, () => ran.push('end'));
    cancel();
    cancelled();
    await until(() => ran.length === 2);
    expect(ran).toEqual(['task', 'end']);
  });
}

function testDefer(driver: () => ClockDriver): void {
  test('runs tasks after the current one, in the order they were given', async () => {
    const { clock, until } = driver();
    const ran: string[] = [];
    clock.defer(() => {
      clock.defer(() => ran.push('inner'));
      ran.push('first');
    });
    clock.defer(() => ran.push('second'));
    ran.push('caller');
    await until(() => ran.length === 4);
    expect(ran).toEqual(['caller', 'first', 'second', 'inner']);
  });

  test('works from a scheduled task, and comes before tasks that are far away', async () => {
    const { clock, until } = driver();
    const ran: string[] = [];
    const at = clock.now() + 1;
    clock.schedule(at, () => {
      clock.defer(() => ran.push('deferred'));
      ran.push('task');
    });
    const cancel = clock.schedule(at + YEAR_MS, () => ran.push('far'));
    await until(() => ran.length === 2);
    cancel();
    expect(ran).toEqual(['task', 'deferred']);
  });
}
