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
}

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
  if (skipped > 0) lines.push({ type: 'skipped', at: 0, node: '', count: skipped });
  return withDefinitions(lines);
}

function linesOf(
  {
    address,
    entry,
    record,
  }: ReturnType<StoredSource['actors']> extends Iterable<infer TActor> ? TActor : never,
  rows: readonly string[],
): RecordedLine[] {
  const node = address.slice(address.lastIndexOf('@') + 1);
  let stored: StoredRecordLike = {};
  try {
    stored = JSON.parse(record()) as StoredRecordLike;
  } catch {
    // A damaged record has its history still.
  }
  let { state } = entry;
  const histories = rows.map((row) => JSON.parse(row) as HistoryLike);
  const firstState = histories.find((row) => row.state !== undefined)?.state ?? state;
  state = firstState;
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
        state: isLast ? entry.state : state,
      }),
      ...(isLast && { context: redacted(stored.snapshot?.context) }),
    };
  });
  const timers = (stored.timers ?? []).map(([id, dueAt]) => ({ id, dueAt }));
  const at = entry.turnAt;
  return [
    ...turns,
    { type: 'timers', at, node, address, timers },
    {
      type: 'actor',
      at,
      node,
      address,
      kind: entry.kind,
      change: entry.status === 'active' ? 'born' : entry.status,
    },
  ];
}
