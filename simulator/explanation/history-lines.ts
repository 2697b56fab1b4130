/**
 * A history as lines of JSON, for a file: a line about the file, then one for each record.
 *
 * Guarantees: the size is bounded. What does not fit is left out farthest from the violation first, and
 * the first line says how much that was; with nothing left out invariants can judge the file as they
 * judged the run.
 */

import type { HistoryRecord } from '../history.ts';

export interface HistoryLimits {
  readonly recordsMax: number;
  readonly charactersMax: number;
}

const LIMITS: HistoryLimits = { recordsMax: 50_000, charactersMax: 64 * 1_048_576 };

export function historyLines(
  records: readonly HistoryRecord[],
  aroundIndex: number | null,
  { recordsMax, charactersMax }: HistoryLimits = LIMITS,
): string {
  const lines: string[] = [];
  const window = windowAround(records.length, aroundIndex, recordsMax);
  let characters = 0;
  let first = window.end;
  // What led to it matters more than what came after.
  for (let at = window.end - 1; at >= window.start && characters < charactersMax; at -= 1) {
    const line = JSON.stringify(records[at]);
    characters += line.length + 1;
    lines.push(line);
    first = at;
  }
  const leftOut = { before: first, after: records.length - window.end };
  const head = JSON.stringify({ format: 1, records: lines.length, leftOut });
  return `${[head, ...lines.reverse()].join('\n')}\n`;
}

/** As many as allowed, most of them before it; at the end when it was seen nowhere else. */
export function windowAround(
  length: number,
  index: number | null,
  countMax: number,
): { readonly start: number; readonly end: number } {
  if (length <= countMax) return { start: 0, end: length };
  const after = Math.floor(countMax / 10);
  const end = Math.min(length, Math.max(countMax, (index ?? length - 1) + 1 + after));
  return { start: end - countMax, end };
}
