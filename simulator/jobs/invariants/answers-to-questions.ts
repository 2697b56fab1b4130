/**
 * Answers of jobs services to questions, held against records: views, lists, what is stuck and since when, workers.
 */

import {
  idOf,
  workerHealthAddress,
  workerPoolAddress,
  workflowAddress,
} from '../../../machines/jobs/addresses.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type {
  JobPage,
  JobView,
  SinceProgressAsked,
  StuckWorkflow,
  WorkerPage,
  WorkersAsked,
} from '../../../machines/jobs/messages/client.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import type { Workers } from '../../../machines/jobs/worker-pool/placement.ts';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import { Table } from '../../../runtime/machine.ts';
import {
  type AskedService,
  addressOf,
  isThere,
  type JobThere,
  jobsThere,
  type Said,
} from './reading-services.ts';
import type { Version } from './reading-versions.ts';
import { age, type Expected, isOut, Range, workflowView, wrongIn } from './reading-views.ts';
import { workflowsIn } from './reading-workflows.ts';

export function wrongSummary(asked: AskedService, job: JobView | null): Said {
  const jobId = String(asked.question.jobId);
  const jobs = jobsThere(asked, jobId);
  if (job === null)
    return jobs.every(isThere) ? `there is no job ${jobId}, and there is one` : undefined;
  return wrongIn(
    job,
    jobs.filter(isThere).map(({ shown }) => shown),
  );
}

export function wrongView(asked: AskedService, { job }: { readonly job: JobView | null }): Said {
  const wrong = wrongSummary(asked, job);
  // The workflows of a gate's view are at a datacenter, whose own answers are judged.
  if (wrong !== undefined || job === null || asked.isGate) return wrong;
  const { versions, span, place, question } = asked;
  const jobs = jobsThere(asked, job.jobId).filter(isThere);
  const contexts = jobs.map(({ version }) => version.context as JobContext);
  const [first] = contexts;
  const ids = first === undefined ? [] : workflowsIn(first.table).ids;
  const page = Number(question.page ?? 1);
  const shown = job.workflows.map(({ workflowId }) => workflowId);
  const isLast = page >= job.pages;
  const from = isLast ? ids.length - shown.length : (page - 1) * shown.length;
  const should = page > job.pages ? [] : ids.slice(from, from + shown.length);
  const isWhole = job.pages > 1 || shown.length === ids.length;
  if (!isWhole || job.page !== page || shown.join() !== should.join())
    return `page ${job.page} of ${job.pages} has the workflows ${shown.join()} of ${ids.join()}`;
  for (const view of job.workflows) {
    const { workflowId, result, truncated } = view;
    const address = workflowAddress(job.jobId, workflowId, place);
    const found = versions.of<WorkflowContext>(address, span);
    const isCut = result === null && truncated;
    const possible = found.flatMap((workflow) =>
      contexts.map((context) => workflowView(workflow, context, workflowId, isCut)),
    );
    const isWrong = wrongIn(view, possible);
    if (isWrong !== undefined) return `workflow ${workflowId}: ${isWrong}`;
  }
  return undefined;
}

interface Filters {
  readonly status?: string;
  readonly stuckForMs?: number;
  readonly deadlineBeforeMs?: number;
}

/** Whether a job is in the list that is asked for, by figures that are all at their least favourable. */
function isSurelyListed({ shown }: JobThere, asked: Filters): boolean {
  const { status, sinceProgressMs, dueInMs } = shown as Record<string, unknown>;
  if (asked.status !== undefined && asked.status !== status) return false;
  if (asked.stuckForMs !== undefined && (sinceProgressMs as Range).min <= asked.stuckForMs)
    return false;
  if (asked.deadlineBeforeMs === undefined) return true;
  return dueInMs instanceof Range && dueInMs.max < asked.deadlineBeforeMs;
}

function isListed(view: JobView, { status, stuckForMs, deadlineBeforeMs }: Filters): boolean {
  const { sinceProgressMs, dueInMs } = view;
  if (status !== undefined && view.status !== status) return false;
  if (stuckForMs !== undefined && sinceProgressMs <= stuckForMs) return false;
  return deadlineBeforeMs === undefined || (dueInMs !== null && dueInMs < deadlineBeforeMs);
}

export function wrongList(asked: AskedService, { jobs, cursor }: JobPage): Said {
  const { question, versions, isGate, place } = asked;
  const filters = question as Filters;
  if (jobs.length > Number(question.limit))
    return `${jobs.length} jobs are more than were asked for`;
  for (const view of jobs) {
    const there = jobsThere(asked, view.jobId).filter(isThere);
    const wrong = wrongIn(
      view,
      there.map(({ shown }) => shown),
    );
    if (wrong !== undefined) return `${view.jobId}: ${wrong}`;
    if (!isListed(view, filters)) return `${view.jobId} is none that was asked for`;
  }
  const listed = jobs.map(({ jobId }) => jobId);
  if (new Set(listed).size < listed.length) return `${listed.join()} has a job twice`;
  // With a cursor nobody can say how far the page went.
  if (cursor !== null || question.cursor !== undefined) return undefined;
  for (const address of versions.addresses(isGate ? 'gate-job' : 'job', place)) {
    const jobId = idOf(address);
    if (listed.includes(jobId)) continue;
    const isMissed = jobsThere(asked, jobId).every(
      (job) => job !== undefined && isSurelyListed(job, filters),
    );
    if (isMissed) return `${jobId} is missing in the list of ${listed.join() || 'nothing'}`;
  }
  return undefined;
}

