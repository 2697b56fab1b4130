/**
 * Actors: a virtual list over the index, filtered and sorted by the server, with the whole view in the URL.
 */

import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ActorLine, ActorsPage, ActorsQuery } from '../../protocol.ts';
import { ask } from '../core/api.ts';
import { onListKeys } from '../core/keys.ts';
import { generation, isPaused, overview, useWatch } from '../core/live.ts';
import { isNarrow } from '../core/narrow.ts';
import { actorHref, go, route, setParams } from '../core/route.ts';
import { count, counted, plain } from '../core/words.ts';
import { ActorLink, Ago, Countdown, Empty, MissingNodes, Note, State } from '../parts/marks.tsx';
import { Rows } from '../parts/rows.tsx';
import { ActorFilters, queryOf } from './actor-filters.tsx';

/** As many as the server gives at once. */
const PAGE = 200;
const ROWS_MAX = 200_000;
const ROW_HEIGHT = 32;
/** On a phone a row has two lines, so that addresses and states have room. */
const ROW_HEIGHT_NARROW = 56;

export function ActorsPanel() {
  const query = queryOf(route.value.params);
  const list = useActors(query);
  const selected = useSignal(-1);
  useEffect(
    () =>
      onListKeys({
        move: (by) => {
          const most = list.rows.value.length - 1;
          selected.value = Math.max(0, Math.min(most, selected.value + by));
        },
        open: () => {
          const row = list.rows.value[selected.value];
          if (row !== undefined) go(actorHref(row.address));
        },
      }),
    [],
  );
  const rows = list.rows.value;
  const known = list.hasMore.value ? list.total.value : rows.length;
  return (
    <div class="panel actors">
      <ActorFilters query={query} />
      <p class="list-state" role="status">
        {list.isLoading.value && rows.length === 0
          ? 'Asking…'
          : `${known === undefined ? `${count(rows.length)}${list.hasMore.value ? ' and more' : ''}` : count(known)} ${known === 1 ? 'actor' : 'actors'}`}
        {list.changed.value > 0 && (
          <button type="button" class="link" onClick={list.again}>
            {counted(list.changed.value, 'row')} changed: show
          </button>
        )}
        {list.partial.value !== undefined && <span class="late"> {plain(list.partial.value)}</span>}
      </p>
      <MissingNodes missing={list.missing.value} />
      {list.error.value !== undefined && <Note sort="failed">{list.error.value}</Note>}
      <Heads query={query} />
      {rows.length === 0 && !list.isLoading.value && list.error.value === undefined ? (
        <Nothing query={query} />
      ) : (
        <Rows
          count={rows.length + (list.hasMore.value ? 1 : 0)}
          height={isNarrow.value ? ROW_HEIGHT_NARROW : ROW_HEIGHT}
          label="Actors"
          selected={selected.value}
          onWindow={(first, last) => list.see(first, last)}
          row={(index) => <Line row={rows[index]} isSelected={index === selected.value} />}
        />
      )}
    </div>
  );
}

const COLUMNS = [
  { name: 'Actor', sort: 'address' },
  { name: 'State', sort: 'state' },
  { name: 'Next deadline', sort: 'deadline' },
  { name: 'Last turn', sort: 'turnAt' },
  { name: 'Waits', sort: undefined },
  { name: 'Node', sort: undefined },
] as const;

function Heads({ query }: { query: ActorsQuery }) {
  const { sort = 'address', order = 'asc' } = query;
  return (
    <div class="row heads" role="row" tabIndex={-1}>
      {COLUMNS.map((column) => {
        const isSorted = column.sort === sort;
        const direction = isSorted ? (order === 'asc' ? 'ascending' : 'descending') : 'none';
        return (
          <span role="columnheader" tabIndex={-1} aria-sort={direction} key={column.name}>
            {column.sort === undefined ? (
              column.name
            ) : (
              <button
                type="button"
                class="link"
                onClick={() =>
                  setParams({
                    sort: column.sort === 'address' ? undefined : column.sort,
                    order: isSorted && order === 'asc' ? 'desc' : undefined,
                  })
                }
              >
                {column.name}
                {isSorted && <span aria-hidden="true">{order === 'asc' ? ' ↑' : ' ↓'}</span>}
              </button>
            )}
          </span>
        );
      })}
    </div>
  );
}

