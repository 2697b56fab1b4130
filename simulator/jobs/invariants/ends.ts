/**
 * A job has one end in each datacenter, and whatever comes later changes nothing.
 */

import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { isAccepted, localVerdict, overallDeadline } from './reading-deadlines.ts';
import { overallDeadline as gateDeadline } from './reading-gate.ts';
import {
  electionMs,
  healedAtMs,
  isInCore,
  LATENESS_MS,
  reunionMs,
  roundTripMs,
} from './reading-healed.ts';
import {
  type JobStep,
  type Jobs,
  jobsOf,
  PerActor,
  type WorkflowStep,
  watching,
} from './reading-jobs.ts';
import type { Standing } from './reading-steps.ts';
import { workflowsIn } from './reading-workflows.ts';
import { trueMs } from './time-limits.ts';

type End = Pick<JobContext, 'status' | 'reason' | 'gateReason' | 'endedAt'>;

/** TS-1. One whose submission was given up is no end: nobody was told of it, and it may come again. */
export const oneEnd: JobsInvariant = {
  id: 'TS-1',
  kind: 'safety',
  says: 'A job enters one end in each datacenter, and never leaves it.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const ends = new PerActor<JobContext, { end: End | undefined }>(() => ({ end: undefined }));
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const kept = ends.of(step);
      // The image behind turns that nobody saw may have ended too.
      for (const image of step.hasGap ? [before, after] : [after]) {
        if (image === undefined) continue;
        const { end } = kept;
        if (end !== undefined && !isSameEnd(end, image))
          verdict.broken(`${record.address} is ${nameOf(image)} and was ${nameOf(end)}`, record);
        if (image.endedAt === null || image.isAbandoned === true) continue;
        if (end === undefined) verdict.exercised();
        kept.end = image;
      }
      const { state } = record;
      if (FINAL.has(state) && state !== after.status)
        verdict.broken(`${record.address} is ${state} with status ${after.status}`, record);
      if ((after.endedAt === null) === FINAL.has(after.status))
        verdict.broken(
          `${record.address} has status ${after.status} and end ${after.endedAt}`,
          record,
        );
    };
    return watching(jobs, { job, forget: (place) => ends.forget(place) });
  },
};

const FINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'timedOut']);

function isSameEnd(one: End, other: End): boolean {
  return (
    one.status === other.status &&
    one.reason === other.reason &&
    one.gateReason === other.gateReason &&
    one.endedAt === other.endedAt
  );
}

const nameOf = ({ status, reason, endedAt }: End): string => `${status}/${reason} (${endedAt})`;

/** TS-2. A job whose timeouts only watch has no such bound, and one that nobody had accepted neither. */
export const everyJobEnds: JobsInvariant = {
  id: 'TS-2',
  kind: 'liveness',
  says: 'Every accepted job ends in every datacenter that is up and at its gate, within the time that its deadlines, the fallback and an election take.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const healed = healedAtMs(facts);
    const end = (endedAtMs: number): void => {
      if (healed === null) return;
      const limitsMs = new Map<string, number>();
      for (const standing of jobs.gateJobs.standing()) {
        const atMs = trueMs(gateDeadline(standing.context), standing);
        extend(limitsMs, standing.context.jobId, atMs);
      }
      for (const standing of jobs.jobs.standing())
        extend(
          limitsMs,
          standing.context.jobId,
          trueMs(overallDeadline(standing.context), standing),
        );
      const checked = (address: string, jobId: string, isOpen: boolean): void => {
        verdict.exercised();
        const lastMs = Math.max(limitsMs.get(jobId) ?? 0, healed) + endingMs(facts);
        if (isOpen && endedAtMs > lastMs)
          verdict.broken(
            `${address} has not ended, ${endedAtMs - lastMs} ms after the last moment`,
          );
      };
      for (const { address, context, state, place } of jobs.jobs.standing())
        if (isAccepted(state) && context.enforce && isInCore(facts, place))
          checked(address, context.jobId, context.endedAt === null);
      for (const standing of jobs.gateJobs.standing())
        if (isGateBound(standing, facts))
          checked(standing.address, standing.context.jobId, standing.context.outcome === null);
    };
    // Turns of both kinds are read here: others may not listen to both.
    return watching(jobs, { job: () => {}, gateJob: () => {} }, { end });
  },
};