export function wrongStuck(asked: AskedService, stuck: readonly StuckWorkflow[]): Said {
  const { question, versions, span, moments, place } = asked;
  const thresholdMs = Number(question.thresholdMs);
  const ageOf = ({ context }: Version<WorkflowContext>): Range =>
    new Range(moments.from - context.lastProgressAt, moments.to - context.lastProgressAt);
  for (const view of stuck) {
    const { jobId, workflowId, sinceProgressMs } = view;
    const address = workflowAddress(jobId, workflowId, place);
    const out = versions.of<WorkflowContext>(address, span).filter(isThere).filter(isOut);
    const possible = out.map((workflow) => ({
      workerId: workflow.context.slot?.workerId ?? '',
      sinceProgressMs: ageOf(workflow),
    }));
    const wrong = wrongIn(view, possible);
    if (wrong !== undefined) return `${jobId}/${workflowId}: ${wrong}`;
    if (sinceProgressMs <= thresholdMs) return `${jobId}/${workflowId} is not stuck for so long`;
  }
  const ages = stuck.map(({ sinceProgressMs }) => sinceProgressMs);
  if (ages.some((one, index) => one < (ages[index + 1] ?? 0)))
    return 'the longest is not the first';
  if (stuck.length >= Number(question.limit)) return undefined;
  for (const address of versions.addresses('workflow', place)) {
    const name = idOf(address);
    if (stuck.some(({ jobId, workflowId }) => name === `${jobId}/${workflowId}`)) continue;
    const isMissed = versions
      .of<WorkflowContext>(address, span)
      .every((one) => one !== undefined && isOut(one) && ageOf(one).min > thresholdMs);
    if (isMissed) return `${name} is stuck for more than ${thresholdMs} ms and is missing`;
  }
  return undefined;
}

export function wrongAge(asked: AskedService, answer: number | null): Said {
  const { question, versions, span, moments, place, isGate } = asked;
  const { jobId, workflowId } = question as unknown as SinceProgressAsked;
  if (isGate && workflowId !== undefined) return undefined;
  const address =
    workflowId === undefined ? addressOf(asked, jobId) : workflowAddress(jobId, workflowId, place);
  const found = versions.of<{ readonly lastProgressAt: number }>(address, span);
  if (answer === null) return found.every(isThere) ? `${address} is not there, and is` : undefined;
  const ages = isGate
    ? jobsThere(asked, jobId)
        .filter(isThere)
        .map(({ shown }) => shown.sinceProgressMs)
    : found.filter(isThere).map(({ context }) => age(context.lastProgressAt, moments));
  return wrongIn(
    { sinceProgressMs: answer },
    ages.map((sinceProgressMs) => ({ sinceProgressMs })),
  );
}

export function wrongWorkers(asked: AskedService, page: WorkerPage): Said {
  const { versions, span, place } = asked;
  const pools = versions.of<{ readonly workers: Workers }>(workerPoolAddress(place), span);
  const wrong = pools.map((pool) => wrongWorkersOf(asked, pool?.context.workers ?? {}, page));
  return wrong.includes(undefined) ? undefined : wrong[0];
}

function wrongWorkersOf(asked: AskedService, workers: Workers, page: WorkerPage): Said {
  const { question, versions, span, moments, place } = asked;
  const { limit, cursor = '' } = question as unknown as WorkersAsked;
  const names = Object.keys(workers)
    .filter((name) => name > cursor)
    .sort();
  const should = names.slice(0, limit);
  const shown = page.workers.map(({ workerId }) => workerId);
  const isCut = names.length > limit;
  if (shown.join() !== should.join() || page.cursor !== (isCut ? (should.at(-1) ?? null) : null))
    return `the workers are ${shown.join()} and not ${should.join()}`;
  if (page.unanswered.length > 0) return 'a datacenter has nobody to ask';
  for (const view of page.workers) {
    const { workerId } = view;
    const pooled = workers[workerId] as Workers[string];
    const healths = versions.of<WorkerHealthContext>(workerHealthAddress(workerId, place), span);
    const possible = healths.map((health): Expected => {
      const { operations = {}, deadline = 0 } = health?.context ?? {};
      return {
        datacenter: place,
        state: pooled.state,
        heard: pooled.heard,
        cores: pooled.coresTotal,
        freeCores: pooled.coresTotal - pooled.coresReserved,
        attempts: Table.of(operations).size,
        handlers: pooled.handlers.length,
        deadlineInMs: new Range(
          Math.max(0, deadline - moments.from),
          Math.max(0, deadline - moments.to),
        ),
      };
    });
    const wrong = wrongIn(view, possible);
    if (wrong !== undefined) return `${workerId}: ${wrong}`;
  }
  return undefined;
}
