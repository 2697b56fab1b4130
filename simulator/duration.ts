/** Durations as people write them: `250ms`, `15m`, `1h30m`, `60d`, or a number of milliseconds. */

import { RuntimeError } from '../runtime/base/errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const PARTS = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

/** Whole milliseconds. @throws {RuntimeError} OPTION_INVALID */
export function parseDuration(duration: string | number): number {
  const ms = typeof duration === 'number' ? duration : sum(duration.trim());
  if (Number.isSafeInteger(ms) && ms >= 0) return ms;
  throw new RuntimeError(
    'OPTION_INVALID',
    `"${duration}" is not a duration; write 250ms, 15m, 1h30m, 60d or a number of ms.`,
  );
}

function sum(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  if (!PARTS.test(text)) return Number.NaN;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    ms += Number(count) * (UNIT_MS[unit as string] as number);
  return ms;
}
