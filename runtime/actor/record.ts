/**
 * Records: each is the stored part of an actor, as one JSON text.
 *
 * Format 1: `format`, `kind`, `version` (of the machine), `turns`, `at`, `snapshot`
 * (XState's own persisted snapshot) and, where there is something to say, `timers`,
 * `inbox`, `counter`, `since`, `outbox`, `effects`, `sessions`, `booked`, `input`, `term`,
 * `tries`, `status`, `stopReason`. Written in one place, read in one place; what is empty or
 * usual is left out, because an idle actor is nothing but this text and the rows of its tables.
 */

import { messageOf, RuntimeError } from '../base/errors.ts';
import { timeText } from '../base/json-cache.ts';
import { refusingTables } from '../base/table.ts';
import type { Tree } from '../statechart.ts';
import {
  inputText,
  isHandled,
  mayHaveTables,
  NO_TABLES,
  type Tables,
  unmarkRecord,
} from '../statechart.ts';
import { type Actor, FORGOTTEN, shownSnapshot, stateText, unspawned } from './actor.ts';
import { Inbox } from './inbox.ts';
import type { Kind, MigratedState } from './kind.ts';
import { Outbox } from './outbox.ts';
import {
  isListOf,
  isObject,
  isTimer,
  parseRecord,
  type StoredRecord,
  type StoredTimer,
} from './record-shape.ts';
import { type TimerRow, TimerTable } from './timer-table.ts';

/**
 * In many pieces, with marks where tables are: their rows are written beside it.
 *
 * @throws {RuntimeError} ACTOR_TOO_LARGE when the snapshot, with its children, passes `recordBytesMax`;
 * TABLE_MISPLACED
 */
export function encodeRecord(actor: Actor, recordBytesMax: number): string {
  return refusingTables(() => encoded(actor, recordBytesMax));
}

function encoded(actor: Actor, recordBytesMax: number): string {
  const { kind, timers, effects } = actor;
  const tree = actor.tree as Tree;
  const snapshot = tree.encode();
  if (snapshot.length > recordBytesMax)
    throw tooLarge(actor.address, snapshot.length, recordBytesMax);
  let text = `${kind.recordHead}${actor.turns},"at":${timeText(actor.at)},"snapshot":${snapshot}`;
  if (timers.rows.length > 0) text += `,"timers":${encodeTimers(kind, timers.rows)}`;
  const inbox = actor.inbox.encode();
  if (inbox !== '') text += `,"inbox":${inbox}`;
  const { counter } = actor.outbox;
  if (counter > 0) {
    text += `,"counter":${counter}`;
    if (actor.outbox.since !== undefined) text += `,"since":${timeText(actor.outbox.since)}`;
    if (actor.outbox.size > 0) text += `${OUTBOX}${actor.outbox.encode()}`;
  }
  if (effects.length > 0) text += `,"effects":${JSON.stringify(effects)}`;
  const numbers = tree.sessions();
  if (numbers !== undefined)
    text += `,"sessions":${JSON.stringify(numbers.sessions)},"booked":${numbers.booked}`;
  if (actor.input !== undefined) text += `,"input":${inputText(actor.input)}`;
  if (actor.term > 1) text += `,"term":${actor.term}`;
  if (actor.tries.size > 0) text += `,"tries":${JSON.stringify([...actor.tries])}`;
  if (actor.status !== 'active') text += `,"status":"${actor.status}"`;
  if (actor.stopReason !== undefined) text += `,"stopReason":${JSON.stringify(actor.stopReason)}`;
  return `${text}}`;
}

/** Beginning of an outbox in a record; without messages there is none. */
const OUTBOX = ',"outbox":';

/** False when a record surely has no unanswered messages, told without unpacking it. */
export function mayOweMessages(text: string): boolean {
  return text.includes(OUTBOX);
}

/** Time when the first message was numbered; undefined in records of former releases, and before. */
export function numberedSince(text: string): number | undefined {
  return (JSON.parse(text) as StoredRecord).since;
}

/**
 * Unpacks a record, migrated to the kind's version where it is older; `findTables` reads those beside it.
 *
 * @throws {RuntimeError} RECORD_NEWER or RECORD_INVALID; the record stays as it is.
 */
export function decodeRecord(
  kind: Kind,
  address: string,
  text: string,
  findTables: () => Tables,
): Actor {
  const parsed = parseRecord(kind, address, text);
  const { stored, tables } = withTables(address, text, parsed, findTables);
  const { snapshot, timers } = migrated(kind, address, stored);
  const { sessions, booked } = stored;
  const tree = kind.chart.restore(address, { snapshot, sessions, booked }, kind.outside);
  const actor = Object.assign(unspawned(address, kind), {
    tree,
    status: stored.status ?? 'active',
    stopReason: stored.stopReason,
    input: stored.input,
    turns: stored.turns,
    at: stored.at,
    committedTurn: stored.turns,
    committedAt: stored.at,
    timers: new TimerTable(timers),
    inbox: Inbox.restore(stored.inbox),
    outbox: new Outbox(stored.counter, stored.outbox, stored.since),
    effects: stored.effects ?? [],
    term: stored.term ?? 1,
    tries: new Map(stored.tries),
    text,
    tables,
    state: stateText(tree.snapshot.value),
  });
  if (actor.stopReason !== FORGOTTEN) actor.committed = shownSnapshot(actor);
  return actor;
}

