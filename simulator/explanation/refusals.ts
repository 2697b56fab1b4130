/**
 * Refusals after which nothing was sent again: where what should have gone on has stopped.
 *
 * A message is refused by an answer of the runtime, on its way back to the sender, or by one of the receiver, which
 * its sender takes as an event. A sender that repeats the message, or to the same receiver another one
 * after such an event, has not stopped there.
 */

import { placeOf } from '../../runtime/base/address.ts';
import type { HistoryRecord } from '../history.ts';
import { openFrame, refusalOf } from '../invariants.ts';
import type { TurnRecord } from './causes.ts';

export interface Refusal {
  readonly record: HistoryRecord;
  readonly what: string;
}

type FrameRecord = Extract<HistoryRecord, { readonly type: 'frame' }>;

interface Refused extends Refusal {
  /** What would have been sent again, as `again` names it. */
  readonly key: string;
  readonly ends: readonly string[];
}

/** The last one of what these actors have sent or were sent; undefined when there is none. */
export function lastRefusal(
  records: readonly HistoryRecord[],
  actors: ReadonlySet<string>,
): Refusal | undefined {
  const open = new Map<string, Refused>();
  for (const record of records) {
    for (const key of sentBy(record)) open.delete(key);
    for (const refused of refusedBy(record))
      if (refused.ends.some((end) => actors.has(end))) {
        open.delete(refused.key);
        open.set(refused.key, refused);
      }
  }
  return [...open.values()].sort((one, other) => one.record.index - other.record.index).at(-1);
}

/** What is sent with it, under all the names that a refusal may have kept for it. */
function sentBy(record: HistoryRecord): readonly string[] {
  if (record.type === 'sent') return [pairOf(record.from, record.to)];
  if (record.type !== 'frame' || record.change !== 'sent') return [];
  return openFrame(record.frame).envelopes.map(({ from, to, counter }) =>
    messageOf(from, to, counter),
  );
}

function refusedBy(record: HistoryRecord): readonly Refused[] {
  if (record.type === 'turn') return refusedInTurn(record);
  return record.type === 'frame' && record.change === 'delivered' ? refusedInFrame(record) : [];
}

function refusedInFrame(record: FrameRecord): readonly Refused[] {
  return openFrame(record.frame).receipts.flatMap((receipt) => {
    const code = refusalOf(receipt);
    const { from, to, counter } = receipt;
    if (code === undefined) return [];
    const what = `${placeOf(from)} hears that message ${counter} of ${from} was refused by ${to}: ${code}; it was not sent again`;
    return [{ record, what, key: messageOf(from, to, counter), ends: [from, to] }];
  });
}

function refusedInTurn(record: TurnRecord): readonly Refused[] {
  const { address, from, event } = record;
  const { accepted, correction, ackOf, reason } = event as {
    readonly accepted?: unknown;
    readonly correction?: unknown;
    readonly ackOf?: unknown;
    readonly reason?: unknown;
  };
  if (from === undefined || (accepted !== false && correction === undefined)) return [];
  const said = [ackOf, reason ?? correction].filter((one) => typeof one === 'string').join(', ');
  const what = `${address} took a refusal of ${from}, ${event.type}${said === '' ? '' : ` (${said})`}, and sent it nothing after it`;
  return [{ record, what, key: pairOf(address, from), ends: [address, from] }];
}

const messageOf = (from: string, to: string, counter: number): string => `${counter} ${from} ${to}`;

const pairOf = (from: string, to: string): string => `${from} ${to}`;
