/** Memory that the API has of its clients: it has limits, and forgets in order. */

import { describe, expect, test } from 'vitest';
import { IdempotencyKeys } from '../../http/idempotency.ts';
import { DEFAULT_HTTP_LIMITS, resolveHttpLimits } from '../../http/limits.ts';
import { Rates } from '../../http/rates.ts';
import { SimulatedClock } from '../../simulator/world/clock.ts';

const codeOf = (call: () => void): string | undefined => {
  try {
    call();
    return undefined;
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
};

describe('rates', () => {
  test('a client has this many requests in a minute, and earns them bit by bit', async () => {
    const clock = new SimulatedClock();
    const rates = new Rates(clock, 60, 10);
    const spend = (client: string) => codeOf(() => rates.spend(client));
    for (let n = 0; n < 60; n += 1) expect(spend('ada')).toBeUndefined();
    expect(spend('ada')).toBe('tooManyRequests');
    expect(spend('bob')).toBeUndefined();
    clock.advanceTo(clock.now() + 1_000);
    expect(spend('ada')).toBeUndefined();
    expect(spend('ada')).toBe('tooManyRequests');
    clock.advanceTo(clock.now() + 3_600_000);
    for (let n = 0; n < 60; n += 1) expect(spend('ada')).toBeUndefined();
    expect(spend('ada')).toBe('tooManyRequests');
  });

  test('beyond this many clients that which is silent for longest is forgotten', () => {
    const rates = new Rates(new SimulatedClock(), 1, 2);
    const spend = (client: string) => codeOf(() => rates.spend(client));
    expect(spend('a')).toBeUndefined();
    expect(spend('b')).toBeUndefined();
    expect(spend('a')).toBe('tooManyRequests');
    expect(spend('c')).toBeUndefined();
    expect(spend('a')).toBe('tooManyRequests');
    expect(spend('b')).toBeUndefined();
  });

  test('a refusal says when to come again', () => {
    const rates = new Rates(new SimulatedClock(), 10, 2);
    for (let n = 0; n < 10; n += 1) rates.spend('a');
    expect(() => rates.spend('a')).toThrow(
      expect.objectContaining({ status: 429, headers: { 'retry-after': '6' } }),
    );
  });
});

describe('idempotency keys', () => {
  test('H32 are kept for a time, this many of them, the newest', async () => {
    const clock = new SimulatedClock();
    const keys = new IdempotencyKeys(clock, 1_000, 3);
    const use = (key: string, digest: string, client = 'ada') =>
      codeOf(() => keys.use(client, key, digest));
    expect(use('k1', 'one')).toBeUndefined();
    expect(use('k1', 'one')).toBeUndefined();
    expect(use('k1', 'two')).toBe('conflict');
    expect(use('k1', 'two', 'bob')).toBeUndefined();
    clock.advanceTo(clock.now() + 1_000);
    expect(use('k1', 'two')).toBeUndefined();
    for (let n = 0; n < 1_000; n += 1) use(`many-${n}`, 'x');
    expect(use('many-999', 'y')).toBe('conflict');
    expect(use('many-0', 'y')).toBeUndefined();
  });

  test('H32 a million of them cost no more than the limit', () => {
    const keys = new IdempotencyKeys(new SimulatedClock(), 1_000, 100);
    for (let n = 0; n < 1_000_000; n += 1) keys.use('ada', `k${n}`, 'x');
    expect(keys.size).toBe(100);
  });
});

test('limits have defaults, and nonsense is refused by name', () => {
  expect(resolveHttpLimits()).toEqual(DEFAULT_HTTP_LIMITS);
  for (const limits of [{ bodyBytesMax: 0 }, { bodyMs: 0.5 }, { headMs: '10' }, { speed: 1 }])
    expect(() => resolveHttpLimits(limits as object)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
});
