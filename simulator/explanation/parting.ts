/**
 * Parting of two runs: the first record in which a run that fails and one that passes are not the same.
 *
 * That a fault was begun or not, which is what was changed, does not count.
 */

import type { HistoryRecord } from '../history.ts';
import { tell } from './record-words.ts';
import { moment, nodeName, short } from './words.ts';

export interface PassingRun<TRun> {
  readonly run: TRun;
  /** What was changed, in words. */
  readonly change: string;
  readonly parting: Parting | undefined;
}

export interface Parting {
  readonly failing: HistoryRecord | undefined;
  readonly passing: HistoryRecord | undefined;
}

/** Undefined when there is no difference. */
export function partingOf(
  failing: readonly HistoryRecord[],
  passing: readonly HistoryRecord[],
): Parting | undefined {
  const ones = failing.filter(isOwn);
  const others = passing.filter(isOwn);
  for (let at = 0; at < Math.max(ones.length, others.length); at += 1) {
    const [one, other] = [ones[at], others[at]];
    if (one === undefined || other === undefined || textOf(one) !== textOf(other))
      return { failing: one, passing: other };
  }
  return undefined;
}

export function partingLines({ failing, passing }: Parting): readonly string[] {
  return [`there: ${words(failing)}`, `here:  ${words(passing)}`];
}

function words(record: HistoryRecord | undefined): string {
  if (record === undefined) return 'nothing more';
  const { index, atMs, node } = record;
  return `#${index} T=${moment(atMs)} ${nodeName(node)} ${short(tell(record), 180)}`;
}

function isOwn({ type }: HistoryRecord): boolean {
  return type !== 'fault';
}

function textOf(record: HistoryRecord): string {
  const { index: _, ...rest } = record;
  return JSON.stringify('context' in rest ? { ...rest, context: undefined } : rest);
}
