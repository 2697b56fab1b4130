/**
 * Views of jobs for clients of a gate: read from committed records, changing nothing.
 *
 * The state of a job in each datacenter is in the gate's record. Its workflows are at the
 * datacenters, which are asked for them when somebody wants to see them.
 */

import { jobsServiceAddress } from '../../../machines/jobs/addresses.ts';
import type { DatacenterRecord } from '../../../machines/jobs/datacenter/context.ts';
import { running, targets } from '../../../machines/jobs/gate-job/context.ts';
import { overallDueAt } from '../../../machines/jobs/gate-job/rules.ts';
import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type {
  DatacenterView,
  JobPage,
  JobsAsked,
  JobView,
  WorkflowView,
} from '../../../machines/jobs/messages/client.ts';
import type { ClockReading } from '../../../machines/jobs/messages/fields.ts';
import type { WorkflowResultEntry } from '../../../machines/jobs/messages/gate.ts';
import type { JobStatus } from '../../../machines/jobs/words.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import { pageOfJobs } from '../jobs-service/job-order.ts';
import type { Steps } from '../jobs-service/slices.ts';
import { type GateNode, readGateJob } from './node.ts';

/** Time for which a datacenter is waited for; the client that asked the gate waits too. */
const SERVICE_LIMIT_MS = 900;

const SEQ_OF: Readonly<Record<JobStatus, number>> = {
  submitted: 1,
  running: 2,
  completed: 3,
  failed: 3,
  cancelled: 3,
  timedOut: 3,
};

/** Submitted until a datacenter has taken it, running until the outcome is published. */
export function statusOf({ outcome, decision, datacenters, isRebuilt }: GateJobContext): JobStatus {
  if (outcome !== null) return outcome.status;
  const isDispatched = isRebuilt || decision !== null || targets(datacenters).length > 0;
  return isDispatched ? 'running' : 'submitted';
}

/** A job without its workflows, but for the results that the gate itself has. */
export function jobSummary({ clock, gate }: GateNode, context: GateJobContext): JobView {
  const { datacenters, decision, outcome, terms } = context;
  const now = clock.now();
  const status = statusOf(context);
  const took = targets(datacenters).map(([, record]) => record);
  const alive = running(datacenters).map(([, record]) => record);
  const most = (figure: (record: DatacenterRecord) => number, records = took) =>
    Math.max(0, ...records.map(figure));
  const progressAt = most(({ lastProgressAt }) => lastProgressAt) || context.submittedAt;
  return {
    jobId: context.jobId,
    status,
    reason: outcome?.reason ?? null,
    localReason: null,
    gateReason: decision?.kind === 'timeout' ? decision.reason : null,
    authority: 'gateCoordinated',
    enforce: terms.enforce !== false,
    elapsedMs: Math.max(0, (outcome?.at ?? now) - context.submittedAt),
    timeoutMs: terms.timeoutMs,
    extensionsMs: most(({ extensionsMs }) => extensionsMs, outcome === null ? alive : took),
    dueInMs: outcome === null ? Math.max(0, overallDueAt(context) - now) : null,
    sinceProgressMs: Math.max(0, (outcome?.at ?? now) - progressAt),
    queued: alive.length > 0 && alive.every(({ queued }) => queued),
    leader: gate,
    leaderFence: Math.max(1, context.gateBoot),
    shadow:
      context.shadowed === null
        ? null
        : {
            reason: context.shadowed.reason,
            atMs: context.shadowed.at - context.submittedAt,
          },
    seq: SEQ_OF[status],
    workflowsTotal: context.workflowsTotal,
    workflowsCompleted: most(({ workflowsCompleted }) => workflowsCompleted),
    workflowsFailed: most(({ workflowsFailed }) => workflowsFailed),
    workflows: [],
    page: 1,
    pages: 1,
    datacenters: Object.entries(datacenters).map(([name, record]) =>
      datacenterView(name, record, context, now),
    ),
  };
}

