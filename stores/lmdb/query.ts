/**
 * Queries of the LMDB store: they find actors by state, tag, kind and time.
 *
 * Records lie in the order of their addresses, so a kind is a range of them; states and tags
 * have keys of their own, each followed by the address, and so have actors that stand in queues,
 * in the order of their ranks. Times are read from the rows of the
 * narrowest such range. A page looks at a bounded number of rows, so that a question that few
 * actors answer does not hold up the node: it may be short and still have a cursor.
 */

import { createHash } from 'node:crypto';
import { isSameRank, rankKey } from '../../runtime/actor.ts';
import type { IndexEntry, Rank, StorePage, StoreQuery } from '../../runtime/ports/store.ts';
import { isAskedFor, ROWS_LOOKED_AT } from '../../runtime/ports/store.ts';
import { type Environment, FIRST_KEY } from './environment.ts';
import { isSound, readEntry } from './row.ts';

/** Other words would not fit into a key beside an address, or not keep the order of keys. */
const PLAIN_WORD = /^[ -"$-~]{0,16}$/;
/** Two words of one hash would share a range; what is found there is compared whole. */
const HASH_LENGTH = 12;
const SEPARATOR = '\u0000';
/** Keys of actors that stand in queues begin so. */
const QUEUE = 'q';
/** Character behind everything that a key may go on with. */
const LAST = '\u007f';

type Indexed = Pick<IndexEntry, 'state' | 'tags'> & { readonly rank?: Rank | undefined };

/** The index keys an actor has. */
export function* indexKeys(address: string, { state, tags, rank }: Indexed): Iterable<string> {
  yield stateKey(state, address);
  if (rank !== undefined) yield `${QUEUE}${rankKey(rank, address)}`;
  for (const tag of tags) yield tagKey(tag, address);
}

/** True when both entries have the same index keys. */
export function isIndexedAlike(a: Indexed, b: Indexed): boolean {
  if (a.state !== b.state || a.tags.length !== b.tags.length) return false;
  if (!isSameRank(a.rank, b.rank)) return false;
  return a.tags.every((tag, place) => tag === b.tags[place]);
}

export function queryRows(environment: Environment, query: StoreQuery): StorePage {
  const rows: Array<readonly [string, IndexEntry]> = [];
  const { lookedAtMax = ROWS_LOOKED_AT.value } = query;
  let lookedAt = 0;
  let last: string | undefined;
  const found =
    query.queue === undefined ? candidates(environment, query) : inQueue(environment, query);
  for (const [address, entry, cursor = address] of found) {
    if (lookedAt === lookedAtMax || rows.length === query.limit)
      return last === undefined ? { rows } : { rows, cursor: last };
    lookedAt += 1;
    last = cursor;
    // A long state is found by its hash; here it is compared whole.
    if (isAskedFor(entry, query)) rows.push([address, entry]);
  }
  return { rows };
}

type Candidate = readonly [address: string, entry: IndexEntry, cursor?: string];

/** Finds actors that stand in queues of such names, in the order of their ranks. */
function* inQueue(
  environment: Environment,
  { queue = '', after = '' }: StoreQuery,
): Iterable<Candidate> {
  const start = after >= queue ? `${after}${SEPARATOR}` : queue;
  const range = { start: `${QUEUE}${start}`, end: `${QUEUE}${queue}${LAST}` };
  for (const key of environment.index.getKeys(range)) {
    const address = key.slice(key.lastIndexOf(SEPARATOR) + 1);
    const row = environment.records.get(address);
    if (row !== undefined && isSound(address, row, environment.patterns))
      yield [address, readEntry(address, row, environment.patterns), key.slice(QUEUE.length)];
  }
}

/** All records but the damaged ones, checked before: what a node reads when it begins to host. */
export function* entriesBut(
  environment: Environment,
  damaged: ReadonlyMap<string, unknown>,
): Iterable<readonly [string, IndexEntry]> {
  for (const { key, value } of environment.records.getRange({ start: FIRST_KEY }))
    if (!damaged.has(key)) yield [key, readEntry(key, value, environment.patterns)];
}

/** All records of a range of addresses, in their order; damaged ones are left out. */
function* entriesOf(
  environment: Environment,
  range: { readonly start: string; readonly end: string },
): Iterable<readonly [string, IndexEntry]> {
  for (const { key, value } of environment.records.getRange(range))
    if (isSound(key, value, environment.patterns))
      yield [key, readEntry(key, value, environment.patterns)];
}

function* candidates(
  environment: Environment,
  { kind, state, tag, after }: StoreQuery,
): Iterable<Candidate> {
  const first = kind === undefined ? '' : `${kind}/`;
  const start = after !== undefined && after >= first ? `${after}${SEPARATOR}` : first;
  const end = kind === undefined ? '\u007f' : `${kind}0`;
  const word = tag !== undefined ? tagKey(tag, '') : state !== undefined ? stateKey(state, '') : '';
  const range = { start: word + start || FIRST_KEY, end: word + end };
  if (word === '') {
    yield* entriesOf(environment, range);
    return;
  }
  for (const key of environment.index.getKeys(range)) {
    const address = key.slice(word.length);
    const row = environment.records.get(address);
    if (row !== undefined && isSound(address, row, environment.patterns))
      yield [address, readEntry(address, row, environment.patterns)];
  }
}

function stateKey(state: string, address: string): string {
  return `s${shortened(state)}${SEPARATOR}${address}`;
}

function tagKey(tag: string, address: string): string {
  return `t${shortened(tag)}${SEPARATOR}${address}`;
}

function shortened(word: string): string {
  if (PLAIN_WORD.test(word)) return word;
  return `#${createHash('sha256').update(word).digest('base64url').slice(0, HASH_LENGTH)}`;
}
