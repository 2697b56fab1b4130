/**
 * Tables in an actor's context, as they are stored: beside the record, row by row. A long input is stored
 * there, too: it never changes, and would be written with every turn.
 *
 * Guarantees: where a table stood the record has a mark with the number of its rows; the changes of a turn
 * are found without looking at the rest; a record whose rows are not those it speaks of is refused. A table of
 * few and short rows stands whole behind its mark, where it takes less than rows of its own; so does every table on its
 * way to another node.
 */

import { RuntimeError } from '../base/errors.ts';
import { jsonOnce } from '../base/json-cache.ts';
import { knob } from '../base/knob.ts';
import { refusingTables, Table } from '../base/table.ts';
import type { StoredRow } from '../ports/store.ts';

/** Tables by the name of the context's member. */
export type Tables = ReadonlyMap<string, Table<unknown>>;

export const NO_TABLES: Tables = new Map();

/** Changed rows, as `RowChanges` of store.ts, while more may come. */
export type ChangedRows = Map<string, Map<string, string | null>>;

/** Rows of one table: all of them are in memory while the actor is. */
const ROWS_MAX = 1_000_000;

/** Rows of a table that stands in its record, and the characters of them all. */
const INLINE_ROWS_MAX = knob('tableInlineRowsMax', 4);
const INLINE_LENGTH_MAX = knob('tableInlineLengthMax', 512);

/** Characters of an input that is written with its record. */
const INPUT_LENGTH_MAX = 1_024;

/** The table that has a longer one as its only row. */
const INPUT = 'escapement$$input';

/** The one member of what stands in a table's place: the number of its rows, or all of them. */
const MARK = 'escapement$$table';
const INPUT_MARK = JSON.stringify({ [MARK]: 1 });

export function tablesIn(context: object): Tables {
  let tables: Map<string, Table<unknown>> | undefined;
  // Done twice with each turn: without a list of all members.
  for (const name in context) {
    const part = (context as Readonly<Record<string, unknown>>)[name];
    if (!(part instanceof Table)) continue;
    tables ??= new Map();
    tables.set(name, part);
  }
  return tables ?? NO_TABLES;
}

/** All that lies beside the record of an actor. */
export function tablesBeside(context: object, input: unknown): Tables {
  const tables = tablesIn(context);
  const isInput = isLong(input);
  if (!isInput && (tables === NO_TABLES || [...tables.values()].every(isBeside))) return tables;
  const beside = new Map([...tables].filter(([, table]) => isBeside(table)));
  if (isInput) beside.set(INPUT, Table.of({ '': input }));
  return beside.size === 0 ? NO_TABLES : beside;
}

/** Small tables, with whether they are short as well: a table never changes. */
const areShort = new WeakMap<Table<unknown>, boolean>();

/** True of a table that has rows of its own beside the record. */
function isBeside(table: Table<unknown>): boolean {
  if (table.size === 0 || table.size > INLINE_ROWS_MAX.value) return true;
  let isShort = areShort.get(table);
  if (isShort === undefined) {
    let length = 0;
    for (const [key, row] of table) length += key.length + textOf(row).length;
    isShort = length <= INLINE_LENGTH_MAX.value;
    areShort.set(table, isShort);
  }
  return !isShort;
}

const isLong = (input: unknown): boolean =>
  input !== undefined && jsonOnce(input).length > INPUT_LENGTH_MAX;

/** An input as it stands in its record. */
export function inputText(input: unknown): string {
  return isLong(input) ? INPUT_MARK : jsonOnce(input);
}

/** The context with a mark in the place of each table; itself where it has none. */
export function marked<T extends object>(context: T): T {
  return replaced(context, (table) => ({
    [MARK]: isBeside(table) ? table.size : inlineRows(table),
  }));
}

/** What JSON has no words for is null, as it is in a row of its own. */
function inlineRows(table: Table<unknown>): object {
  return Object.fromEntries(Array.from(table, ([key, row]) => [key, isText(row) ? row : null]));
}

const isText = (row: unknown): boolean => !['undefined', 'function', 'symbol'].includes(typeof row);

/** The context with all rows behind each mark. */
export function inlined<T extends object>(context: T): T {
  return replaced(context, (table) => ({ [MARK]: table.toJSON() }));
}

/** The context with each table as an object. */
export function plain<T extends object>(context: T): T {
  return replaced(context, (table) => table.toJSON());
}

function replaced<T extends object>(context: T, by: (table: Table<unknown>) => unknown): T {
  const tables = tablesIn(context);
  if (tables.size === 0) return context;
  const others = Array.from(tables, ([name, table]) => [name, by(table)] as const);
  return { ...context, ...Object.fromEntries(others) };
}

/** True if there may be marks in a record. */
export function mayHaveTables(text: string): boolean {
  return text.includes(MARK);
}

