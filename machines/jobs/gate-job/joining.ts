/**
 * Participants of a job: the datacenters that took it within the limit for dispatching.
 *
 * A datacenter that took it later, or may have, is no target: it is told to drop the job. One that has too
 * much to do puts the limit off while nobody has taken the job, for as long as the job itself has time; so
 * does a gate that was away, because it asked nobody meanwhile.
 */

import { dispatchDueAt, type GateJobContext, withSteps } from './context.ts';

/** A deadline that is seen that much later was over while nobody was there to ask. */
const AWAY_MS = 1_000;

/** Nobody was asked when the limit came, and the job has time. */
export function wasAway(context: GateJobContext, at: number): boolean {
  return (
    at > dispatchDueAt(context) + AWAY_MS && at < context.submittedAt + context.terms.timeoutMs
  );
}

/** The gate was away, and asks only now: a datacenter that has not answered has the whole limit again. */
export function askedAnew(
  { datacenters, decision }: GateJobContext,
  at: number,
): Partial<GateJobContext> {
  return decision !== null || isDispatchOver({ datacenters }) ? {} : { askedSince: at };
}

/** The limit is over: a datacenter that has not answered is late. */
export function dispatchClosed(
  context: GateJobContext,
  at: number,
): Pick<GateJobContext, 'datacenters'> {
  const asked = Object.keys(context.datacenters);
  return withSteps(context, asked, () => ({ type: 'dispatch.closed', at }));
}

export function isDispatchOver({ datacenters }: Pick<GateJobContext, 'datacenters'>): boolean {
  return Object.values(datacenters).every(({ run }) => run !== 'asked');
}