/** Puts tables where their marks are. @throws {RuntimeError} RECORD_INVALID */
function withTables(
  address: string,
  text: string,
  stored: StoredRecord,
  findTables: () => Tables,
): { readonly stored: StoredRecord; readonly tables: Tables } {
  if (!mayHaveTables(text)) return { stored, tables: NO_TABLES };
  const tables = findTables();
  try {
    return { stored: unmarkRecord(stored, tables), tables };
  } catch (thrown) {
    const what = `The record of ${address} and its rows do not belong together: ${messageOf(thrown)}.`;
    throw new RuntimeError('RECORD_INVALID', what, { address });
  }
}

/**
 * Refuses an actor that waits for a deadline of a state it is not in, which its machine cannot have
 * left behind: it was changed without a new version, or the record is not what was written.
 *
 * @throws {RuntimeError} RECORD_INVALID
 */
export function checkDeadlines({ address, kind, status, text, timers, tree }: Actor): void {
  if (status !== 'active' || timers.rows.length === 0 || !isOfVersion(text, kind)) return;
  const { snapshot } = tree as Tree;
  const foreign = timers.rows.find(
    ({ target, event }) =>
      target === 0 && event.type.startsWith(AFTER) && !isHandled(snapshot, event.type),
  );
  if (foreign === undefined) return;
  const what = `${address} waits for ${foreign.id}, a deadline of a state it is not in. If its machine was changed, give the kind a new version and a migration.`;
  throw new RuntimeError('RECORD_INVALID', what, { address });
}

/** Prefix of the names of the deadlines of states. */
const AFTER = 'xstate.after.';

/** A migrated record may keep deadlines that nobody waits for any more. */
function isOfVersion(text: string, { recordHead }: Kind): boolean {
  return text.startsWith(recordHead);
}

function tooLarge(address: string, bytes: number, bytesMax: number): RuntimeError {
  const what = `The state of ${address} would take ${bytes} bytes (recordBytesMax ${bytesMax}). Keep large data elsewhere and a reference here.`;
  return new RuntimeError('ACTOR_TOO_LARGE', what, { address });
}

/** Runs the migrations between the stored version and ours, one by one. */
function migrated(
  kind: Kind,
  address: string,
  stored: StoredRecord,
): { snapshot: unknown; timers: TimerRow[] } {
  const timers = (stored.timers ?? []).map(decodeTimer);
  if (stored.version === kind.version) return { snapshot: stored.snapshot, timers };
  let state: MigratedState = {
    snapshot: stored.snapshot,
    timers: timers.map(({ id, dueAt }) => ({ id, dueAt })),
  };
  for (let version = stored.version + 1; version <= kind.version; version += 1) {
    const migrate = kind.options.migrate?.[version];
    if (migrate === undefined) continue;
    try {
      state = migrate(state);
      if (!isObject(state) || !isListOf(state.timers, isTimer))
        throw new Error('it must return { snapshot, timers }');
    } catch (thrown) {
      const what = `Migration of ${address} to version ${version} failed: ${messageOf(thrown)}`;
      throw new RuntimeError('RECORD_INVALID', what, { address, cause: thrown });
    }
  }
  return { snapshot: state.snapshot, timers: state.timers.map((row) => withOrigin(row, timers)) };
}

/** A deadline that keeps its id keeps what it brings; one with a new id is an `after` of the root. */
function withOrigin(
  { id, dueAt }: MigratedState['timers'][number],
  timers: readonly TimerRow[],
): TimerRow {
  // Children may have deadlines of the same name: the moment tells them apart.
  const same = timers.filter((row) => row.id === id);
  const origin = same.find((row) => row.dueAt === dueAt) ?? same[0];
  return origin === undefined ? plainTimer(id, dueAt) : { ...origin, dueAt };
}

function encodeTimers(kind: Kind, rows: readonly TimerRow[]): string {
  let text = '[';
  for (const row of rows) {
    if (text.length > 1) text += ',';
    if (isPlain(row)) {
      row.text ??= `[${kind.quoted(row.id)},${row.dueAt}]`;
      text += row.text;
    } else {
      const { id, dueAt, text: _, ...rest } = row;
      text += `[${JSON.stringify(id)},${dueAt},${JSON.stringify(rest)}]`;
    }
  }
  return `${text}]`;
}

function decodeTimer(stored: StoredTimer): TimerRow {
  return { ...plainTimer(stored[0], stored[1]), ...stored[2] };
}

function plainTimer(id: string, dueAt: number): TimerRow {
  return { session: 0, id, dueAt, event: { type: id }, target: 0, to: undefined, isHint: false };
}

/** An `after` of the root: nine timers in ten. */
function isPlain(row: TimerRow): boolean {
  if (row.session !== 0 || row.target !== 0 || row.to !== undefined || row.event.type !== row.id)
    return false;
  for (const key in row.event) if (key !== 'type') return false;
  return true;
}
