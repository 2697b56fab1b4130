/**
 * A record of a history as one line for people.
 *
 * Guarantees: one line, of bounded length, whatever is in the record; nothing but the record is needed.
 */

import type { HistoryRecord, RecordOf, TurnFact } from '../history.ts';
import { spelledFrame } from './spelled-frame.ts';
import { brief, fieldsOf, moment, nodeName, senderName, short, stateName } from './words.ts';

const DEADLINE = 'xstate.after.';

/** `#12 T=00:00:01.000 shop/node-1  order/42@shop took …`. */
export function lineOf(record: HistoryRecord): string {
  return `#${record.index} T=${moment(record.atMs)} ${nodeName(record.node)}  ${tell(record)}`;
}

/** What happened, without when and where. */
export function tell(record: HistoryRecord): string {
  switch (record.type) {
    case 'turn':
      return tellTurn(record);
    case 'question':
      return `${record.address} answers ${record.event.type}${record.from === undefined ? '' : ` of ${senderName(record.from)}`} without a turn ${fieldsOf(record.event, 80)}`.trim();
    case 'sent':
      return `${senderName(record.from)} sent ${record.event.type} to ${record.to} (message ${record.counter}) ${fieldsOf(record.event)}`.trim();
    case 'timers':
      return `${record.address} has ${deadlines(record.timers)}`;
    case 'frame':
      return `frame to ${nodeName(record.to)} ${record.change}: ${contentOf(record.frame)}`;
    case 'commit':
      return tellCommit(record);
    case 'undelivered':
      return `${record.event.type} to ${record.to} was given up: ${record.error.code} ${short(record.error.message)}`;
    case 'actor':
      return `${record.address} is ${record.change}`;
    case 'log':
      return `${record.level} ${short(record.message)} ${brief(record.fields, 200)}`.trim();
    case 'mark':
      return `mark ${record.mark}`;
    case 'node':
      return tellNode(record);
    case 'lease':
      return `lease of ${record.place} ${record.change} under fence ${record.fence}`;
    case 'fault':
      return `${record.kind} (${record.id}) ${record.change} ${brief(record.about)}`.trim();
    case 'work':
      return `work ${record.subject ?? ''} ${record.change} ${brief(record.about)}`.trim();
    case 'call':
      return `${record.call}: ${record.request} ${record.subject ?? ''} at ${nodeName(record.to)} ${brief(record.body)}`.trim();
    case 'answer':
      return `${record.call}: ${record.outcome} ${brief(record.about)}`.trim();
  }
}

/** The name of the deadline that has come: `overallLimit`; undefined when the event is none. */
export function deadlineOf({ event }: Pick<TurnFact, 'event'>): string | undefined {
  return event.type.startsWith(DEADLINE) ? timerName(event.type) : undefined;
}

/** `xstate.after.payLimit.order.open…` → `payLimit`. */
function timerName(id: string): string {
  const name = id.startsWith(DEADLINE) ? id.slice(DEADLINE.length) : id;
  return name.split('.', 1)[0] ?? name;
}

function tellTurn(record: RecordOf<TurnFact>): string {
  const { address, event, turn, from, state, error } = record;
  const deadline = deadlineOf(record);
  const what =
    deadline === undefined
      ? `took ${event.type}${from === undefined ? '' : ` from ${senderName(from)}`}`
      : `met its deadline ${deadline}`;
  const failed = error === undefined ? '' : ` and failed: ${error.code} ${short(error.message)}`;
  const fields = deadline === undefined ? fieldsOf(event, 80) : '';
  return `${address} ${what} (turn ${turn})${failed} → ${stateName(state)} ${fields}`.trim();
}

function tellCommit({ place, change, fence, addresses, error }: CommitRecord): string {
  const actors = addresses.length > 3 ? `${addresses.length} actors` : addresses.join(', ');
  const why = error === undefined ? '' : `: ${short(error)}`;
  return `group at ${place} ${change} under fence ${fence}${why} ${actors}`.trim();
}

type CommitRecord = Extract<HistoryRecord, { readonly type: 'commit' }>;
type NodeRecord = Extract<HistoryRecord, { readonly type: 'node' }>;

function tellNode({ change, life, skewMs, driftPpm }: NodeRecord): string {
  const skew = skewMs === 0 ? '' : `, ${skewMs} ms ahead`;
  const drift = driftPpm === 0 ? '' : `, drifting ${driftPpm} ppm`;
  return `${change} (life ${life}${skew}${drift})`;
}

function deadlines(timers: ReadonlyArray<{ readonly id: string }>): string {
  if (timers.length === 0) return 'no deadlines';
  return `deadlines ${short(timers.map(({ id }) => timerName(id)).join(', '))}`;
}

/** Read by eye and not parsed: a frame may be damaged. */
function contentOf(frame: string): string {
  const messages = spelledFrame(frame).matchAll(/"event":\{"type":"([^"]{1,80})"/g);
  const types = [...messages].map(([, type]) => type);
  if (types.length > 0) return short(types.join(', '));
  if (frame.includes('"hello"')) return 'greeting';
  return frame.includes('"receipts":[{') ? 'receipts' : short(frame, 60);
}
