import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type SystemClock, systemClock } from '../runtime/system/clock.ts';

const START = Date.UTC(2026, 0);
const DAY_MS = 24 * 3_600_000;

let clock: SystemClock | undefined;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate'],
  });
});

afterEach(() => {
  clock?.stop();
  clock = undefined;
  vi.useRealTimers();
});

/** A clock on a machine whose sources are plain numbers. */
function startMachine(options: { unref?: boolean; uptimeStepMs?: number } = {}) {
  const machine = { wallMs: START, monotonicMs: 5_000, uptimeMs: 90_000 };
  const suspensions: number[] = [];
  const { uptimeStepMs = 1 } = options;
  const started = systemClock({
    ...options,
    onSuspended: (suspendedMs) => suspensions.push(suspendedMs),
    sources: {
      wall: () => machine.wallMs,
      monotonic: () => machine.monotonicMs,
      uptime: () => Math.floor(machine.uptimeMs / uptimeStepMs) * uptimeStepMs,
    },
  });
  clock = started;
  /** Lets time pass; the wall may go slower or faster. */
  const run = (durationMs: number, wallRate = 1) => {
    for (let left = durationMs; left > 0; left -= 500) {
      const stepMs = Math.min(left, 500);
      machine.wallMs += stepMs * wallRate;
      machine.monotonicMs += stepMs;
      machine.uptimeMs += stepMs;
      vi.advanceTimersByTime(stepMs);
    }
  };
  const suspend = (durationMs: number) => {
    machine.wallMs += durationMs;
    machine.uptimeMs += durationMs;
  };
  return { machine, clock: started, run, suspend, suspensions };
}

describe('system clock and the wall', () => {
  test('starts at wall time and follows the monotonic clock from there', () => {
    const { machine, clock, run } = startMachine();
    expect(clock.now()).toBe(START);
    run(2_500);
    machine.wallMs += 7 * DAY_MS;
    expect(clock.now()).toBe(START + 2_500);
    expect(clock.driftMs()).toBe(7 * DAY_MS);
  });

  test('leaves drift up to a second alone', () => {
    const { machine, clock, run } = startMachine();
    machine.wallMs += 999;
    run(60_000);
    expect(clock.now()).toBe(START + 60_000);
    expect(clock.driftMs()).toBe(999);
  });

  test.each([
    ['ahead', 3_000, 1],
    ['behind', -3_000, -1],
  ])('slews by 0.05 %% while the wall is more than a second %s', (_, driftMs, sign) => {
    const { machine, clock, run } = startMachine();
    machine.wallMs += driftMs;
    run(1_000);
    const before = clock.now();
    run(100_000);
    expect(clock.now() - before).toBe(100_000 + sign * 50);
    expect(Math.abs(clock.driftMs())).toBeLessThan(3_000);
  });

  test('stops slewing once the wall is within a second', () => {
    const { machine, clock, run } = startMachine();
    machine.wallMs += 1_010;
    run(120_000);
    const driftMs = clock.driftMs();
    expect(driftMs).toBeLessThanOrEqual(1_000);
    expect(driftMs).toBeGreaterThan(998);
    run(120_000);
    expect(clock.driftMs()).toBeCloseTo(driftMs, 2);
  });

  test('never goes back, whatever the wall and the sources do', () => {
    const { machine, clock, run } = startMachine();
    let latest = clock.now();
    for (const jumpMs of [5_000, -90_000, 12, -DAY_MS, DAY_MS, 3 * DAY_MS]) {
      machine.wallMs += jumpMs;
      for (let round = 0; round < 20; round++) {
        run(137.3);
        const now = clock.now();
        expect(now).toBeGreaterThanOrEqual(latest);
        expect(now - latest).toBeLessThanOrEqual(139);
        latest = now;
      }
    }
    machine.monotonicMs -= 50;
    expect(clock.now()).toBe(latest);
  });

  test('is never early and hardly late while it slews', () => {
    const { machine, clock, run } = startMachine();
    machine.wallMs += 1_000_000;
    const late: number[] = [];
    for (const after of [5_000, 100_000, 3_600_000]) {
      clock.schedule(START + after, () => late.push(clock.now() - START - after));
    }
    run(3_700_000);
    expect(late).toHaveLength(3);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    // The pretend machine moves in steps of half a second.
    expect(Math.max(...late)).toBeLessThanOrEqual(501);
  });
});

