/**
 * Invariants of overload, where more is submitted than may wait: what is refused leaves nothing, and the
 * bound holds.
 *
 * Both count for themselves, from calls, answers and what is in the stores. They judge runs without
 * faults: where frames are lost or come twice, a client may be refused what an earlier copy of its
 * question is granted a moment later. That accepted jobs end is TS-2, that they stay TS-4.
 */

import type { HistoryRecord } from '../../history.ts';
import { isWritten } from '../../invariants.ts';
import type { JobsInvariant } from '../facts.ts';
import { type JobStep, jobsOf, watching } from './reading-jobs.ts';
import { workflowsIn } from './reading-workflows.ts';

/** Id of the job in `job/j1@A`, `workflow/j1/w1@A`, `gate-job/j1@gate-1`, `submission-page/j1/…@gate-1`. */
const OF_A_JOB = /^(?:job|workflow|gate-job|submission-page)\/([^/@]+)/;

/** OV-1. It says so to nobody who was accepted before, so a second submission of the same id is another question. */
export const shedLeavesNothing: JobsInvariant = {
  id: 'OV-1',
  kind: 'safety',
  says: 'Of a job that was refused as overload nothing is stored, unless it is submitted again.',
  watch(facts, verdict) {
    if (!facts.isFaultFree) return {};
    const open = new Map<string, { readonly jobId: string; isAlone: boolean }>();
    const stored = new Map<string, string>();
    const shed = new Set<string>();
    return {
      call: (record) => {
        if (record.request !== 'submit') return;
        const { call, jobId } = record;
        const others = [...open.values()].filter((other) => other.jobId === jobId);
        for (const other of others) other.isAlone = false;
        open.set(call, { jobId, isAlone: others.length === 0 });
        shed.delete(jobId);
      },
      answer: (record) => {
        const asked = open.get(record.call);
        open.delete(record.call);
        if (asked === undefined || record.outcome !== 'refused' || !isShed(record.about)) return;
        const { jobId, isAlone } = asked;
        // Another client that submitted it meanwhile may have been granted it.
        if (!isAlone) return;
        verdict.exercised();
        const there = stored.get(jobId);
        if (there === undefined) shed.add(jobId);
        else verdict.broken(`${jobId} was refused as overload, and there is ${there}`, record);
      },
      commit: (record) => {
        if (!isWritten(record)) return;
        for (const { address, record: text } of record.writes) {
          const jobId = OF_A_JOB.exec(address)?.[1];
          if (jobId === undefined || text === null) continue;
          stored.set(jobId, address);
          if (shed.has(jobId))
            verdict.broken(`${jobId} was refused as overload, and now there is ${address}`, record);
        }
      },
    };
  },
};

/** OV-2. One job may be larger than the bound; shares of clients may come to twice of it. */
export const backlogIsBounded: JobsInvariant = {
  id: 'OV-2',
  kind: 'safety',
  says: 'No more workflows wait for their first run in a datacenter than twice the bound and one job.',
  watch(facts, verdict) {
    const { backlogWorkflowsMax } = facts.config;
    // A run has not as many workflows as others allow.
    if (!facts.isFaultFree || backlogWorkflowsMax > BOUND_OF_RUNS) return {};
    const waiting = new Map<string, Set<string>>();
    /** Those that a worker was asked to run: one that comes back was taken long ago. */
    const placed = new Set<string>();
    const ended = new Set<string>();
    let largest = 0;
    const job = ({ after, record }: JobStep): void => {
      largest = Math.max(largest, workflowsIn(after.table).ids.length);
      if (after.endedAt === null) return;
      ended.add(`${after.jobId}@${record.place}`);
      for (const address of waiting.get(record.place) ?? [])
        if (address.startsWith(`workflow/${after.jobId}/`))
          waiting.get(record.place)?.delete(address);
    };
    const commit = (record: Extract<HistoryRecord, { readonly type: 'commit' }>): void => {
      if (!isWritten(record)) return;
      const here = waiting.get(record.place) ?? new Set<string>();
      waiting.set(record.place, here);
      for (const { address, record: text } of record.writes) {
        if (!address.startsWith('workflow/')) continue;
        const isWaiting = text?.includes('"value":{"PENDING"') === true;
        const isOver = ended.has(`${OF_A_JOB.exec(address)?.[1]}@${record.place}`);
        if (!isWaiting) placed.add(address);
        if (isWaiting && !isOver && !placed.has(address)) here.add(address);
        else here.delete(address);
      }
      if (here.size < backlogWorkflowsMax) return;
      verdict.exercised();
      // A job and its workflows may come in one commit.
      largest = Math.max(largest, largestJobOf(here));
      const most = 2 * backlogWorkflowsMax - 1 + largest;
      if (here.size > most)
        verdict.broken(`${here.size} workflows wait at ${record.place}, ${most} may`, record);
    };
    return watching(jobsOf(facts), { job, commit }, {});
  },
};

function largestJobOf(workflows: ReadonlySet<string>): number {
  const counts = new Map<string | undefined, number>();
  for (const address of workflows) {
    const job = OF_A_JOB.exec(address)?.[1];
    counts.set(job, (counts.get(job) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

/** Plans that flood a datacenter have bounds far below, all others far above. */
const BOUND_OF_RUNS = 1_000;

function isShed(about: unknown): boolean {
  const { reason, retryAfterMs } = (about ?? {}) as { reason?: unknown; retryAfterMs?: unknown };
  return reason === 'overloaded' && retryAfterMs !== undefined;
}
