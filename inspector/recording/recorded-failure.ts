/**
 * Views of a recorded failure: what broke, and the records of a run in words. Pure.
 */

import { type Parameters, textOf } from '../lookup.ts';
import { wholeNumber } from '../parameters.ts';
import type { FailureAnswer, ToldPage } from '../protocol.ts';
import type { Recorded } from './recorded.ts';

/** Undefined where nothing broke in what was recorded. */
export function failureIn({
  failure,
  other,
  told,
  leftOut,
  range,
}: Recorded): FailureAnswer | undefined {
  if (failure === undefined) return undefined;
  const { recorded: _, ...change } = other ?? {};
  return {
    at: range.to,
    failure,
    ...(other !== undefined && { other: change as FailureAnswer['other'] & object }),
    told: told.length,
    leftOut,
  };
}

const ROWS_MAX = 500;

/** Rows that have a text in them; without a first one those around a moment. */
export function toldIn({ told, range }: Recorded, parameters: Parameters): ToldPage {
  const wanted = (textOf(parameters, 'text') ?? '').toLowerCase();
  const found =
    wanted === ''
      ? told
      : told.filter(
          ({ text, node }) =>
            text.toLowerCase().includes(wanted) || node.toLowerCase().includes(wanted),
        );
  const most = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const limit = wholeNumber(textOf(parameters, 'limit'), 'limit', {
    ...{ min: 1, max: ROWS_MAX, usual: 100 },
  });
  const around = textOf(parameters, 'around');
  const at = around === undefined ? 0 : found.findIndex((row) => row.at >= Number(around));
  const near = Math.max(0, (at < 0 ? found.length : at) - Math.floor(limit / 2));
  const first = wholeNumber(textOf(parameters, 'first'), 'first', { ...most, usual: near });
  const rows = found.slice(first, first + limit);
  return { at: range.to, rows, first, total: found.length };
}
