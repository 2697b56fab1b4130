/**
 * A store against the most naive model of one: random groups, some of them stale, then
 * every read there is must agree with the model.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { onlyQueue, rankKey } from '../../runtime/actor/rank.ts';
import type {
  ActorWrite,
  Group,
  IndexEntry,
  Rank,
  RowChanges,
  Store,
  StoreQuery,
} from '../../runtime/ports/store.ts';
import type { StoreDriver } from './describe-store.ts';
import { allPages, commitAll, rowsOf } from './store-groups.ts';

interface Remembered {
  record: string;
  entry: IndexEntry;
  history: string[];
  rows: Map<string, string>;
}

interface Model {
  readonly fences: Map<string, number>;
  readonly actors: Map<string, Remembered>;
  undelivered: Array<readonly [string, string]>;
}

const address = fc
  .tuple(
    fc.constantFrom('a', 'b'),
    fc.constantFrom('1', '2', '10', 'x/y'),
    fc.constantFrom('P', 'Q'),
  )
  .map(([kind, key, place]) => `${kind}/${key}@${place}`);
const moment = fc.integer({ min: 0, max: 4 });
const rank = fc.record<Rank>({
  queue: fc.constantFrom('q', 'q 1', 'r'),
  order: fc.constantFrom('1', '1 2', '2'),
});
const parts = fc.record<Omit<IndexEntry, 'kind' | 'rank'>>({
  status: fc.constantFrom('active', 'done', 'stopped'),
  isPending: fc.boolean(),
  state: fc.constantFrom('s', 't', '{"u":"v"}'),
  tags: fc.subarray(['hot', 'cold']),
  dueAt: fc.option(moment),
  turnAt: moment,
});
const entry = fc
  .tuple(parts, fc.option(rank, { nil: undefined }))
  .map(([own, found]) => ({ ...own, ...(found !== undefined && { rank: found }) }));
const LONG_NAME = `${'long '.repeat(40)}ünï`;
const row = fc.tuple(
  fc.constantFrom('t', 'u', LONG_NAME),
  fc.constantFrom('1', '2', '', '#1', 'ä', '\u0000', LONG_NAME),
  fc.option(fc.string(), { freq: 3 }),
);
const change = fc
  .tuple(
    address,
    fc.option(entry, { freq: 5 }),
    fc.array(fc.string(), { maxLength: 4 }),
    fc.array(row, { maxLength: 5 }),
    fc.boolean(),
  )
  .map(([to, parts, history, rows, isAnew]) => {
    const own = parts === null ? null : { ...parts, kind: to.slice(0, to.indexOf('/')) };
    return { to, entry: own, history, rows, isAnew };
  });
const step = fc.record({
  shard: fc.constantFrom('P', 'Q'),
  fence: fc.integer({ min: 1, max: 4 }),
  changes: fc.uniqueArray(change, { maxLength: 4, selector: ({ to }) => to }),
  undelivered: fc.nat({ max: 2 }),
  dropped: fc.array(fc.nat({ max: 20 }), { maxLength: 2 }),
});
const question = fc.record<StoreQuery, 'limit'>(
  {
    kind: fc.constantFrom('a', 'b'),
    status: fc.constantFrom('active', 'done', 'stopped'),
    state: fc.constantFrom('s', 't'),
    tag: fc.constantFrom('hot', 'cold'),
    queue: fc.constantFrom('', 'q', 'q 1', onlyQueue('q'), 'x'),
    dueBefore: moment,
    turnBefore: moment,
    limit: fc.integer({ min: 1, max: 5 }),
  },
  { requiredKeys: ['limit'] },
);

export function testStoreAgainstModel(open: () => Promise<StoreDriver>): void {
  test('agrees with a naive model after any groups, refused ones included', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.array(question, { minLength: 1, maxLength: 6 }),
        async (steps, questions) => {
          const driver = await open();
          const model: Model = { fences: new Map(), actors: new Map(), undelivered: [] };
          let count = 0;
          for (const { undelivered, changes, dropped, ...parts } of steps) {
            const lost = Array.from({ length: undelivered }, () => {
              count += 1;
              return [`${count}`.padStart(3, '0'), `row ${count}`] as const;
            });
            const writes = changes.map(
              ({ to, entry: found, history, rows, isAnew }, index): ActorWrite => ({
                address: to,
                ...(found !== null && { rows: changesOf(rows), isAnew }),
                record: found === null ? null : `record ${count} of ${to}`,
                entry: found,
                history: found === null ? [] : history,
                ...(index === 0 && { undelivered: lost }),
              }),
            );
            const ids = dropped.map((id) => `${id}`.padStart(3, '0'));
            const each: Group = { ...parts, writes, dropUndelivered: ids };
            const [outcome] = await commitAll(driver.store, each);
            expect(outcome).toBe(apply(model, each, driver));
          }
          compare(driver.store, model, questions);
          const again = steps.length % 4 === 0 ? await driver.reopen?.() : undefined;
          if (again !== undefined) compare(again, model, questions);
          await driver.close();
        },
      ),
      { numRuns: 200 },
    );
  });
}

function changesOf(rows: ReadonlyArray<readonly [string, string, string | null]>): RowChanges {
  const changes = new Map<string, Map<string, string | null>>();
  for (const [table, key, text] of rows)
    changes.set(table, (changes.get(table) ?? new Map()).set(key, text));
  return changes;
}

/** What the model says the group comes to. */
function apply(model: Model, each: Group, limits: StoreDriver): string | undefined {
  const { shard, fence, writes, dropUndelivered = [] } = each;
  if (fence < (model.fences.get(shard) ?? 0)) return 'FENCE_STALE';
  model.fences.set(shard, fence);
  for (const write of writes) {
    const { address: to, record, entry: found, history, undelivered = [] } = write;
    model.undelivered = [...model.undelivered, ...undelivered].slice(-limits.undeliveredMax);
    if (record === null || found === null) {
      model.actors.delete(to);
      continue;
    }
    const before = model.actors.get(to)?.history ?? [];
    const kept = [...before, ...history].slice(-limits.historyMax);
    const rows = new Map(write.isAnew === true ? [] : model.actors.get(to)?.rows);
    for (const [table, changes] of write.rows ?? [])
      for (const [key, text] of changes) {
        if (text === null) rows.delete(JSON.stringify([table, key]));
        else rows.set(JSON.stringify([table, key]), text);
      }
    model.actors.set(to, { record, entry: found, history: kept, rows });
  }
  model.undelivered = model.undelivered.filter(([id]) => !dropUndelivered.includes(id));
  return undefined;
}

