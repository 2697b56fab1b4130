/**
 * Twenty kills with short lives between them, and planted faults that the rig must find.
 *
 * The rig itself is for longer runs: `npm run test:crash -- --cycles 500`.
 */

import { describe, expect, test } from 'vitest';
import { runCycles } from './cycles.ts';

const SHORT = { seed: 7, killMinMs: 20, killMaxMs: 250, counters: 200, inFlight: 128 };

describe('a node that is killed again and again', () => {
  test('keeps what it acknowledged, once, through 20 kills', async () => {
    const { recoveryMs, killedAtMs, ...report } = await runCycles({
      ...{ seed: 7, cycles: 20, killMaxMs: 600 },
    });
    expect(report).toMatchObject({
      ackedLost: 0,
      duplicated: 0,
      timersLost: 0,
      timersEarly: 0,
      examples: [],
      refused: [],
      fencesRose: true,
      strictOpen: 'sound',
      hasHeld: true,
    });
    // Otherwise nothing was tried.
    expect(report.acked).toBe(report.sent);
    expect(report.acksPerCycle).toBeGreaterThanOrEqual(50);
    expect(report.ticks).toBeGreaterThan(20);
    expect(killedAtMs.max).toBeGreaterThan(killedAtMs.min);
    expect(recoveryMs.p50).toBeGreaterThan(0);
  });

  test('is found out when it forgets what it has taken', async () => {
    const report = await foundOut('forgetful');
    expect(report.duplicated).toBeGreaterThan(0);
    expect(report.ackedLost).toBe(0);
  });

  test('is found out when it acknowledges too early', async () => {
    const report = await foundOut('early');
    expect(report.ackedLost).toBeGreaterThan(0);
  });
  test('is reported when it ends by itself, and the load ends with it', async () => {
    const killedLater = { killMinMs: 60_000, killMaxMs: 60_000 };
    const run = runCycles({ ...SHORT, ...killedLater, cycles: 1, plant: 'quitting' });
    await expect(run).rejects.toThrow('The victim ended by itself (1)');
  });
});

/** Kills until the fault shows, which takes one kill at the right moment: mostly in the first run. */
async function foundOut(plant: 'forgetful' | 'early') {
  for (let seed = SHORT.seed; seed < SHORT.seed + 8; seed += 1) {
    const report = await runCycles({ ...SHORT, seed, cycles: 4, plant });
    if (!report.hasHeld) return report;
  }
  throw new Error(`Nobody noticed the plant "${plant}".`);
}
