/**
 * A simulated run as lines of a recording: its history says every turn with its context, every message and deadline.
 */

import type { HistoryRecord } from '../../simulator/history/history.ts';
import { RECORDING_VERSION, type RecordedHeader, type RecordedLine } from '../protocol.ts';
import { ownVersion } from '../version.ts';

/** `contexts: false` leaves them out, for a file that is to be small. */
export function linesOfRun(
  title: string,
  records: Iterable<HistoryRecord>,
): Array<RecordedHeader | RecordedLine> {
  const lines: Array<RecordedHeader | RecordedLine> = [
    {
      type: 'recording',
      version: RECORDING_VERSION,
      escapement: ownVersion(),
      at: 0,
      title,
      nodes: [],
    },
  ];
  for (const record of records) {
    const line = lineOf(record);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

function lineOf(record: HistoryRecord): RecordedLine | undefined {
  const { node } = record;
  const at = record.atMs;
  switch (record.type) {
    case 'turn': {
      const { address, turn, takenAt, event, from, counter, state, context, error } = record;
      const { dueAt } = event as { dueAt?: unknown };
      return {
        type: 'turn',
        at,
        node,
        address,
        turn,
        takenAt,
        event,
        ...(typeof dueAt === 'number' && { dueAt }),
        ...(from !== undefined && { from }),
        ...(counter !== undefined && { counter }),
        state,
        ...(context !== undefined && { context }),
        ...(error !== undefined && { error: { code: error.code, message: error.message } }),
      };
    }
    case 'sent':
      return {
        type: 'message',
        at,
        node,
        from: record.from,
        counter: record.counter,
        to: record.to,
        event: record.event.type,
        sort: 'tell',
      };
    case 'timers':
      return { type: 'timers', at, node, address: record.address, timers: record.timers };
    case 'actor':
      return {
        type: 'actor',
        at,
        node,
        address: record.address,
        kind: record.kind,
        change: record.change,
      };
    case 'undelivered': {
      const { code, message } = record.error;
      return {
        type: 'undelivered',
        at,
        node,
        to: record.to,
        event: record.event.type,
        error: { code, message },
      };
    }
    case 'lease':
      return {
        type: 'lease',
        at,
        node,
        place: record.place,
        change: record.change,
        fence: record.fence,
      };
    default:
      return undefined;
  }
}
