/**
 * The soonest of a node's deadlines, a page at a time: by moment, and of one moment by address.
 *
 * A page looks at the moments of all actors that wait for one, which are numbers in memory; no record
 * and no row of the store is read for it.
 */

import { excerpt, RuntimeError } from '../base/errors.ts';

/** An actor and its next deadline. */
export interface Due {
  readonly dueAt: number;
  readonly address: string;
}

interface AllDeadlines {
  each(show: (address: string, dueAt: number) => void): void;
}

/** The first `count` of those that are wanted, behind that which `after` names. */
export function soonest(
  deadlines: AllDeadlines,
  count: number,
  after: Due | undefined,
  isWanted: (address: string, dueAt: number) => boolean,
): readonly Due[] {
  let found: Due[] = [];
  let lastDueAt = Number.POSITIVE_INFINITY;
  const cut = (): void => {
    found = found.sort(compareDue).slice(0, count);
    if (found.length === count) lastDueAt = (found.at(-1) as Due).dueAt;
  };
  deadlines.each((address, dueAt) => {
    if (dueAt > lastDueAt || (after !== undefined && dueAt < after.dueAt)) return;
    const due = { dueAt, address };
    if ((after !== undefined && compareDue(due, after) <= 0) || !isWanted(address, dueAt)) return;
    found.push(due);
    if (found.length === 2 * count) cut();
  });
  cut();
  return found;
}

export function cursorOf({ dueAt, address }: Due): string {
  return `${dueAt} ${address}`;
}

/** @throws {RuntimeError} OPTION_INVALID */
export function dueOfCursor(cursor: string): Due {
  const [, moment, address] = /^(-?\d+(?:\.\d+)?) (\S+)$/.exec(cursor) ?? [];
  if (moment !== undefined && address !== undefined) return { dueAt: Number(moment), address };
  const what = `A cursor of actors by deadline is one of a page before, got ${excerpt(cursor)}.`;
  throw new RuntimeError('OPTION_INVALID', what);
}

function compareDue(one: Due, other: Due): number {
  if (one.dueAt !== other.dueAt) return one.dueAt - other.dueAt;
  if (one.address === other.address) return 0;
  return one.address < other.address ? -1 : 1;
}
