/**
 * A simulated run as lines of a recording: its history says every turn with its context, every message and deadline.
 */

import type { HistoryRecord } from '../../simulator/history/history.ts';
import { RECORDING_VERSION, type RecordedHeader, type RecordedLine } from '../protocol.ts';
import { ownVersion } from '../version.ts';
import { lineOf as plainLineOf } from './line-of.ts';

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
      return plainLineOf({ ...record, type: 'messageSent' }, at, node);
    case 'timers':
    case 'actor':
    case 'undelivered':
    case 'lease':
      return plainLineOf(record, at, node);
    default:
      return undefined;
  }
}
