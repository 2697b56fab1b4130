/**
 * Lists of actors: a page of the index by what the page asks for, and what the index cannot sort by, sorted among
 * the first rows.
 */

import type { ActorQuery, WaitingFor } from '../../runtime/api.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { durationOf } from '../parameters.ts';
import type { ActorLine, ActorsPage, ActorsQuery } from '../protocol.ts';
import type { LiveContext } from './live-context.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 200;
/** Rows that are sorted where the index has no order for it. */
const SORTED_MAX = 5_000;
/** Pages of the index that are read for one page of a narrow list. */
const PAGES_MAX = 10;

export type LocalActors = Omit<ActorsPage, 'at' | 'missing'>;

/** @throws {RuntimeError} OPTION_INVALID, NOT_HOSTED */
export function actorsHere(context: LiveContext, query: ActorsQuery): LocalActors {
  const limit = limitOf(query.limit);
  if (query.node !== undefined && query.node !== context.node) return { rows: [] };
  if (query.place !== undefined && query.place !== context.runtime.place) return { rows: [] };
  if (query.sort === 'state' || query.sort === 'turnAt' || query.order === 'desc')
    return sorted(context, query, limit);
  const rows: ActorLine[] = [];
  let { cursor } = query;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = context.runtime.query({
      ...indexQuery(context, query),
      limit: limit - rows.length,
      ...(cursor !== undefined && { cursor }),
    });
    for (const row of page.actors)
      if (isWanted(row, query)) rows.push(withOutbox(context, context.line(row)));
    cursor = page.cursor;
    if (cursor === undefined || rows.length >= limit) break;
  }
  return { rows, ...(cursor !== undefined && { cursor }) };
}

/** Rows in an order that the index has not, among the first that it has. */
function sorted(context: LiveContext, query: ActorsQuery, limit: number): LocalActors {
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
    for (const row of page.actors) if (isWanted(row, query)) found.push(context.line(row));
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

function isWanted({ address }: { readonly address: string }, { text }: ActorsQuery): boolean {
  return text === undefined || address.toLowerCase().includes(text.toLowerCase());
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
