/**
 * Pages of actors of several nodes as one list, in order and page by page.
 *
 * Each node has its own cursor; the one of the whole list has all of them. A row is shown once no node can have one
 * before it, so a page may be shorter than what was asked for and still have a cursor.
 */

import { RuntimeError } from '../../runtime/base/errors.ts';
import type { ActorLine, ActorsPage, ActorsQuery } from '../protocol.ts';

/** Place of a list in the rows of one node: the cursor of its page, and the rows of that page that were shown. */
export interface NodePlace {
  readonly cursor?: string;
  readonly skip: number;
}

type Places = Readonly<Record<string, NodePlace>>;

export interface NodePage {
  readonly node: string;
  readonly page: Omit<ActorsPage, 'at' | 'missing'>;
}

/** Places by node of a cursor; undefined at the start. @throws {RuntimeError} OPTION_INVALID */
export function placesOf(cursor: string | undefined): Places | undefined {
  if (cursor === undefined) return undefined;
  try {
    const places = JSON.parse(cursor) as Places;
    const areFit = Object.values(places).every(
      ({ cursor: inner, skip }) =>
        Number.isSafeInteger(skip) &&
        skip >= 0 &&
        (inner === undefined || typeof inner === 'string'),
    );
    if (areFit) return places;
  } catch {
    // What is no JSON is refused like what has other fields.
  }
  throw new RuntimeError('OPTION_INVALID', 'This "cursor" is none of a list of several nodes.');
}

export function mergeActors(
  pages: readonly NodePage[],
  places: Places | undefined,
  { sort = 'address', order = 'asc' }: Pick<ActorsQuery, 'sort' | 'order'>,
  limit: number,
): Omit<ActorsPage, 'at' | 'missing'> {
  const field = sort === 'deadline' ? 'dueAt' : sort;
  const sign = order === 'desc' ? -1 : 1;
  const waiting = pages.map(({ node, page }) => {
    const shown = places?.[node]?.skip ?? 0;
    return { node, page, shown, rows: page.rows.slice(shown) };
  });
  const rows: ActorLine[] = [];
  while (rows.length < limit) {
    const heads = waiting.flatMap((each) => {
      const [row] = each.rows;
      return row === undefined ? [] : [{ each, row }];
    });
    heads.sort((one, other) => sign * byField(one.row, other.row, field));
    const [next] = heads;
    // A node whose page is used up may have a row that comes before those of the others.
    if (next === undefined || waiting.some((each) => isShort(each) && rows.length > 0)) break;
    rows.push(next.row);
    next.each.rows.shift();
    next.each.shown += 1;
  }
  const rest = waiting.flatMap(({ node, page, shown, rows: left }) => {
    const before = places?.[node]?.cursor;
    if (left.length > 0)
      return [[node, { skip: shown, ...(before !== undefined && { cursor: before }) }] as const];
    return page.cursor === undefined ? [] : [[node, { skip: 0, cursor: page.cursor }] as const];
  });
  const totals = pages.map(({ page }) => page.total);
  const isKnown = places === undefined && totals.every((total) => total !== undefined);
  const isPartial = pages.find(({ page }) => page.isPartial !== undefined)?.page.isPartial;
  return {
    rows,
    ...(rest.length > 0 && { cursor: JSON.stringify(Object.fromEntries(rest)) }),
    ...(isKnown && { total: totals.reduce<number>((sum, total) => sum + (total ?? 0), 0) }),
    ...(isPartial !== undefined && { isPartial }),
  };
}

const isShort = ({ rows, page }: { rows: readonly unknown[]; page: NodePage['page'] }): boolean =>
  rows.length === 0 && page.cursor !== undefined;

function byField(
  one: ActorLine,
  other: ActorLine,
  field: 'address' | 'dueAt' | 'state' | 'turnAt',
): number {
  const [a, b] = [one[field], other[field]];
  if (a === b) return one.address < other.address ? -1 : 1;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  return a < b ? -1 : 1;
}
