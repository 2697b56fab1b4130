/**
 * Differences of two JSON values: the paths that were added, taken away, or have another value.
 */

export interface Difference {
  readonly path: string;
  /** Absent when the path is new. */
  readonly before?: unknown;
  /** Absent when the path is gone. */
  readonly after?: unknown;
}

const DIFFERENCES_MAX = 200;

export function differences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = [];
  compare(before, after, '', found);
  return found;
}

function compare(before: unknown, after: unknown, path: string, found: Difference[]): void {
  if (Object.is(before, after) || found.length >= DIFFERENCES_MAX) return;
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    found.push({ path: path || 'all of it', before, after });
    return;
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of keys) {
    const inner = path === '' ? key : `${path}.${key}`;
    if (!Object.hasOwn(before, key)) found.push({ path: inner, after: after[key] });
    else if (!Object.hasOwn(after, key)) found.push({ path: inner, before: before[key] });
    else compare(before[key], after[key], inner, found);
  }
}

const isBranch = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
