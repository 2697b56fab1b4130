/**
 * Queries over many actors, answered without reading a record: from the store's index, from the deadlines
 * that a host has in memory, and from the actors that have something under way, all of which are in memory.
 */

import type { Actor } from '../actor.ts';
import { excerpt, RuntimeError } from '../base/errors.ts';
import type { Routes } from '../delivery.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type IndexEntry,
  isAskedFor,
  ROWS_LOOKED_AT,
  type Store,
  type StoreQuery,
} from '../ports/store.ts';
import { cursorOf, dueOfCursor, soonest } from './soonest.ts';

/** Things that an actor may wait for; see docs/embedding.md. */
export const WAITING_FOR = ['message', 'timer', 'promise', 'effect', 'acknowledgement'] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

export interface ActorQuery {
  readonly kind?: string;
  readonly status?: IndexEntry['status'];
  /** The state value as text: `running`, or JSON for a nested one. */
  readonly state?: string;
  readonly tag?: string;
  /** Only actors that stand in queues whose names begin so (`rank` of their kind); they come in the order of their ranks. */
  readonly queue?: string;
  /** Only actors with a deadline before this moment (ms since the epoch). */
  readonly deadlineBefore?: number;
  /** Only active actors that have taken no event for longer than this. */
  readonly stuckFor?: number;
  /**
   * Only active actors that wait for a deadline (`timer`), a promise, callback or observable (`promise`), a
   * durable effect (`effect`), a receiver to acknowledge what they sent (`acknowledgement`), or for none of
   * these: only a message moves them on (`message`).
   */
  readonly waitingFor?: WaitingFor;
  /** `deadline`: only actors that have one, the next one first. Default: by address. */
  readonly sort?: 'address' | 'deadline';
  /** Rows per page at most, 1 to 1,000; a page may have fewer and still a cursor. Default 100. */
  readonly limit?: number;
  /** Rows that are looked at for a page, where the store counts them; then it ends, with a cursor. Default 20,000. */
  readonly lookedAtMax?: number;
  /** The `cursor` of the page before, of the same query. */
  readonly cursor?: string;
}

export interface ActorRow extends IndexEntry {
  readonly address: string;
}

export interface ActorPage {
  readonly actors: readonly ActorRow[];
  readonly cursor?: string;
}

/** Sources in which actors are looked for. */
export interface QuerySources {
  readonly store: Pick<Store, 'query' | 'entry'>;
  readonly shard: {
    readonly isHosting: boolean;
    readonly deadlines: { each(show: (address: string, dueAt: number) => void): void };
    readonly live: Iterable<Actor> & { peek(address: string): Actor | undefined };
  };
  readonly place: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly routes: Pick<Routes, 'notHosted'>;
}

/** @throws {RuntimeError} OPTION_INVALID, NOT_HOSTED */
export function queryActors(sources: QuerySources, query: ActorQuery): ActorPage {
  const { waitingFor, sort = 'address', limit = 100 } = query;
  check(query, limit);
  const asked = storeQueryOf(query, limit, sources.clock.now());
  if (sort === 'address' && (waitingFor === undefined || waitingFor === 'timer'))
    return inIndex(sources, asked);
  if (!sources.shard.isHosting) throw sources.routes.notHosted(sources.place);
  if (sort === 'deadline') return byDeadline(sources, asked, query);
  if (waitingFor === 'message') return forMessages(sources, asked);
  return amongLive(sources, asked, waitingFor as WaitingFor);
}

/** Rows of the store's index as they lie there. */
function inIndex({ store }: QuerySources, asked: StoreQuery): ActorPage {
  const { rows, cursor } = store.query(asked);
  const actors = rows.map(([address, entry]) => ({ address, ...entry }));
  return cursor === undefined ? { actors } : { actors, cursor };
}

/** Actors without a deadline in the index that have nothing under way; a page may be short. */
function forMessages(sources: QuerySources, asked: StoreQuery): ActorPage {
  const { actors, ...rest } = inIndex(sources, asked);
  const waiting = actors.filter(
    ({ address, dueAt, status }) =>
      status === 'active' && dueAt === null && !isBusy(sources.shard.live.peek(address)),
  );
  return { ...rest, actors: waiting };
}

/** An actor that has something under way is in memory as long as it has. */
function amongLive(
  { shard, store }: QuerySources,
  asked: StoreQuery,
  waitingFor: WaitingFor,
): ActorPage {
  const { after = '', kind, lookedAtMax = ROWS_LOOKED_AT.value } = asked;
  const isOfKind = (address: string) => kind === undefined || address.startsWith(`${kind}/`);
  const addresses = [...shard.live]
    .filter((actor) => actor.address > after && waitsFor(actor, waitingFor))
    .map(({ address }) => address)
    .filter(isOfKind)
    .sort();
  return rowsOf(store, addresses, asked, (address) => address, lookedAtMax);
}

