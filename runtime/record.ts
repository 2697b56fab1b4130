/**
 * Records: all of an actor that is stored, as one JSON text.
 *
 * Format 1: `format`, `kind`, `version` (of the machine), `turns`, `at`, `snapshot`
 * (XState's own persisted snapshot) and, where there is something to say, `timers`,
 * `inbox`, `outbox`, `counter`, `effects`, `sessions`, `booked`, `input`, `term`,
 * `tries`, `status`, `stopReason`. Written in one place, read in one place; what is empty or
 * usual is left out, because an idle actor is nothing but this text.
 */

import { type Actor, type PendingEffect, shownSnapshot, stateText, unborn } from './actor.ts';
import { messageOf, RuntimeError } from './errors.ts';
import { Inbox, type StoredInbox } from './inbox.ts';
import { type Kind, type MigratedState, RECORD_FORMAT } from './kind.ts';
import { FORGOTTEN } from './orders.ts';
import { Outbox, type StoredOutbox } from './outbox.ts';
import type { Tree } from './statechart.ts';
import type { IndexEntry } from './store.ts';
import { jsonOnce, timeText } from './text.ts';
import { type TimerRow, TimerTable } from './timer-table.ts';
import { isHandled } from './xstate-outline.ts';

/** `[id, dueAt]` for a timer of the root that brings the event of its own name, else all of it. */
type StoredTimer =
  | readonly [id: string, dueAt: number]
  | readonly [id: string, dueAt: number, rest: Omit<TimerRow, 'id' | 'dueAt'>];

interface StoredRecord {
  readonly format: number;
  readonly kind: string;
  readonly version: number;
  readonly turns: number;
  readonly at: number;
  readonly snapshot: { readonly status?: string };
  readonly timers?: readonly StoredTimer[];
  readonly inbox?: StoredInbox;
  readonly outbox?: StoredOutbox;
  readonly counter?: number;
  readonly effects?: PendingEffect[];
  readonly sessions?: Record<string, number>;
  readonly booked?: number;
  readonly input?: unknown;
  readonly term?: number;
  /** How often children have failed, by session. */
  readonly tries?: ReadonlyArray<readonly [session: number, failed: number]>;
  readonly status?: IndexEntry['status'];
  readonly stopReason?: string;
}

/** In many pieces. @throws {RuntimeError} ACTOR_TOO_LARGE when the snapshot, with its children, passes `recordBytesMax`. */
export function encodeRecord(actor: Actor, recordBytesMax: number): string {
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
    if (actor.outbox.size > 0) text += `${OUTBOX}${actor.outbox.encode()}`;
  }
  if (effects.length > 0) text += `,"effects":${JSON.stringify(effects)}`;
  const numbers = tree.sessions();
  if (numbers !== undefined)
    text += `,"sessions":${JSON.stringify(numbers.sessions)},"booked":${numbers.booked}`;
  if (actor.input !== undefined) text += `,"input":${jsonOnce(actor.input)}`;
  if (actor.term > 1) text += `,"term":${actor.term}`;
  if (actor.tries.size > 0) text += `,"tries":${JSON.stringify([...actor.tries])}`;
  if (actor.status !== 'active') text += `,"status":"${actor.status}"`;
  if (actor.stopReason !== undefined) text += `,"stopReason":${JSON.stringify(actor.stopReason)}`;
  return `${text}}`;
}

/** How an outbox begins in a record; without messages there is none. */
const OUTBOX = ',"outbox":';

/** False when a record surely has no unanswered messages, told without unpacking it. */
export function mayOweMessages(text: string): boolean {
  return text.includes(OUTBOX);
}

/**
 * Unpacks a record, migrated to the kind's version where it is older.
 *
 * @throws {RuntimeError} RECORD_NEWER or RECORD_INVALID; the record stays as it is.
 */