/** Puts all that lies beside a record in the places of its marks. @throws {Error} when it is not what they say. */
export function unmarkRecord<TRecord extends MarkedRecord>(
  record: TRecord,
  tables: Tables,
): TRecord {
  const { [INPUT]: inputs, ...ofContext } = Object.fromEntries(tables);
  unmark(record.snapshot.context, new Map(Object.entries(ofContext)));
  const isMarked = (record.input as { readonly [MARK]?: unknown } | null | undefined)?.[MARK] === 1;
  if (isMarked !== (inputs !== undefined)) throw new Error('its input is missing');
  return inputs === undefined ? record : { ...record, input: inputs.get('') };
}

/** A record with all that lies beside it in its place, for code that only reads. */
export function wholeRecord(text: string, rows: Iterable<StoredRow>): string {
  if (!mayHaveTables(text)) return text;
  return JSON.stringify(unmarkRecord(JSON.parse(text) as MarkedRecord, tablesOf(rows)));
}

interface MarkedRecord {
  readonly snapshot: { readonly context?: unknown };
  readonly input?: unknown;
}

/**
 * Puts tables in the places of their marks; without `tables` only those that stand behind them.
 *
 * @throws {Error} when they are not what the marks say.
 */
export function unmark(context: unknown, tables?: Tables): void {
  if (typeof context !== 'object' || context === null) return;
  const members = context as Record<string, unknown>;
  let found = 0;
  for (const [name, part] of Object.entries(members)) {
    const rows = (part as { readonly [MARK]?: unknown } | null)?.[MARK];
    if (rows === undefined) continue;
    if (typeof rows === 'object' && rows !== null) {
      members[name] = Table.of(rows as Readonly<Record<string, unknown>>);
      continue;
    }
    if (tables === undefined) continue;
    const table = tables.get(name) ?? Table.of<unknown>();
    if (table.size !== rows) throw new Error(`"${name}" has ${table.size} rows of ${rows}`);
    if (tables.has(name)) found += 1;
    members[name] = table;
  }
  if (found < (tables?.size ?? 0)) throw new Error('it has rows of a table that it does not know');
}

/** Rows of one table of a stored actor, wherever they stand. */
export function* storedRows(
  text: string,
  rows: Iterable<StoredRow>,
  name: string,
): Iterable<readonly [key: string, row: unknown]> {
  const { snapshot } = JSON.parse(text) as MarkedRecord;
  const context = (snapshot.context ?? {}) as Readonly<Record<string, unknown>>;
  const inline = (context[name] as { readonly [MARK]?: unknown } | undefined)?.[MARK];
  if (typeof inline === 'object' && inline !== null) yield* Object.entries(inline);
  else for (const [table, key, row] of rows) if (table === name) yield [key, JSON.parse(row)];
}

/** The tables that rows were written of. */
export function tablesOf(rows: Iterable<StoredRow>): Tables {
  const found = new Map<string, Array<readonly [string, unknown]>>();
  for (const [name, key, text] of rows) {
    const pairs = found.get(name) ?? [];
    found.set(name, pairs);
    pairs.push([key, JSON.parse(text)]);
  }
  return new Map(Array.from(found, ([name, pairs]) => [name, Table.of(pairs)]));
}

/**
 * Changes to write of a table that was another; undefined where nothing has. @throws {RuntimeError}
 * ACTOR_TOO_LARGE
 */
export function rowChanges(
  address: string,
  before: Tables,
  after: Tables,
  rowBytesMax: number,
): ChangedRows | undefined {
  if (before === after) return undefined;
  const changes: ChangedRows = new Map();
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const table = after.get(name);
    const changed = new Map<string, string | null>();
    for (const [key, row] of Table.changes(before.get(name), table)) {
      const isGone = row === undefined && table?.has(key) !== true;
      const text = isGone ? null : textOf(row);
      if (text !== null && text.length > rowBytesMax && name !== INPUT)
        throw tooLarge(
          address,
          `A row of "${name}" in ${address} would take ${text.length} bytes`,
          `recordBytesMax ${rowBytesMax}`,
        );
      changed.set(key, text);
    }
    if (table !== undefined && table.size > ROWS_MAX)
      throw tooLarge(
        address,
        `"${name}" in ${address} would have ${table.size} rows`,
        `${ROWS_MAX} at most`,
      );
    if (changed.size > 0) changes.set(name, changed);
  }
  return changes.size === 0 ? undefined : changes;
}

/** Adds what was changed after that. */
export function join(changes: ChangedRows, later: ChangedRows): void {
  for (const [name, rows] of later) {
    const known = changes.get(name);
    if (known === undefined) changes.set(name, rows);
    else for (const [key, text] of rows) known.set(key, text);
  }
}

function textOf(row: unknown): string {
  return refusingTables(() => JSON.stringify(row)) ?? 'null';
}

function tooLarge(address: string, what: string, limit: string): RuntimeError {
  const advice = 'Keep large data elsewhere and a reference here.';
  return new RuntimeError('ACTOR_TOO_LARGE', `${what} (${limit}). ${advice}`, { address });
}
