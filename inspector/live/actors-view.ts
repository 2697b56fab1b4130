/**
 * Lists of actors: a page of the index by what the page asks for, and what the index cannot sort by, sorted among
 * the first rows.
 */

import type { ActorQuery, ActorRow, WaitingFor } from '../../runtime/api.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { durationOf, wholeNumber } from '../parameters.ts';
import type { ActorLine, ActorsPage, ActorsQuery } from '../protocol.ts';
import type { LiveContext } from './live-context.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 200;
/** Rows that are sorted where the index has no order for it. */
const SORTED_MAX = 5_000;
/** Rows that are read at a time where the index cannot tell which are wanted, and for one page of such a list at most. */
const READ_ROWS = 500;
const LOOKED_MAX = 20_000;
/** Histories that are read for one page of a list that asks for extensions. */
const HISTORIES_MAX = 500;
const HISTORY_TURNS = 200;
/** Events that give an actor of the jobs system more time. */
const EXTENSION = /^(?:extension\.credited|job\.extend)$/;

export type LocalActors = Omit<ActorsPage, 'at' | 'missing'>;

/** @throws {RuntimeError} OPTION_INVALID, NOT_HOSTED */
export function actorsHere(context: LiveContext, query: ActorsQuery): LocalActors {
  const limit = limitOf(query.limit);
  if (query.node !== undefined && query.node !== context.node) return { rows: [] };
  if (query.place !== undefined && query.place !== context.runtime.place) return { rows: [] };
  // A node that stands by shows what the host of its place shows: nothing by itself.
  if (!context.runtime.isHosting) return { rows: [] };
  const isNarrow = [query.text, query.extensionsMin, query.pending].some(
    (one) => one !== undefined,
  );
  const isIndexOrder = query.sort === undefined || query.sort === 'address';
  if (query.order === 'desc' || (query.sort === 'deadline' ? isNarrow : !isIndexOrder))
    return sorted(context, query, limit);
  return inOrder(context, query, limit, isNarrow ? READ_ROWS : limit);
}

/** Rows in the order of the index, as many of it as it takes; a row's address is the place after it. */
function inOrder(
  context: LiveContext,
  query: ActorsQuery,
  limit: number,
  readRows: number,
): LocalActors {
  const isWanted = filterOf(context, query);
  const rows: ActorLine[] = [];
  let { cursor } = query;
  let looked = 0;
  do {
    const page = context.runtime.query({
      ...indexQuery(context, query),
      limit: readRows,
      ...(cursor !== undefined && { cursor }),
    });
    for (const row of page.actors) {
      looked += 1;
      if (isWanted(row)) rows.push(withOutbox(context, context.line(row)));
      if (rows.length === limit && row !== page.actors.at(-1)) return { rows, cursor: row.address };
    }
    cursor = page.cursor;
  } while (cursor !== undefined && rows.length < limit && looked < LOOKED_MAX);
  return { rows, ...(cursor !== undefined && { cursor }) };
}

/** Rows in an order that the index has not, among the first that it has. */
function sorted(context: LiveContext, query: ActorsQuery, limit: number): LocalActors {
  const isWanted = filterOf(context, query);
  const found: ActorLine[] = [];
  let cursor: string | undefined;
  let looked = 0;
  do {
    const page = context.runtime.query({
      ...indexQuery(context, query),
      limit: 1_000,
      ...(cursor !== undefined && { cursor }),
    });
    looked += page.actors.length;
    for (const row of page.actors) if (isWanted(row)) found.push(context.line(row));
    cursor = page.cursor;
  } while (cursor !== undefined && looked < SORTED_MAX);
  const { sort = 'address', order = 'asc' } = query;
  const sign = order === 'desc' ? -1 : 1;
  const field = sort === 'deadline' ? 'dueAt' : sort;
  found.sort((one, other) => sign * compare(one[field], other[field]));
  const start = query.cursor === undefined ? 0 : Number(query.cursor.replace('@', ''));
  const rows = found.slice(start, start + limit).map((line) => withOutbox(context, line));
  const next = start + limit;
  return {
    rows,
    ...(next < found.length && { cursor: `@${next}` }),
    ...(cursor !== undefined && {
      isPartial: {
        why: `Sorted among the first ${looked.toLocaleString('en')} rows; narrow the list to see all.`,
      },
    }),
  };
}

function compare(one: string | number | undefined, other: string | number | undefined): number {
  if (one === other) return 0;
  if (one === undefined) return 1;
  if (other === undefined) return -1;
  return one < other ? -1 : 1;
}

/** @throws {RuntimeError} OPTION_INVALID */
function indexQuery(context: LiveContext, query: ActorsQuery): ActorQuery {
  const { kind, state, tag, status, waitingFor, sort, dueWithin, stuckFor, failed } = query;
  const by = failed === '1' ? 'stopped' : status;
  return {
    ...(kind !== undefined && { kind }),
    ...(state !== undefined && { state }),
    ...(tag !== undefined && { tag }),
    ...(by !== undefined && { status: by }),
    ...(waitingFor !== undefined && { waitingFor: waitingFor as WaitingFor }),
    ...(sort === 'deadline' && query.order !== 'desc' && { sort: 'deadline' as const }),
    ...(dueWithin !== undefined && {
      deadlineBefore: context.now() + durationOf(dueWithin, 'dueWithin'),
    }),
    ...(stuckFor !== undefined && { stuckFor: durationOf(stuckFor, 'stuckFor') }),
  };
}

/** @throws {RuntimeError} OPTION_INVALID */
function filterOf(
  context: LiveContext,
  { text, extensionsMin, pending }: ActorsQuery,
): (row: ActorRow) => boolean {
  const part = text?.toLowerCase();
  const least = wholeNumber(extensionsMin, 'extensionsMin', { min: 0, max: 1_000_000, usual: 0 });
  let histories = 0;
  return ({ address, isPending }) => {
    if (pending === '1' && !isPending) return false;
    if (part !== undefined && !address.toLowerCase().includes(part)) return false;
    if (least === 0) return true;
    histories += 1;
    if (histories > HISTORIES_MAX) return false;
    const turns = context.runtime.history(address, { limit: HISTORY_TURNS });
    return turns.filter(({ event }) => EXTENSION.test(event)).length >= least;
  };
}

/** What an actor in memory has under way; one that is not is not read for it. */
function withOutbox(context: LiveContext, line: ActorLine): ActorLine {
  if (!line.isPending || line.status !== 'active') return line;
  try {
    const outbox = context.watch.outboxOf(line.address);
    return outbox === undefined ? line : { ...line, outbox };
  } catch {
    return line;
  }
}

function limitOf(text: string | undefined): number {
  const limit = text === undefined ? LIMIT_DEFAULT : Number(text);
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new RuntimeError('OPTION_INVALID', `"limit" is a whole number from 1 to ${LIMIT_MAX}.`);
}
