/**
 * Views of jobs for clients: read from committed records, changing nothing.
 */

import { workflowAddress } from '../../../machines/jobs/addresses.ts';
import { elapsedMs, extensionsMs, overallDue } from '../../../machines/jobs/job/context.ts';
import { viewOf } from '../../../machines/jobs/job/table.ts';
import { isQueued, stateIn, tallyOf } from '../../../machines/jobs/job/workflows.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type {
  JobPage,
  JobsAsked,
  JobView,
  StuckWorkflow,
  WorkflowView,
} from '../../../machines/jobs/messages/client.ts';
import { statusOfWorkflow, type WorkflowState } from '../../../machines/jobs/words.ts';
import { knob } from '../../../runtime/base/knob.ts';
import { allRows } from '../jobs-service/all-rows.ts';
import { pageOfJobs } from '../jobs-service/job-order.ts';
import { RECORD_WEIGHT, type Steps } from '../jobs-service/slices.ts';
import { lookAtWorkflow, type ManagerNode, readJob, readWorkflow } from './node.ts';

/** Workflows of one page of a view. Results may be long, so a page of them is short. */
const VIEW_PAGE = knob('workflowsPerView', 100);
/** Size that a page of a view may have with all its results. */
const VIEW_LENGTH_MAX = knob('viewLengthMax', 128 * 1024);

/** A job without its workflows. */
export function jobSummary(node: ManagerNode, context: JobContext): JobView {
  const now = node.clock.now();
  const at = context.endedAt ?? now;
  return {
    jobId: context.jobId,
    status: context.status,
    reason: context.reason,
    localReason: context.localReason,
    gateReason: context.gateReason,
    authority: context.gateId === null ? 'localAuthority' : 'gateCoordinated',
    enforce: context.enforce,
    elapsedMs: elapsedMs(context, at),
    timeoutMs: context.timeoutMs,
    extensionsMs: extensionsMs(context),
    dueInMs: context.endedAt === null ? Math.max(0, overallDue(context) - now) : null,
    sinceProgressMs: Math.max(0, at - context.lastProgressAt),
    queued: isQueued(context.table),
    leader: context.managerId,
    leaderFence: context.leaderFence,
    shadow: shadowOf(context),
    seq: context.seq,
    ...tallyOf(context.table),
    workflows: [],
    page: 1,
    pages: 1,
  };
}

/** Deadline that would have ended it, counted from its acceptance. */
function shadowOf({ shadows: [first], baseAt }: JobContext): JobView['shadow'] {
  return first === undefined ? null : { reason: first.reason, atMs: first.at - baseAt };
}

/** A job with a page of its workflows; results that do not fit into one message are left for a page of their own. */
export function jobView(node: ManagerNode, jobId: string, page: number): JobView | undefined {
  const context = readJob(node, jobId);
  if (context === undefined) return undefined;
  const { ids } = viewOf(context.table);
  const pages = Math.max(1, Math.ceil(ids.length / VIEW_PAGE.value));
  const from = (page - 1) * VIEW_PAGE.value;
  let length = 0;
  const workflows = ids.slice(from, from + VIEW_PAGE.value).map((workflowId) => {
    const view = workflowView(node, context, workflowId);
    length += view.result?.length ?? 0;
    const isCut = view.result !== null && length > VIEW_LENGTH_MAX.value;
    return isCut ? { ...view, result: null, truncated: true } : view;
  });
  return { ...jobSummary(node, context), workflows, page, pages };
}

/** One that is not spawned yet, or that is forgotten, is as its job knows it. */
function workflowView(node: ManagerNode, job: JobContext, workflowId: string): WorkflowView {
  const workflow = lookAtWorkflow(node, workflowAddress(job.jobId, workflowId, node.datacenter));
  const context = workflow?.context;
  const state = workflow === undefined ? stateIn(job.table, workflowId) : stateOf(workflow.value);
  return {
    workflowId,
    status: statusOfWorkflow(state),
    attempts: context?.dispatched ?? 0,
    workerId: context?.lastWorkerId ?? null,
    result: context?.result ?? null,
    truncated: context?.truncated ?? false,
    error: context?.error ?? null,
  };
}

/** The outermost state: one of AD-33's ten. */
export function stateOf(value: unknown): WorkflowState {
  const state = typeof value === 'string' ? value : (Object.keys(value as object)[0] as string);
  return (state === 'FAILED_FOR_GOOD' ? 'FAILED' : state) as WorkflowState;
}

/** Jobs page by page, by what is asked of them; a page may have few and still a cursor. */
export function listJobs(node: ManagerNode, asked: JobsAsked): Steps<JobPage> {
  const { runtime } = node;
  return pageOfJobs(
    (query) => runtime.query(query),
    'job',
    asked,
    (jobId) => {
      const context = readJob(node, jobId);
      return context && jobSummary(node, context);
    },
  );
}

/** Workflows with an attempt out whose own last progress is older, the longest first. */
export function* stuckWorkflows(
  node: ManagerNode,
  thresholdMs: number,
  limit: number,
): Steps<readonly StuckWorkflow[]> {
  const now = node.clock.now();
  const stuck: StuckWorkflow[] = [];
  for (const { address } of allRows(node.runtime, { kind: 'workflow', tag: 'out' })) {
    const context = readWorkflow(node, address as `workflow/${string}`);
    yield RECORD_WEIGHT;
    if (context === undefined) continue;
    const { jobId, workflowId, lastProgressAt, slot } = context;
    const sinceProgressMs = now - lastProgressAt;
    if (sinceProgressMs > thresholdMs)
      stuck.push({ jobId, workflowId, workerId: slot?.workerId ?? '', sinceProgressMs });
  }
  stuck.sort((one, other) => other.sinceProgressMs - one.sinceProgressMs);
  return stuck.slice(0, limit);
}

/** Milliseconds since a job, or one of its workflows, got further. */
export function timeSinceProgress(
  node: ManagerNode,
  jobId: string,
  workflowId: string | undefined,
): number | undefined {
  const now = node.clock.now();
  if (workflowId === undefined) {
    const job = readJob(node, jobId);
    return job === undefined ? undefined : Math.max(0, now - job.lastProgressAt);
  }
  const workflow = readWorkflow(node, workflowAddress(jobId, workflowId, node.datacenter));
  return workflow === undefined ? undefined : Math.max(0, now - workflow.lastProgressAt);
}
