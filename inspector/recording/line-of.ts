/**
 * Lines of a recording for facts that need nothing but themselves: messages, deadlines, lives of actors, leases.
 *
 * The inspection stream of a node and the history of a simulated run tell them with the same fields.
 */

import type { InspectionRecord } from '../../runtime/base/inspection.ts';
import type { RecordedLine } from '../protocol.ts';

type FactOf<TType extends InspectionRecord['type']> = Omit<
  Extract<InspectionRecord, { type: TType }>,
  'at' | 'node'
>;

export type PlainFact =
  | FactOf<'messageSent'>
  | FactOf<'messageFenced'>
  | FactOf<'timers'>
  | FactOf<'actor'>
  | FactOf<'undelivered'>
  | FactOf<'lease'>;

export function lineOf(fact: PlainFact, at: number, node: string): RecordedLine {
  switch (fact.type) {
    case 'messageSent': {
      const { from, counter, to, event } = fact;
      return { type: 'message', at, node, from, counter, to, event: event.type, sort: 'tell' };
    }
    case 'messageFenced': {
      const { from, counter, to, event } = fact;
      return { type: 'fate', at, node, from, counter, to, event: event.type, fate: 'fenced' };
    }
    case 'timers':
      return { type: 'timers', at, node, address: fact.address, timers: fact.timers };
    case 'actor': {
      const { address, kind, change } = fact;
      return { type: 'actor', at, node, address, kind, change };
    }
    case 'undelivered': {
      const { code, message } = fact.error;
      const error = { code, message };
      return { type: 'undelivered', at, node, to: fact.to, event: fact.event.type, error };
    }
    case 'lease': {
      const { place, change, fence } = fact;
      return { type: 'lease', at, node, place, change, fence };
    }
  }
}