function compare(store: Store, model: Model, questions: readonly StoreQuery[]): void {
  const addresses = [...model.actors.keys()].sort();
  expect([...store.entries()]).toEqual(addresses.map((to) => [to, model.actors.get(to)?.entry]));
  for (const shard of ['P', 'Q']) expect(store.fence(shard)).toBe(model.fences.get(shard) ?? 0);
  for (const to of addresses) {
    const { record, history, rows } = model.actors.get(to) as Remembered;
    expect(rowsOf(store, to)).toEqual(rows);
    expect(store.load(to)).toBe(record);
    expect(store.history(to, 100)).toEqual(history);
    expect(store.history(to, 2)).toEqual(history.slice(-2));
  }
  expect([...store.undelivered()]).toEqual(model.undelivered);
  for (const query of questions) {
    const expected = addresses
      .filter((to) => isAskedFor(model.actors.get(to)?.entry, query))
      .toSorted(byRank(model, query));
    expect(allPages(store, query)).toEqual(expected);
  }
}

/** Of a query that names no queue nothing changes. */
function byRank(model: Model, { queue }: StoreQuery): (one: string, other: string) => number {
  if (queue === undefined) return () => 0;
  const keyOf = (to: string) => rankKey(model.actors.get(to)?.entry.rank as Rank, to);
  return (one, other) => (keyOf(one) < keyOf(other) ? -1 : 1);
}

function isAskedFor(found: IndexEntry | undefined, query: StoreQuery): boolean {
  if (found === undefined) return false;
  const { kind, status, state, tag, queue, dueBefore, turnBefore } = query;
  const standsIn = found.rank && `${found.rank.queue}\u0000`;
  return (
    (queue === undefined || standsIn?.startsWith(queue) === true) &&
    (kind === undefined || found.kind === kind) &&
    (status === undefined || found.status === status) &&
    (state === undefined || found.state === state) &&
    (tag === undefined || found.tags.includes(tag)) &&
    (dueBefore === undefined || (found.dueAt !== null && found.dueAt < dueBefore)) &&
    (turnBefore === undefined || found.turnAt < turnBefore)
  );
}
