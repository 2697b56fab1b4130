/**
 * Stored actors as lines of a recording: a dead directory, looked at. Its histories are all there are of the turns;
 * the last one has the context of the record.
 */

import { RECORDING_VERSION, type RecordedHeader, type RecordedLine } from '../protocol.ts';
import { redacted } from '../shown.ts';
import type { HistoryLike } from '../turn-lines.ts';
import { ownVersion } from '../version.ts';
import { withDefinitions } from './own-kinds.ts';
import { turnLineOf } from './turn-line.ts';

/** Part of the stored data that is read. */
export interface StoredSource {
  actors(): Iterable<{
    readonly address: string;
    readonly entry: {
      readonly kind: string;
      readonly status: 'active' | 'done' | 'stopped';
      readonly state: string;
      readonly turnAt: number;
    };
    record(): string;
  }>;
  history(address: string): readonly string[];
  /** Undelivered messages as JSON, oldest first. */
  undelivered(): Iterable<readonly [id: string, row: string]>;
}

interface StoredLetter {
  readonly at: number;
  readonly to: string;
  readonly event?: { readonly type: string };
  readonly effect?: { readonly name: string };
  readonly error: { readonly code: string; readonly message: string };
}

/** Undelivered messages that are read at most; what is left out is told. */
const LETTERS_MAX = 10_000;

interface StoredRecordLike {
  readonly turns?: number;
  readonly snapshot?: { readonly context?: unknown };
  readonly timers?: ReadonlyArray<readonly [id: string, dueAt: number, rest?: unknown]>;
}

/** Actors that are read at most; what is left out is told. */
const ACTORS_MAX = 50_000;

export function linesOfStored(
  directory: string,
  data: StoredSource,
): Array<RecordedHeader | RecordedLine> {
  const lines: Array<RecordedHeader | RecordedLine> = [
    {
      type: 'recording',
      version: RECORDING_VERSION,
      escapement: ownVersion(),
      at: 0,
      title: directory,
      nodes: [],
    },
  ];
  let read = 0;
  let skipped = 0;
  for (const actor of data.actors()) {
    if (read >= ACTORS_MAX) skipped += 1;
    else lines.push(...linesOf(actor, data.history(actor.address)));
    read += 1;
  }
  let letters = 0;
  for (const [, row] of data.undelivered()) {
    letters += 1;
    if (letters > LETTERS_MAX) skipped += 1;
    else lines.push(letterLine(row));
  }
  if (skipped > 0) lines.push({ type: 'skipped', at: 0, node: '', count: skipped });
  return withDefinitions(lines);
}

function letterLine(row: string): RecordedLine {
  const { at, to, event, effect, error } = JSON.parse(row) as StoredLetter;
  const node = to.slice(to.lastIndexOf('@') + 1);
  const { code, message } = error;
  const type = event?.type ?? effect?.name ?? '';
  return { type: 'undelivered', at, node, to, event: type, error: { code, message } };
}

interface StoredActor {
  readonly address: string;
  readonly node: string;
  readonly kind: string;
  readonly status: 'active' | 'done' | 'stopped';
  readonly state: string;
  readonly turnAt: number;
  readonly context: unknown;
  readonly timers: ReadonlyArray<{ readonly id: string; readonly dueAt: number }>;
}

/** The turns of its history, of which the last one has its context, its deadlines, and what it is now. */
export function linesOfActor(
  { address, node, kind, status, state: present, turnAt: at, context, timers }: StoredActor,
  histories: readonly HistoryLike[],
  redact?: (path: string, value: unknown) => unknown,
): RecordedLine[] {
  let state = histories.find((row) => row.state !== undefined)?.state ?? present;
  const turns = histories.map((row, index): RecordedLine => {
    state = row.state ?? state;
    const isLast = index === histories.length - 1;
    return {
      ...turnLineOf({
        ...row,
        node,
        address,
        takenAt: row.at,
        event: { type: row.event },
        isBare: true,
        state: isLast ? present : state,
      }),
      ...(isLast && { context: redacted(context, redact) }),
    };
  });
  const change = status === 'active' ? 'born' : status;
  return [
    ...turns,
    { type: 'timers', at, node, address, timers },
    { type: 'actor', at, node, address, kind, change, state: present },
  ];
}

function linesOf(
  {
    address,
    entry,
    record,
  }: ReturnType<StoredSource['actors']> extends Iterable<infer TActor> ? TActor : never,
  rows: readonly string[],
): RecordedLine[] {
  let stored: StoredRecordLike = {};
  try {
    stored = JSON.parse(record()) as StoredRecordLike;
  } catch {
    // A damaged record has its history still.
  }
  const node = address.slice(address.lastIndexOf('@') + 1);
  const timers = (stored.timers ?? []).map(([id, dueAt]) => ({ id, dueAt }));
  const context = stored.snapshot?.context;
  const histories = rows.map((row) => JSON.parse(row) as HistoryLike);
  return linesOfActor({ ...entry, address, node, context, timers }, histories);
}
