/**
 * Effects of a peer that lies: nothing but what its role may.
 *
 * Whose message a turn took, and under which fences places are hosted, is all that is looked at: what the
 * role may do is written down here, and nobody is asked whether something was allowed.
 */

import { placeOf } from '../../../machines/jobs/addresses.ts';
import type { HistoryRecord } from '../../history.ts';
import type { JobsInvariant } from '../facts.ts';

type FaultRecord = Extract<HistoryRecord, { readonly type: 'fault' }>;
type FrameRecord = Extract<HistoryRecord, { readonly type: 'frame' }>;
type LeaseRecord = Extract<HistoryRecord, { readonly type: 'lease' }>;
type NodeRecord = Extract<HistoryRecord, { readonly type: 'node' }>;
type TurnRecord = Extract<HistoryRecord, { readonly type: 'turn' }>;

/** What is in the names of all of them, and in nobody else's. */
const LIAR = /^(?:.*\.(?:worker|manager)-liar-.*|liar~.*|Elsewhere)$/;
/** Takeovers between two leases that are told, the raising after an old copy included. */
const FENCE_STEP_MAX = 100;

/** BY-1. A lying worker is a worker, and a lying client may ask. */
export const remitIsKept: JobsInvariant = {
  id: 'BY-1',
  kind: 'safety',
  says: 'A peer that lies changes nothing outside of what its role may: it moves no job, no gate and no other worker, and ends no lease.',
  watch(_facts, verdict) {
    const fences = new Map<string, number>();
    /** Moment of the last lie that arrived at each node. */
    const lies = new Map<string, number>();
    /** Moment when each node went on after a pause: all that it has missed comes then, the end of its lease too. */
    const resumptions = new Map<string, number>();
    /** Each actor as it was after its last turn. */
    const known = new Map<string, Pick<TurnRecord, 'state' | 'context'>>();
    return {
      fault({ kind, change }: FaultRecord): void {
        if (kind === 'byzantinePeer' && change === 'hit') verdict.exercised();
      },
      frame({ node, to, change, frame, atMs }: FrameRecord): void {
        if (change === 'delivered' && LIAR.test(node) && frame.includes('"outranked"'))
          lies.set(to, atMs);
      },
      node({ node, change, atMs }: NodeRecord): void {
        if (change === 'resumed') resumptions.set(node, atMs);
      },
      turn(record: TurnRecord): void {
        const { from, address, event } = record;
        const before = known.get(address);
        known.set(address, record);
        if (from === undefined || before === undefined) return;
        const place = placeOf(from);
        // Whether anything was changed takes the longest to say.
        if (!LIAR.test(place) || mayMove(place, address) || isSame(before, record)) return;
        verdict.broken(`${address} was moved by ${event.type} of the liar ${from}`, record);
      },
      lease(record: LeaseRecord): void {
        const { place, node, change, fence, atMs } = record;
        const isBelieved = lies.get(node) === atMs && resumptions.get(node) !== atMs;
        if (change === 'lost' && isBelieved)
          verdict.broken(`${node} stopped hosting ${place} when a liar said so`, record);
        const last = fences.get(place);
        if (change === 'acquired' && last !== undefined && fence > last + FENCE_STEP_MAX)
          verdict.broken(`the fence of ${place} went from ${last} to ${fence}`, record);
        if (change === 'acquired') fences.set(place, fence);
      },
    };
  },
};

/** What is taken and changes nothing, as what comes too late, is no harm. */
function isSame(before: Pick<TurnRecord, 'state' | 'context'>, after: TurnRecord): boolean {
  if (before.state !== after.state) return false;
  return (
    before.context === after.context ||
    JSON.stringify(before.context) === JSON.stringify(after.context)
  );
}

function mayMove(place: string, address: string): boolean {
  if (place.startsWith('liar~')) return address.startsWith('desk/');
  if (!place.includes('.worker-liar-')) return false;
  return address.startsWith(`worker-health/${place}@`) || address.startsWith('worker-pool/');
}