export function decodeRecord(kind: Kind, address: string, text: string): Actor {
  const stored = parseRecord(kind, address, text);
  const { snapshot, timers } = migrated(kind, address, stored);
  const { sessions, booked } = stored;
  const tree = kind.chart.restore(address, { snapshot, sessions, booked }, kind.outside);
  const actor = Object.assign(unborn(address, kind), {
    tree,
    status: stored.status ?? 'active',
    stopReason: stored.stopReason,
    input: stored.input,
    turns: stored.turns,
    at: stored.at,
    timers: new TimerTable(timers),
    inbox: Inbox.restore(stored.inbox),
    outbox: new Outbox(stored.counter, stored.outbox),
    effects: stored.effects ?? [],
    term: stored.term ?? 1,
    tries: new Map(stored.tries),
    text,
    state: stateText(tree.snapshot.value),
  });
  if (actor.stopReason !== FORGOTTEN) actor.committed = shownSnapshot(actor);
  return actor;
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

/** How the deadlines of states are called. */
const AFTER = 'xstate.after.';

/** A migrated record may keep deadlines that nobody waits for any more. */
function isOfVersion(text: string, { recordHead }: Kind): boolean {
  return text.startsWith(recordHead);
}

function tooLarge(address: string, bytes: number, bytesMax: number): RuntimeError {
  const what = `The state of ${address} would take ${bytes} bytes (recordBytesMax ${bytesMax}). Keep large data elsewhere and a reference here.`;
  return new RuntimeError('ACTOR_TOO_LARGE', what, { address });
}

function parseRecord(kind: Kind, address: string, text: string): StoredRecord {
  let stored: StoredRecord;
  try {
    stored = JSON.parse(text) as StoredRecord;
  } catch (thrown) {
    throw new RuntimeError('RECORD_INVALID', `The record of ${address} is not JSON.`, {
      address,
      cause: thrown,
    });
  }
  const isNewer = stored?.format > RECORD_FORMAT || stored?.version > kind.version;
  if (isNewer) {
    const have = `format ${stored.format}, version ${stored.version} of "${stored.kind}"`;
    const know = `format ${RECORD_FORMAT}, version ${kind.version}`;
    throw new RuntimeError(
      'RECORD_NEWER',
      `${address} was stored as ${have}; this process knows ${know}. Run the newer release, or wait for the upgrade.`,
      { address },
    );
  }
  if (!isObject(stored) || !isSound(stored, kind.name))
    throw new RuntimeError(
      'RECORD_INVALID',
      `The record of ${address} lacks what every record has.`,
      { address },
    );
  return stored;
}

/** Whether everything has its shape; whether the state exists, the machine says. */
function isSound(stored: StoredRecord, kind: string): boolean {
  const { format, version, turns, at, snapshot, counter = 0, term = 1, status = 'active' } = stored;
  const { timers = [], inbox = {}, outbox = [], effects = [], tries = [] } = stored;
  return (
    format === RECORD_FORMAT &&
    stored.kind === kind &&
    [version, turns, at, counter, term].every(Number.isSafeInteger) &&
    version >= 1 &&
    isObject(snapshot) &&
    ['active', 'done', 'stopped'].includes(status) &&
    isListOf(timers, (row) => isListOf(row) && isTimer({ id: row[0], dueAt: row[1] })) &&
    isListOf(outbox, (row) => isListOf(row) && isSafeRow(row)) &&
    isListOf(effects, (row) => isObject(row) && isText(row.id) && isText(row.name)) &&
    isListOf(tries, (row) => isListOf(row, Number.isSafeInteger) && row.length === 2) &&
    isObject(inbox) &&
    Object.values(inbox).every((mark) => isListOf(mark, Number.isSafeInteger))
  );
}

function isSafeRow([counter, to, event]: readonly unknown[]): boolean {
  return Number.isSafeInteger(counter) && isText(to) && isObject(event) && isText(event.type);
}

function isTimer(row: unknown): boolean {
  return isObject(row) && isText(row.id) && Number.isFinite(row.dueAt);
}

function isListOf(list: unknown, isOne = (_: unknown): boolean => true): list is unknown[] {
  return Array.isArray(list) && list.every(isOne);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
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
