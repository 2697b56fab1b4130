/**
 * What changes in a gate's record when another node, or the same one again, takes the gate's place.
 *
 * Guarantees: the elapsed time of a job never decreases, whatever the new node's clock says, and
 * the number that decisions are made under never does either.
 */

import type { RulesGiven } from '../messages/gate.ts';
import { type Datacenters, type GateJobContext, running } from './record.ts';

/** Times of the record move together to where the new clock is behind the old one. */
export function tookOffice(
  context: GateJobContext,
  fence: number,
  at: number,
): Partial<GateJobContext> {
  const behindMs = Math.max(0, latestOf(context) - at);
  return {
    fence,
    gateBoot: Math.max(fence, context.gateBoot),
    unheard: running(context.datacenters).map(([name]) => name),
    ...(behindMs > 0 && movedBack(context, behindMs)),
  };
}

/** A job that a datacenter has brought back to a gate that had lost it. */
export function ruled(
  { gateBoot }: GateJobContext,
  { rules, fence }: RulesGiven,
): Partial<GateJobContext> {
  // A datacenter that obeyed a higher number than ours must not refuse us.
  return { rules, fence, gateBoot: gateBoot > fence ? gateBoot + 1 : fence };
}

function latestOf({ submittedAt, bornAt, decision, datacenters }: GateJobContext): number {
  const seen = Object.values(datacenters).map(({ lastSeenAt }) => lastSeenAt);
  return Math.max(submittedAt, bornAt, decision?.at ?? 0, ...seen);
}

function movedBack(context: GateJobContext, byMs: number): Partial<GateJobContext> {
  const { bornAt, submittedAt, decision, datacenters } = context;
  return {
    bornAt: bornAt - byMs,
    submittedAt: submittedAt - byMs,
    decision: decision === null ? null : { ...decision, at: decision.at - byMs },
    datacenters: datacentersMovedBack(datacenters, byMs),
  };
}

function datacentersMovedBack(datacenters: Datacenters, byMs: number): Datacenters {
  return Object.fromEntries(
    Object.entries(datacenters).map(([name, record]) => [
      name,
      {
        ...record,
        lastSeenAt: record.lastSeenAt - byMs,
        lastProgressAt: record.lastProgressAt - byMs,
        holdUntil: Math.max(0, record.holdUntil - byMs),
        askedAt: record.askedAt === null ? null : record.askedAt - byMs,
      },
    ]),
  );
}
