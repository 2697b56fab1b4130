/**
 * Which datacenters take part in a job: those that took it within the limit for dispatching.
 *
 * A datacenter that took it later, or may have, is no target: it is told to drop the job.
 */

import type { SubmissionAnswered } from '../messages/gate.ts';
import { type DatacenterRecord, type GateJobContext, recordOf, withDatacenter } from './record.ts';

/** The reason of an answer that nobody gave: the time was up. */
export const UNREACHABLE = 'unreachable';

export function answeredSubmission(
  context: GateJobContext,
  answer: SubmissionAnswered,
  at: number,
): Partial<GateJobContext> {
  const known = recordOf(context.datacenters, answer.datacenter);
  const changes = known === undefined ? undefined : joining(context, known, answer, at);
  if (changes === undefined) return {};
  return { datacenters: withDatacenter(context.datacenters, answer.datacenter, changes) };
}

function joining(
  context: GateJobContext,
  known: DatacenterRecord,
  { accepted, reason, leaderFence, managerId }: SubmissionAnswered,
  at: number,
): Partial<DatacenterRecord> | undefined {
  if (known.phase === 'late') {
    // It may have been told before it knew the job.
    const told = known.told === null ? null : ({ ...known.told, answer: 'contradicted' } as const);
    return accepted ? { leaderFence: Math.max(leaderFence, known.leaderFence), told } : undefined;
  }
  if (known.phase !== 'asked') return undefined;
  if (accepted) {
    const phase = at > dispatchDueAt(context) ? 'late' : 'running';
    return { phase, leaderFence, managerId, lastSeenAt: at, lastProgressAt: at };
  }
  // Somebody who said no has no job; somebody who said nothing may have one.
  return { phase: reason === UNREACHABLE ? 'late' : 'refused' };
}

/** Until when a datacenter may take the job. */
export function dispatchDueAt({ bornAt, rules }: GateJobContext): number {
  return bornAt + (rules?.gateDispatchLimitMs ?? 0);
}

/** The limit is over: whoever has not answered is late. */
export function dispatchClosed({ datacenters }: GateJobContext): Partial<GateJobContext> {
  return {
    datacenters: Object.fromEntries(
      Object.entries(datacenters).map(([name, record]) => [
        name,
        record.phase === 'asked' ? { ...record, phase: 'late' as const } : record,
      ]),
    ),
  };
}

export function isDispatchOver({ datacenters }: GateJobContext): boolean {
  return Object.values(datacenters).every(({ phase }) => phase !== 'asked');
}
