/**
 * Durations as people write them: `250ms`, `15m`, `1h30m`, `1.5h`, `60d`, or a number of milliseconds.
 *
 * Nodes, files of users, scenarios, requests, the command line and tests all read them here. A text has units: digits
 * alone would leave open what they count.
 */

import { excerpt, RuntimeError } from './errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const PARTS = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

/** Follows "must be". */
export const DURATION = 'a duration such as 250ms, 30s, 5m, 1h30m or 60d';

/** Whole milliseconds, or undefined where it is no duration. */
export function durationMs(duration: unknown): number | undefined {
  const ms = typeof duration === 'string' ? sum(duration.trim()) : duration;
  return Number.isSafeInteger(ms) && (ms as number) >= 0 ? (ms as number) : undefined;
}

/** Whole milliseconds. @throws {RuntimeError} OPTION_INVALID */
export function parseDuration(duration: string | number): number {
  const ms = durationMs(duration);
  if (ms !== undefined) return ms;
  const what = `${excerpt(duration)} is not a duration; write 250ms, 15m, 1h30m, 60d or a number of ms.`;
  throw new RuntimeError('OPTION_INVALID', what);
}

function sum(text: string): number {
  if (!PARTS.test(text)) return Number.NaN;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    ms += Number(count) * (UNIT_MS[unit as string] as number);
  return ms;
}
