/** Times as people say them: `4m 10s`, `due in 2h 5m`, `3s ago`. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Text of at most two units, the greatest there are; below a second in milliseconds. */
export function durationText(ms: number): string {
  if (ms < 1_000) return ms < 1 ? '0s' : `${Math.round(ms)}ms`;
  const first = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  const parts: string[] = [];
  let left = ms;
  for (const [unit, unitMs] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(left / unitMs);
    left -= count * unitMs;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.join(' ');
}

/**
 * Time to a deadline; `null` is none. Rounded up, where what has passed is rounded down: together they
 * are the whole.
 */
export function dueText(ms: number | null): string {
  if (ms === null) return '';
  if (ms <= 0) return 'now';
  return `in ${durationText(ms < 1_000 ? ms : Math.ceil(ms / 1_000) * 1_000)}`;
}

/** A moment of another clock, as far as ours agrees with it. */
export function agoText(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  return ms >= 0 ? `${durationText(ms)} ago` : `in ${durationText(-ms)}`;
}

/** `2026-03-01 12:00:03` by the clock of the world. */
export function momentText(atMs: number): string {
  return Math.abs(atMs) <= 8.64e15
    ? new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')
    : String(atMs);
}
