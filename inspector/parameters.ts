/**
 * Parameters of queries: durations and whole numbers as they stand in a URL.
 */

import { RuntimeError } from '../runtime/base/errors.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `90s`, `1h30m`, `250ms`, `0s`. @throws {RuntimeError} OPTION_INVALID */
export function durationOf(text: string, name: string): number {
  if (!/^(?:\d{1,9}(?:ms|s|m|h|d))+$/.test(text))
    throw new RuntimeError('OPTION_INVALID', `"${name}" is a duration such as 90s or 1h30m.`);
  let ms = 0;
  for (const [, count = '0', unit = 'ms'] of text.matchAll(/(\d+)(ms|s|m|h|d)/g))
    ms += Number(count) * (UNITS[unit] ?? 1);
  return ms;
}

/** @throws {RuntimeError} OPTION_INVALID */
export function wholeNumber(
  text: string | undefined,
  name: string,
  { min, max, usual }: { readonly min: number; readonly max: number; readonly usual: number },
): number {
  if (text === undefined) return usual;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new RuntimeError('OPTION_INVALID', `"${name}" is a whole number from ${min} to ${max}.`);
}