describe('system clock and suspension', () => {
  test('counts the time the machine was suspended, and runs what became due', () => {
    const { clock, run, suspend, suspensions } = startMachine();
    const ran: string[] = [];
    clock.schedule(START + 60_000, () => ran.push(`soon, after ${suspensions}`));
    clock.schedule(START + DAY_MS, () => ran.push('far'));
    run(1_000);
    suspend(3_600_000);
    run(2_000);
    expect(suspensions).toEqual([3_600_000]);
    expect(clock.now()).toBe(START + 3_603_000);
    expect(clock.driftMs()).toBe(0);
    expect(ran).toEqual(['soon, after 3600000']);
  });

  test('counts each suspension once', () => {
    const { clock, run, suspend, suspensions } = startMachine();
    for (let round = 0; round < 3; round++) {
      run(5_000);
      suspend(10_000);
    }
    run(5_000);
    expect(suspensions).toEqual([10_000, 10_000, 10_000]);
    expect(clock.now()).toBe(START + 50_000);
  });

  test('takes no rounding of the time since boot for a suspension', () => {
    const { clock, run, suspensions } = startMachine({ uptimeStepMs: 1_000 });
    for (let round = 0; round < 100; round++) run(1_700);
    expect(suspensions).toEqual([]);
    expect(clock.now()).toBe(START + 170_000);
  });

  test('takes neither a blocked loop nor a wall that was set for a suspension', () => {
    const { machine, clock, run, suspensions } = startMachine();
    machine.wallMs += DAY_MS;
    machine.monotonicMs += 30_000;
    machine.uptimeMs += 30_000;
    run(1_000);
    expect(suspensions).toEqual([]);
    expect(clock.now()).toBe(START + 31_000);
  });

  test('works where the time since boot is unknown', () => {
    const { machine, clock, run } = startMachine();
    machine.uptimeMs = Number.NaN;
    run(5_000);
    expect(clock.now()).toBe(START + 5_000);
  });
});

describe('system clock and its timeout', () => {
  test('reaches tasks beyond the longest timeout, in several sleeps', () => {
    const { machine, clock } = startMachine();
    clock.stop();
    const far = 2 ** 31 + 10_000;
    const ran: number[] = [];
    clock.schedule(START + far, () => ran.push(clock.now() - START));
    for (let sleep = 0; sleep < 4; sleep++) {
      expect(ran).toEqual([]);
      machine.monotonicMs += far / 4;
      vi.advanceTimersByTime(far / 4);
    }
    vi.advanceTimersByTime(10);
    expect(ran).toEqual([far]);
  });

  test('has one timeout for all tasks, and none without tasks', () => {
    const { clock } = startMachine();
    const idleCount = vi.getTimerCount();
    const cancels = [30, 10, 20, 10].map((after) => clock.schedule(START + after, () => {}));
    expect(vi.getTimerCount()).toBe(idleCount + 1);
    for (const cancel of cancels) cancel();
    expect(vi.getTimerCount()).toBe(idleCount);
  });

  test('sleeps again when it was woken too soon', () => {
    const { machine, clock } = startMachine();
    let hasRun = false;
    clock.schedule(START + 10, () => {
      hasRun = true;
    });
    machine.monotonicMs += 9.4;
    vi.advanceTimersByTime(10);
    expect(hasRun).toBe(false);
    machine.monotonicMs += 0.7;
    vi.advanceTimersByTime(1);
    expect(hasRun).toBe(true);
  });

  test('goes on after a task that threw', () => {
    const { machine, clock } = startMachine();
    let hasRun = false;
    clock.schedule(START + 5, () => {
      throw new Error('task');
    });
    clock.schedule(START + 5, () => {
      hasRun = true;
    });
    machine.monotonicMs += 5;
    expect(() => vi.advanceTimersByTime(5)).toThrow('task');
    vi.advanceTimersByTime(1);
    expect(hasRun).toBe(true);
  });

  test('keeps the process alive only for tasks, and not even then with unref', () => {
    vi.useRealTimers();
    // A timeout shows among these only while it keeps the process alive.
    const alive = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = alive();
    const held = systemClock();
    expect(alive()).toBe(before);
    const cancel = held.schedule(held.now() + DAY_MS, () => {});
    expect(alive()).toBe(before + 1);
    cancel();
    expect(alive()).toBe(before);
    const free = systemClock({ unref: true });
    free.schedule(free.now() + DAY_MS, () => {});
    expect(alive()).toBe(before);
    held.stop();
    free.stop();
  });

  test('drops its tasks when stopped, and still tells the time', () => {
    const { machine, clock } = startMachine();
    const ran: string[] = [];
    clock.schedule(START + 10, () => ran.push('task'));
    clock.stop();
    expect(vi.getTimerCount()).toBe(0);
    machine.monotonicMs += 20;
    vi.advanceTimersByTime(20);
    expect([ran, clock.now()]).toEqual([[], START + 20]);
  });
});