function byDeadline(
  { shard, store }: QuerySources,
  asked: StoreQuery,
  { waitingFor = 'timer', cursor, kind }: ActorQuery,
): ActorPage {
  const { limit, dueBefore = Number.POSITIVE_INFINITY, lookedAtMax = ROWS_LOOKED_AT.value } = asked;
  const isWanted = (address: string, dueAt: number): boolean =>
    dueAt < dueBefore &&
    (kind === undefined || address.startsWith(`${kind}/`)) &&
    (waitingFor === 'timer' || waitsFor(shard.live.peek(address), waitingFor));
  const after = cursor === undefined ? undefined : dueOfCursor(cursor);
  const { state, tag, turnBefore, status } = asked;
  const isNarrow = [state, tag, turnBefore, status].some((each) => each !== undefined);
  // One more than a page, to know whether there is another; where rows decide, as many as may be looked at.
  const found = soonest(shard.deadlines, (isNarrow ? lookedAtMax : limit) + 1, after, isWanted);
  const moments = new Map(found.map(({ address, dueAt }) => [address, dueAt]));
  const place = (address: string): string =>
    cursorOf({ address, dueAt: moments.get(address) as number });
  return rowsOf(store, [...moments.keys()], asked, place, isNarrow ? lookedAtMax : limit);
}

/** The rows of these addresses that are asked for, looking at a limited number of them. */
function rowsOf(
  store: Pick<Store, 'entry'>,
  addresses: readonly string[],
  asked: StoreQuery,
  cursorAt: (address: string) => string,
  lookedAtMax: number,
): ActorPage {
  const actors: ActorRow[] = [];
  let lookedAt = 0;
  let last = '';
  for (const address of addresses) {
    if (lookedAt === lookedAtMax || actors.length === asked.limit)
      return { actors, cursor: cursorAt(last) };
    lookedAt += 1;
    last = address;
    const entry = store.entry(address);
    if (entry !== undefined && entry.status === 'active' && isAskedFor(entry, asked))
      actors.push({ address, ...entry });
  }
  return { actors };
}

function waitsFor(actor: Actor | undefined, waitingFor: WaitingFor): boolean {
  if (actor?.status !== 'active') return false;
  if (waitingFor === 'effect') return actor.effects.length > 0;
  if (waitingFor === 'acknowledgement') return actor.outbox.size > 0;
  return actor.tree?.members().some(({ actsAlone }) => actsAlone) === true;
}

function isBusy(actor: Actor | undefined): boolean {
  return (['effect', 'acknowledgement', 'promise'] as const).some((one) => waitsFor(actor, one));
}

function storeQueryOf(query: ActorQuery, limit: number, now: number): StoreQuery {
  const { kind, state, tag, queue, stuckFor, lookedAtMax, cursor, waitingFor, sort } = query;
  const hasDeadline = waitingFor === 'timer' || sort === 'deadline';
  const { deadlineBefore = hasDeadline ? Number.MAX_SAFE_INTEGER : undefined } = query;
  const isActive = stuckFor !== undefined || (waitingFor !== undefined && sort !== 'deadline');
  const status = query.status ?? (isActive ? 'active' : undefined);
  return {
    limit,
    ...(kind !== undefined && { kind }),
    ...(status !== undefined && { status }),
    ...(state !== undefined && { state }),
    ...(tag !== undefined && { tag }),
    ...(queue !== undefined && { queue }),
    ...(deadlineBefore !== undefined && { dueBefore: deadlineBefore }),
    ...(stuckFor !== undefined && { turnBefore: now - stuckFor }),
    ...(lookedAtMax !== undefined && { lookedAtMax }),
    ...(cursor !== undefined && { after: cursor }),
  };
}

function check({ queue, sort, waitingFor }: ActorQuery, limit: number): void {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1_000)
    throw invalid(`A query's limit is a whole number from 1 to 1,000, got ${limit}.`);
  if (sort !== undefined && sort !== 'address' && sort !== 'deadline')
    throw invalid(`A query is sorted by "address" or "deadline", got ${excerpt(sort)}.`);
  if (waitingFor !== undefined && !WAITING_FOR.includes(waitingFor))
    throw invalid(
      `A query's "waitingFor" is one of ${WAITING_FOR.join(', ')}, got ${excerpt(waitingFor)}.`,
    );
  if (queue !== undefined && (sort !== undefined || waitingFor !== undefined))
    throw invalid(
      'Actors of a queue come in the order of their ranks: no "sort", no "waitingFor".',
    );
}

function invalid(what: string): RuntimeError {
  return new RuntimeError('OPTION_INVALID', what);
}
