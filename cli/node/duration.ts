/** Durations as people write them: `30s`, `5m`, `250ms`. Whole milliseconds, never a fraction. */

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Nothing when the text is no duration. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text);
  if (match === null) return undefined;
  const ms = Number(match[1]) * (UNITS_MS[match[2] as string] as number);
  return Number.isSafeInteger(ms) ? ms : undefined;
}
