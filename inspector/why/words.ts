/**
 * Words of explanations: durations, moments, lists. Pure, and the same in the terminal and on the page.
 */

const UNITS: ReadonlyArray<readonly [string, number]> = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
];

/** `1 h 30 min`, `4.2 s`, `250 ms`: two units at most. */
export function spanText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 60_000) return `${Number((whole / 1_000).toFixed(whole < 10_000 ? 1 : 0))} s`;
  const parts: string[] = [];
  let rest = whole;
  for (const [unit, size] of [...UNITS, ['s', 1_000] as const]) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit}`);
  }
  return parts.join(' ');
}

/** UTC to the millisecond. */
export function clockText(at: number): string {
  const ofDay = ((at % 86_400_000) + 86_400_000) % 86_400_000;
  const part = (size: number, wrap: number): string =>
    String(Math.floor(ofDay / size) % wrap).padStart(2, '0');
  const ms = String(Math.floor(ofDay % 1_000)).padStart(3, '0');
  return `${part(3_600_000, 24)}:${part(60_000, 60)}:${part(1_000, 60)}.${ms}`;
}

export function listText(items: readonly string[], max = 3): string {
  const shown = items.slice(0, max);
  const more = items.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Name of an actor without its place. */
export const shortAddress = (address: string): string => {
  const at = address.lastIndexOf('@');
  return at < 0 ? address : address.slice(0, at);
};
