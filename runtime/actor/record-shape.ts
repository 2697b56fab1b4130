/**
 * Shape of a record, as it is stored, and the check that a text has it.
 *
 * The check looks at everything that the runtime relies on when it reads a record. The state is left to the
 * machine, and the tables beside the record to tables.ts.
 */

import { RuntimeError } from '../base/errors.ts';
import type { IndexEntry } from '../ports/store.ts';
import type { PendingEffect } from './actor.ts';
import type { StoredInbox } from './inbox.ts';
import { type Kind, RECORD_FORMAT } from './kind.ts';
import type { StoredOutbox } from './outbox.ts';
import type { TimerRow } from './timer-table.ts';

/** `[id, dueAt]` for a timer of the root that brings the event of its own name, else all of it. */
export type StoredTimer =
  | readonly [id: string, dueAt: number]
  | readonly [id: string, dueAt: number, rest: Omit<TimerRow, 'id' | 'dueAt'>];

export interface StoredRecord {
  readonly format: number;
  readonly kind: string;
  readonly version: number;
  readonly turns: number;
  readonly at: number;
  readonly snapshot: { readonly status?: string; readonly context?: unknown };
  readonly timers?: readonly StoredTimer[];
  readonly inbox?: StoredInbox;
  readonly outbox?: StoredOutbox;
  readonly counter?: number;
  readonly since?: number;
  readonly effects?: PendingEffect[];
  readonly sessions?: Record<string, number>;
  readonly booked?: number;
  readonly input?: unknown;
  readonly term?: number;
  /** Failures of children, by session. */
  readonly tries?: ReadonlyArray<readonly [session: number, failed: number]>;
  readonly status?: IndexEntry['status'];
  readonly stopReason?: string;
}

/** @throws {RuntimeError} RECORD_NEWER or RECORD_INVALID */
export function parseRecord(kind: Kind, address: string, text: string): StoredRecord {
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

/** True if everything has its shape; the machine says whether the state exists. */
function isSound(stored: StoredRecord, kind: string): boolean {
  const { format, version, turns, at, snapshot, status = 'active' } = stored;
  const { counter = 0, since = 0, term = 1 } = stored;
  const { timers = [], inbox = {}, outbox = [], effects = [], tries = [] } = stored;
  return (
    format === RECORD_FORMAT &&
    stored.kind === kind &&
    [version, turns, at, counter, since, term].every(Number.isSafeInteger) &&
    version >= 1 &&
    isObject(snapshot) &&
    ['active', 'done', 'stopped'].includes(status) &&
    isListOf(timers, (row) => isListOf(row) && isTimer({ id: row[0], dueAt: row[1] })) &&
    isListOf(outbox, (row) => isListOf(row) && isSafeRow(row)) &&
    isListOf(effects, (row) => isObject(row) && isText(row.id) && isText(row.name)) &&
    isListOf(tries, (row) => isListOf(row, Number.isSafeInteger) && row.length === 2) &&
    isObject(inbox) &&
    Object.values(inbox).every((watermark) => isListOf(watermark, Number.isSafeInteger))
  );
}

function isSafeRow([counter, to, event, at = 0]: readonly unknown[]): boolean {
  const isDated = Number.isSafeInteger(counter) && Number.isFinite(at);
  return isDated && isText(to) && isObject(event) && isText(event.type);
}

export function isTimer(row: unknown): boolean {
  return isObject(row) && isText(row.id) && Number.isFinite(row.dueAt);
}

export function isListOf(list: unknown, isOne = (_: unknown): boolean => true): list is unknown[] {
  return Array.isArray(list) && list.every(isOne);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