function isGateBound({ context, place }: Standing<GateJobContext>, facts: JobsFacts): boolean {
  return context.terms.enforce !== false && isInCore(facts, place);
}

function extend(limitsMs: Map<string, number>, jobId: string, atMs: number): void {
  limitsMs.set(jobId, Math.max(limitsMs.get(jobId) ?? Number.NEGATIVE_INFINITY, atMs));
}

/** From the last deadline of a job to its end: by a decision of its gate, or by the fallback. */
function endingMs(facts: JobsFacts): number {
  const { config, epsilonMs } = facts;
  const { checkIntervalMs, gateCheckIntervalMs, gateFallbackMs, settleLimitMs } = config;
  const deciding = gateCheckIntervalMs + config.gateDispatchLimitMs + reunionMs(facts);
  const falling = gateFallbackMs + checkIntervalMs + electionMs(facts);
  const telling = 2 * roundTripMs(facts) + settleLimitMs;
  return deciding + falling + telling + 4 * epsilonMs + LATENESS_MS;
}

/**
 * TO-9. The first end that a job takes counts, so what matters is what it was told before its
 * deadline. Without any fault it is told within a second of what its workflows do.
 */
export const doneIsNeverTooLate: JobsInvariant = {
  id: 'TO-9',
  kind: 'safety',
  says: 'A job that knows all its workflows to be done is never timed out, and what is done after a timeout changes nothing but its list of late events.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const done = new Map<string, Done>();
    const workflow = (step: WorkflowStep): void => {
      if (facts.isFaultFree) noteDone(done, step, jobs);
    };
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      if (before === undefined) return;
      checkLate(step, (what) => verdict.broken(what, record));
      const isTimeout = before.endedAt === null && after.status === 'timedOut';
      if (!isTimeout && localVerdict(before, after) === undefined) return;
      verdict.exercised();
      const { ids, standing } = workflowsIn(before.table);
      const told = done.get(record.address);
      const isLongDone =
        told?.names.size === ids.length &&
        jobs.clocks.trueTime(record) - told.lastAt > LATENESS_MS + facts.deltaMs;
      if (/^s+$/.test(standing) || isLongDone)
        verdict.broken(`${record.address} times out though all its work is done`, record);
    };
    const forget = (): void => done.clear();
    return watching(jobs, { job, workflow, forget });
  },
};

/** The workflows of a job that have succeeded, and when the last of them did. */
interface Done {
  readonly names: Set<string>;
  lastAt: number;
}

function noteDone(done: Map<string, Done>, step: WorkflowStep, { clocks }: Jobs): void {
  const { record, after } = step;
  if (record.state !== 'COMPLETED' && record.state !== 'AGGREGATED') return;
  const { jobId, workflowId } = after as WorkflowContext;
  const address = `job/${jobId}@${record.place}`;
  const known = done.get(address) ?? { names: new Set(), lastAt: 0 };
  known.names.add(workflowId);
  known.lastAt = Math.max(known.lastAt, clocks.trueTime(record));
  done.set(address, known);
}

interface Changed {
  readonly type: string;
  readonly lateEvent?: string | null;
}

/** What a workflow says to have come too late is logged as that, newest last. */
function checkLate({ before, after, record }: JobStep, broken: (what: string) => void): void {
  const { type, lateEvent = null } = record.event as Changed;
  if (type !== 'workflow.changed' || lateEvent === null || before?.endedAt === null) return;
  const last = after.lateEvents.at(-1);
  if (last?.type !== lateEvent || last.at !== record.takenAt)
    broken(`${record.address} has not noted ${lateEvent}, which came too late`);
}
