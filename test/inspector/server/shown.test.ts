/** Values as they are shown: bounded, and without secrets (H74). */

import { expect, test } from 'vitest';
import { show } from '../../../inspector/shown.ts';

test('what is shown of a value is bounded, whatever it is', () => {
  const deep: Record<string, unknown> = {};
  let inner = deep;
  for (let depth = 0; depth < 500; depth += 1) {
    inner['next'] = {};
    inner = inner['next'] as Record<string, unknown>;
  }
  const wide = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`key${index}`, 'v'.repeat(50)]),
  );
  for (const value of [deep, wide, 'x'.repeat(1_000_000), Array.from({ length: 1e5 }, () => 1)]) {
    const shown = show(value, { bytesMax: 10_000 });
    expect(shown.isCut).toBe(true);
    expect(JSON.stringify(shown.value).length).toBeLessThan(20_000);
    expect(shown.bytes).toBe(JSON.stringify(value).length);
  }
  const hostile = {
    __proto__: { polluted: true },
    toJSON: undefined,
    big: 10n,
    [Symbol('s')]: 1,
  } as unknown;
  expect(() => show(hostile, { bytesMax: 100 })).not.toThrow();
  const throwing = {
    toJSON() {
      throw new Error('no');
    },
  };
  expect(show({ throwing }, { bytesMax: 100 }).value).toBeDefined();
});
