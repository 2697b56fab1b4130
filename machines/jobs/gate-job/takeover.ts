/**
 * Takeover of a gate's job: changes in its record when another node, or the same one again, becomes the gate.
 *
 * Guarantees: the elapsed time of a job never decreases, whatever the new node's clock says, and
 * the number that decisions are made under never does either.
 */

import type { RulesGiven } from '../messages/gate.ts';
import { type Datacenters, type GateJobContext, running, withSteps } from './context.ts';
import { askedAnew } from './joining.ts';

/** Times of the record move together to where the new clock is behind the old one. */
export function tookOffice(
  context: GateJobContext,
  fence: number,
  at: number,
): Partial<GateJobContext> {
  const behindMs = Math.max(0, latestOf(context) - at);
  const moved = behindMs > 0 ? movedBack(context, behindMs) : {};
  const gateBoot = Math.max(fence, context.gateBoot);
  const now = { ...context, ...moved };
  return { fence, gateBoot, ...moved, ...askedAnew(now, at), ...withoutTouch(now, at) };
}

/** Marks what is known of the running datacenters as history: each is asked how things are. */
function withoutTouch(context: GateJobContext, at: number): Pick<GateJobContext, 'datacenters'> {
  const names = running(context.datacenters).map(([name]) => name);
  return withSteps(context, names, () => ({ type: 'touch.lost', at }));
}

/** A job that a datacenter has brought back to a gate that had lost it; it begins to listen now. */
export function ruled(
  context: GateJobContext,
  { rules, fence }: RulesGiven,
  at: number,
): Partial<GateJobContext> {
  const { gateBoot } = context;
  // A datacenter that obeyed a higher number than ours must not refuse us.
  const known = { rules, fence, gateBoot: gateBoot > fence ? gateBoot + 1 : fence };
  return { ...known, ...withoutTouch({ ...context, ...known }, at) };
}

function latestOf({ submittedAt, bornAt, decision, datacenters }: GateJobContext): number {
  const seen = Object.values(datacenters).map(({ lastSeenAt }) => lastSeenAt);
  return Math.max(submittedAt, bornAt, decision?.at ?? 0, ...seen);
}

function movedBack(context: GateJobContext, byMs: number): Partial<GateJobContext> {
  const { bornAt, submittedAt, askedSince, decision, datacenters } = context;
  return {
    ...(askedSince !== undefined && { askedSince: askedSince - byMs }),
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
        ...(record.fullUntil !== undefined && { fullUntil: record.fullUntil - byMs }),
        askedAt: record.askedAt === null ? null : record.askedAt - byMs,
        startedAt: record.startedAt === null ? null : record.startedAt - byMs,
        contactSince: Math.max(0, record.contactSince - byMs),
        metAt: record.metAt === null ? null : record.metAt - byMs,
      },
    ]),
  );
}