function Line({ row, isSelected }: { row: ActorLine | undefined; isSelected: boolean }) {
  if (row === undefined) return <div class="row soft">Asking for more…</div>;
  const { address, status, state, dueAt, turnAt, outbox, isPending, lastError, node, tags } = row;
  return (
    <div
      class={`row ${status} ${isSelected ? 'selected' : ''}`}
      role="row"
      tabIndex={-1}
      data-address={address}
    >
      <span role="gridcell" tabIndex={-1}>
        <ActorLink address={address} />
      </span>
      <span role="gridcell" tabIndex={-1} class="cell-state">
        <State state={state} status={status} />
        {tags.map((tag) => (
          <small class="tag" key={tag}>
            {plain(tag)}
          </small>
        ))}
      </span>
      <span role="gridcell" tabIndex={-1}>
        {dueAt === undefined ? <span class="soft">none</span> : <Countdown dueAt={dueAt} />}
      </span>
      <span role="gridcell" tabIndex={-1}>
        <Ago at={turnAt} />
      </span>
      <span
        role="gridcell"
        tabIndex={-1}
        class={lastError === undefined ? 'soft' : 'failed'}
        title={lastError}
      >
        {lastError !== undefined ? plain(lastError) : waits(status, isPending, outbox, dueAt)}
      </span>
      <span role="gridcell" tabIndex={-1} class="soft" title={plain(node)}>
        {plain(node)}
      </span>
    </div>
  );
}

function waits(status: string, isPending: boolean, outbox = 0, dueAt?: number): string {
  if (status === 'done') return 'ended';
  if (status === 'stopped') return 'stopped';
  if (outbox > 0) return `${outbox} not acknowledged`;
  if (isPending) return 'something under way';
  return dueAt === undefined ? 'a message' : 'a deadline';
}

function Nothing({ query }: { query: ActorsQuery }) {
  const isFiltered = Object.keys(query).some((name) => name !== 'sort' && name !== 'order');
  const kinds = overview.value?.kinds.map(({ kind }) => plain(kind)) ?? [];
  return isFiltered ? (
    <Empty title="No actor matches">
      <button
        type="button"
        onClick={() =>
          setParams(Object.fromEntries(Object.keys(query).map((name) => [name, undefined])))
        }
      >
        Show all
      </button>
    </Empty>
  ) : (
    <Empty title="There are no actors yet">
      {kinds.length > 0 && <p>Registered kinds: {kinds.join(', ')}.</p>}
    </Empty>
  );
}

/** Rows of a query: the first page is live, more of it comes as the reader scrolls, and nothing moves below the eyes. */
function useActors(query: ActorsQuery) {
  const rows = useSignal<readonly ActorLine[]>([]);
  const total = useSignal<number | undefined>(undefined);
  const isLoading = useSignal(true);
  const error = useSignal<string | undefined>(undefined);
  const missing = useSignal<ActorsPage['missing'] | undefined>(undefined);
  const partial = useSignal<string | undefined>(undefined);
  const cursor = useSignal<string | undefined>(undefined);
  const changed = useSignal(0);
  const top = useRef(0);
  const round = useRef(0);
  const key = JSON.stringify(query);

  const load = async (isFirst: boolean): Promise<void> => {
    if (isFirst) round.current += 1;
    const mine = round.current;
    isLoading.value = true;
    try {
      const after = isFirst ? undefined : cursor.peek();
      const page = await ask<ActorsPage>('actors', {
        ...query,
        limit: String(PAGE),
        cursor: after,
      });
      if (mine !== round.current) return;
      rows.value = isFirst ? page.rows : [...rows.peek(), ...page.rows];
      cursor.value = rows.peek().length < ROWS_MAX ? page.cursor : undefined;
      total.value = page.total ?? (page.cursor === undefined ? rows.peek().length : undefined);
      missing.value = page.missing;
      partial.value = page.isPartial?.why;
      error.value = undefined;
      if (isFirst) changed.value = 0;
    } catch (thrown) {
      if (mine === round.current) error.value = (thrown as Error).message;
    }
    if (mine === round.current) isLoading.value = false;
  };
  useEffect(() => {
    void load(true);
  }, [key, generation.value]);
  useWatch({ list: [key, { ...query, limit: '100' }] }, (frame) => {
    if (frame.type !== 'list' || frame.list !== key || isPaused.peek()) return;
    const news = new Map(frame.changed.map((row) => [row.address, row]));
    const before = rows.peek();
    const known = new Map(before.map((row) => [row.address, row]));
    const isMoved = frame.order.some((address, index) => before[index]?.address !== address);
    if (isMoved && top.current > 0) changed.value = frame.changed.length + frame.gone.length;
    if (!isMoved || top.current > 0) {
      if (frame.changed.length > 0) rows.value = before.map((row) => news.get(row.address) ?? row);
      return;
    }
    const first = frame.order.flatMap((address) => news.get(address) ?? known.get(address) ?? []);
    const named = new Set([...frame.order, ...frame.gone]);
    rows.value = [...first, ...before.filter(({ address }) => !named.has(address))];
  });
  return {
    rows,
    total,
    isLoading,
    error,
    missing,
    partial,
    changed,
    hasMore: useComputed(() => cursor.value !== undefined),
    again: () => void load(true),
    see: (first: number, last: number) => {
      top.current = first;
      if (!isLoading.peek() && cursor.peek() !== undefined && last > rows.peek().length - 2 * PAGE)
        void load(false);
    },
  };
}
