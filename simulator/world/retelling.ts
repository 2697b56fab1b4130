/**
 * The inspection stream of a program, in the words of the history.
 *
 * What the history hears from elsewhere (commits, connections) is left out.
 */

import { kindOf } from '../../runtime/base/address.ts';
import type { InspectionRecord } from '../../runtime/base/inspection.ts';
import type { HistoryFact } from '../history.ts';

export function retold(record: InspectionRecord): HistoryFact | undefined {
  const { place } = record;
  switch (record.type) {
    case 'turn': {
      const { address, turn, takenAt, event, from, counter, state, context, error } = record;
      return {
        type: 'turn',
        place,
        address,
        kind: kindOf(address),
        turn,
        takenAt,
        event,
        from,
        counter,
        state,
        context,
        error,
      };
    }
    case 'question': {
      const { address, at: takenAt, event, from, counter } = record;
      const kind = kindOf(address);
      return { type: 'question', place, address, kind, takenAt, event, from, counter };
    }
    case 'actor': {
      const { address, kind, change } = record;
      return { type: 'actor', place, address, kind, change };
    }
    case 'messageSent': {
      const { from, counter, to, event } = record;
      return { type: 'sent', place, from, counter, to, event };
    }
    case 'timers':
      return { type: 'timers', place, address: record.address, timers: record.timers };
    case 'undelivered': {
      const { to, event, error, isMoot } = record;
      return { type: 'undelivered', place, to, event, error, ...(isMoot && { isMoot }) };
    }
    case 'lease':
      return { type: 'lease', place, change: record.change, fence: record.fence };
    default:
      return undefined;
  }
}
