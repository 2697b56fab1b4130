/** End of an attempt, and what it does to the deadline of its worker: who says so is what counts. */

import { describe, expect, test } from 'vitest';
import {
  ask,
  deadlineOf,
  ended,
  healthy,
  heartbeat,
  holding,
  placed,
  report,
  TERM,
} from './worker-health-scenes.ts';

describe('WH-7 the end of an operation', () => {
  test('S32: re-bases the deadline when no other one holds grants', () => {
    const health = holding(['j1/w1#1']).until(5_000);
    health.take(heartbeat([report('j1/w1#1')]));
    health.until(10_000);
    ask(health, 'j1/w1#1', 0.1);
    expect(deadlineOf(health)).toBe(65_000);
    expect(health.states).toContain('extended');
    health.until(20_000).take(ended('j1/w1#1'));
    expect(deadlineOf(health)).toBe(50_000);
    expect(health.states).toContain('healthy');
    expect(health.until(50_000).state).toBe('trusted');
    expect(health.until(50_001).state).toBe('suspect');
  });

  test('leaves the deadline alone while another one holds grants, and drops its count', () => {
    const health = holding(['j1/w1#1', 'j1/w2#1']);
    ask(health, 'j1/w1#1', 0.1);
    ask(health, 'j1/w2#1', 0.1);
    expect(deadlineOf(health)).toBe(90_000);
    health.take(ended('j1/w1#1'));
    expect(deadlineOf(health)).toBe(90_000);
    expect(health.states).toContain('extended');
    expect([...health.context.operations.keys()]).toEqual(['j1/w2#1']);
  });

  test('that the manager decided alone is no sign of life, however many there are', () => {
    const health = healthy();
    for (let n = 1; n < 6; n += 1) {
      health.until(n * 5_000).take(placed(`j1/w${n}#1`));
      health.take(ended(`j1/w${n}#1`, false));
      expect(deadlineOf(health)).toBe(30_000);
    }
    expect(health.until(30_001).state).toBe('suspect');
    health.take(placed('j1/w9#1'));
    health.until(40_000).take(ended('j1/w9#1', false));
    expect(health.until(60_000).state).toBe('suspect');
    expect(health.until(60_001).states).toBe('evicted.silent');
  });

  test('brings the deadline back to the last word of the worker when it was given up', () => {
    const health = holding(['j1/w1#1']).until(5_000);
    health.take(heartbeat([report('j1/w1#1')]));
    ask(health, 'j1/w1#1', 0.1);
    health.until(20_000).take(ended('j1/w1#1', false));
    expect(deadlineOf(health)).toBe(35_000);
    expect(health.until(35_001).state).toBe('suspect');
  });

  test('never puts the deadline off, no matter who decided it', () => {
    const health = holding(['j1/w1#1']);
    health.until(20_000).take(ended('j1/w1#1'));
    expect(deadlineOf(health)).toBe(30_000);
  });

  test('that a heartbeat shows brings the deadline back as well', () => {
    const health = holding(['j1/w1#1']);
    ask(health, 'j1/w1#1', 0.1);
    expect(deadlineOf(health)).toBe(60_000);
    health.until(5_000).take(heartbeat([]));
    expect(deadlineOf(health)).toBe(35_000);
  });

  test('counts from a takeover on, as nobody could hear the worker before', () => {
    const health = holding(['j1/w1#1']).until(28_000);
    health.take({ type: 'leadership.acquired', fence: TERM + 1 });
    health.until(35_000).take(ended('j1/w1#1', false));
    expect(deadlineOf(health)).toBe(58_000);
  });

  test('of an attempt under another registration is nothing', () => {
    const health = holding(['j1/w1#1']);
    health.take({ ...ended('j1/w1#1'), registration: 9 });
    expect([...health.context.operations.keys()]).toEqual(['j1/w1#1']);
  });
});
