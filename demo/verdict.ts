/**
 * Verdict on a job: whether it ended as it had to.
 *
 * A fault excuses only what a kind says it may, and only where it was in the job's way: on the
 * gate, or in one of the job's datacenters, at a time when the job lived or shortly before.
 */

import type { JobView } from '../machines/jobs/messages/client.ts';
import type { Fault } from './faults.ts';
import type { Ending, JobKind } from './job-kinds.ts';

export interface TrackedJob {
  readonly jobId: string;
  readonly kind: JobKind;
  readonly datacenters: readonly string[];
  readonly submittedAt: number;
  /** It was submitted by an earlier run of the demo. */
  readonly isResumed: boolean;
  /** Answer of the gate to a cancel; undefined when none was asked for. */
  isCancelTaken?: boolean;
}

/** Time after a fault by which what it has left behind is put right. */
const AFTERMATH_MS = 10_000;

/** Finds what is wrong with the end of a job, for people; undefined when nothing is. */
export function findWrong(
  job: TrackedJob,
  view: JobView,
  faults: readonly Fault[],
  now: number,
): string | undefined {
  const { status, reason } = view;
  const endings = job.kind.endings.filter(
    (ending) =>
      ending.status === status &&
      (ending.reasons === undefined || (reason !== null && ending.reasons.includes(reason))),
  );
  const inWay = faults.filter((fault) => isInWay(fault, job, now));
  if (!endings.some((ending) => isAllowed(ending, job, inWay)))
    return `must be ${expectedOf(job.kind)}, is ${status}${reason === null ? '' : ` (${reason})`}`;
  return findUnfinished(job, view);
}

/** Ending that a kind must have when nothing is in its way. */
function expectedOf({ endings }: JobKind): string {
  const [first] = endings.filter(({ onlyWhen }) => onlyWhen === undefined);
  if (first === undefined) return 'ended';
  const { status, reasons } = first;
  return reasons === undefined ? status : `${status} (${reasons.join(' or ')})`;
}

/** Finds what the status alone does not tell: dependents of a failure must not have run. */
function findUnfinished({ kind }: TrackedJob, { status, workflows }: JobView): string | undefined {
  if (kind.name === 'failing' && status === 'failed') {
    const ran = workflows.filter(
      ({ workflowId, attempts }) => workflowId !== 'extract' && attempts > 0,
    );
    if (ran.length > 0) return `${ran[0]?.workflowId} ran although what it depends on has failed`;
  }
  if (status !== 'completed') return undefined;
  const open = workflows.find(({ status: one }) => one !== 'completed' && one !== 'aggregated');
  return open && `is completed although ${open.workflowId} is ${open.status}`;
}

function isAllowed(
  { onlyWhen }: Ending,
  { isResumed, isCancelTaken }: TrackedJob,
  inWay: readonly Fault[],
): boolean {
  switch (onlyWhen) {
    case 'disturbed':
      return inWay.length > 0;
    case 'cutOff':
      return inWay.some(({ kind }) => kind === 'partition');
    case 'resumed':
      return isResumed;
    case 'notCancelled':
      return isCancelTaken !== true;
    default:
      return true;
  }
}

function isInWay(fault: Fault, { datacenters, submittedAt }: TrackedJob, now: number): boolean {
  const isNear = fault.datacenter === undefined || datacenters.includes(fault.datacenter);
  return isNear && fault.at <= now && (fault.endedAt ?? now) + AFTERMATH_MS >= submittedAt;
}