function datacenterView(
  datacenter: string,
  record: DatacenterRecord,
  { outcome }: GateJobContext,
  now: number,
): DatacenterView {
  const { run, decision, contact, final, leaderFence } = record;
  const status = (): DatacenterView['status'] => {
    if (final !== null) return final.status;
    if (run === 'asked' && record.fullUntil !== undefined && outcome === null) return 'full';
    if (run === 'asked' || run === 'refused' || run === 'late') return 'unheard';
    if (contact === 'silent' && outcome === null) return contact;
    return run === 'reported' ? run : 'running';
  };
  return {
    datacenter,
    status: status(),
    reason: final === null ? record.report : (final.gateReason ?? final.reason),
    decision,
    contact,
    leaderFence,
    extensionsMs: record.extensionsMs,
    sinceProgressMs: Math.max(0, (final?.endedAt ?? now) - record.lastProgressAt),
    queued: record.queued,
    unconfirmed: outcome?.unconfirmed.includes(datacenter) ?? false,
  };
}

/**
 * A job with a page of its workflows, as they are at the datacenter that got furthest. Where that
 * one does not answer, what the gate has of the results has to do.
 */
export async function jobView(
  node: GateNode,
  jobId: string,
  page: number,
): Promise<JobView | undefined> {
  const context = readGateJob(node, jobId);
  if (context === undefined) return undefined;
  const summary = jobSummary(node, context);
  const datacenter = furthest(context);
  if (datacenter === undefined) return summary;
  const there = await viewAt(node, datacenter, jobId, page);
  if (there === undefined || there.job === null)
    return { ...summary, workflows: keptWorkflows(context, datacenter) };
  const { workflows, pages } = there.job;
  return { ...summary, workflows, page, pages };
}

interface ServiceView {
  readonly job: JobView | null;
  readonly clock?: ClockReading;
}

/** View of a job by a datacenter's jobs service; undefined when it does not answer. */
export async function viewAt(
  { runtime, clock }: GateNode,
  datacenter: string,
  jobId: string,
  page: number,
  patienceMs = SERVICE_LIMIT_MS,
): Promise<ServiceView | undefined> {
  const service = runtime.actor(jobsServiceAddress(datacenter) as `desk/${string}`);
  for (const timeoutMs of tries(patienceMs)) {
    const requestId = `${jobId.slice(0, 100)}~${clock.now()}`;
    const asked = { type: 'job.asked', requestId, jobId, page } as const;
    try {
      return (await service.ask(asked, { timeoutMs })) as ServiceView;
    } catch (thrown) {
      const isLost = thrown instanceof RuntimeError && thrown.code === 'ASK_TIMED_OUT';
      if (!isLost) return undefined;
    }
  }
  return undefined;
}

/** Times for which one question is asked: a lost answer costs one of them, a slow one finds a longer one. */
function tries(patienceMs: number): readonly number[] {
  const times: number[] = [];
  let leftMs = patienceMs;
  for (let timeoutMs = FIRST_TRY_MS; leftMs > 0; timeoutMs *= 2) {
    times.push(Math.min(timeoutMs, leftMs));
    leftMs -= timeoutMs;
  }
  return times;
}
const FIRST_TRY_MS = 5_000;

function furthest({ datacenters }: GateJobContext): string | undefined {
  const took = targets(datacenters);
  const completed = took.find(([, { final }]) => final?.status === 'completed');
  const [first] = [...took].sort(
    ([, one], [, other]) => other.workflowsCompleted - one.workflowsCompleted,
  );
  return (completed ?? first)?.[0];
}

function keptWorkflows(
  { outcome, datacenters }: GateJobContext,
  datacenter: string,
): readonly WorkflowView[] {
  const published = outcome?.results.find((results) => results.datacenter === datacenter);
  const entries = published?.entries ?? datacenters[datacenter]?.final?.results ?? [];
  return entries.map(workflowOf);
}

const workflowOf = ({ workflowId, ok, result, truncated }: WorkflowResultEntry): WorkflowView => ({
  workflowId,
  status: ok ? 'completed' : 'failed',
  attempts: 0,
  workerId: null,
  result: result ?? null,
  truncated,
  error: null,
});

/** Jobs page by page, by what is asked of them; a page may have few and still a cursor. */
export function listJobs(node: GateNode, asked: JobsAsked): Steps<JobPage> {
  const { runtime } = node;
  return pageOfJobs(
    (query) => runtime.query(query),
    'gate-job',
    asked,
    (jobId) => {
      const context = readGateJob(node, jobId);
      return context && jobSummary(node, context);
    },
  );
}
