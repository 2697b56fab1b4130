/**
 * Jobs service of a datacenter: a performer for each question of `machines/jobs/jobs-service.ts`.
 *
 * Guarantees: every question that can be answered is, also about jobs that have ended; what is
 * wrong with one is said by a word of the specification, and changes nothing.
 */

import { ID_PATTERN, jobAddress, placeOf } from '../../../machines/jobs/addresses.ts';
import type {
  CancelAnswer,
  ClientCancelRequested,
  ClientExtendRequested,
  ExtendAnswer,
  JobAsked,
  JobSubmitted,
  JobsAsked,
  JobWatched,
  SinceProgressAsked,
  StuckAsked,
  SubmissionAnswer,
  WorkersAsked,
} from '../../../machines/jobs/messages/client.ts';
import type { PerformerCall } from '../../../runtime/actor.ts';
import { ClientTurns } from '../jobs-service/client-turns.ts';
import { GivenAnswers } from '../jobs-service/given-answers.ts';
import { cancelAnswer, isGone } from '../jobs-service/records.ts';
import { inSlices } from '../jobs-service/slices.ts';
import { extenderOf, submitterOf } from '../jobs-service/submitter.ts';
import { type News, observe, watchJob } from '../jobs-service/watch.ts';
import { withHandedOver } from '../submission/handed-over.ts';
import { isBreach, Submissions } from '../submission.ts';
import { Acceptances, isUntaken, refused, shed } from './acceptance.ts';
import { type ManagerNode, readClock, readJob } from './node.ts';
import { jobSummary, jobView, listJobs, stuckWorkflows, timeSinceProgress } from './views.ts';
import { listWorkers } from './workers.ts';

/** A cancel is answered when nothing can start any more, which may take a commit or two. */
const CANCEL_LIMIT_MS = 10_000;

type Call<TQuestion> = PerformerCall & { readonly params: TQuestion };

export function servicePerformers(node: ManagerNode) {
  const submissions = new Submissions(node.clock, node.config);
  const acceptances = new Acceptances(node);
  const given = new GivenAnswers(node.counters);
  const turns = new ClientTurns([node.manager, ...node.gates]);
  const { permissions } = node;
  async function submitJob(asked: JobSubmitted): Promise<SubmissionAnswer | null> {
    const params = withHandedOver(node.runtime, asked);
    const { jobId, replyTo = '', terms } = params;
    const { gateId } = params.gate ?? {};
    if (gateId !== undefined && !node.gates.includes(gateId)) {
      const detail = 'is not a gate of this datacenter';
      return { ...refused(jobId, 'invalid'), field: 'gate.gateId', detail };
    }
    const client = submitterOf(node.manager, params);
    // Nothing is put together of a job that would not be taken; acceptance asks again, for all of it.
    // A copy of what is being taken has the answer of that.
    const isNew =
      ID_PATTERN.test(jobId) && !acceptances.isUnderWay(jobId) && isUntaken(readJob(node, jobId));
    const overload = isNew ? node.backlog.overload(client, timeoutOf(terms)) : undefined;
    if (overload !== undefined) return shed(node, jobId, overload);
    const submission = await submissions.take(placeOf(replyTo), params);
    if (submission === null) return null;
    if (isBreach(submission)) return { ...refused(jobId, 'invalid'), ...submission };
    return await acceptances.accept(submission, client);
  }

  return {
    submitJob: async ({ params, reply }: Call<JobSubmitted>) => {
      const { replyTo = '' } = params;
      const answer = await given.once(replyTo, () => submitJob(params));
      reply(replyTo, answer);
    },
    viewJob: ({ params: { jobId, page, replyTo = '' }, reply }: Call<JobAsked>) => {
      const job = jobView(node, jobId, page);
      reply(replyTo, { found: job !== undefined, job: job ?? null, clock: readClock(node) });
    },
    listJobs: turns.inTurn(async ({ params, reply }: Call<JobsAsked>) => {
      const page = await inSlices(node.clock, listJobs(node, params));
      reply(params.replyTo ?? '', { ...page, jobs: permissions.ownOf(params.replyTo, page.jobs) });
    }),
    watchJob: async ({ params, signal, reply }: Call<JobWatched>) => {
      reply(params.replyTo, await watch(node, params, signal));
    },
    cancelJob: async ({ params, reply }: Call<ClientCancelRequested>) => {
      reply(params.replyTo ?? '', await cancelJob(node, params.jobId));
    },
    extendJob: async ({ params, reply }: Call<ClientExtendRequested>) => {
      reply(params.replyTo ?? '', await extendJob(node, params));
    },
    listStuck: turns.inTurn(async ({ params, reply }: Call<StuckAsked>) => {
      const steps = stuckWorkflows(node, params.thresholdMs, params.limit);
      const stuck = await inSlices(node.clock, steps);
      reply(params.replyTo ?? '', permissions.ownOf(params.replyTo, stuck));
    }),
    tellSinceProgress: ({ params, reply }: Call<SinceProgressAsked>) => {
      const { jobId, workflowId, replyTo = '' } = params;
      reply(replyTo, timeSinceProgress(node, jobId, workflowId) ?? null);
    },
    listWorkers: ({ params, reply }: Call<WorkersAsked>) => {
      reply(params.replyTo ?? '', listWorkers(node, params));
    },
  };
}

/** Whatever else is wrong with it is said later. */
function timeoutOf(terms: unknown): number {
  const { timeoutMs } = (terms ?? {}) as { readonly timeoutMs?: unknown };
  return Number.isSafeInteger(timeoutMs) ? (timeoutMs as number) : Number.MAX_SAFE_INTEGER;
}

function watch(
  node: ManagerNode,
  { jobId, seenSeq }: JobWatched,
  lost: AbortSignal,
): Promise<News> {
  const { clock, runtime, datacenter, ending } = node;
  return watchJob({
    clock,
    endings: [ending, lost],
    seenSeq,
    look: () => {
      const context = readJob(node, jobId);
      return context && jobSummary(node, context);
    },
    observe: (changed) => observe(runtime.actor(jobAddress(jobId, datacenter)), changed),
  });
}

function cancelJob(node: ManagerNode, jobId: string): Promise<CancelAnswer> {
  const { datacenter, runtime } = node;
  const asked = { type: 'cancel.requested', jobId, datacenter } as const;
  return cancelAnswer(
    () => runtime.actor(jobAddress(jobId, datacenter)).ask(asked, { timeoutMs: CANCEL_LIMIT_MS }),
    () => readJob(node, jobId)?.status,
  );
}

async function extendJob(node: ManagerNode, asked: ClientExtendRequested): Promise<ExtendAnswer> {
  const { jobId, requestId, byMs } = asked;
  const by = extenderOf(node.manager, node.gates, asked);
  const job = node.runtime.actor(jobAddress(jobId, node.datacenter));
  try {
    return (await job.ask({ type: 'job.extend', requestId, byMs, by })) as ExtendAnswer;
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
    const context = readJob(node, jobId);
    const reason = context === undefined ? 'unknown' : 'alreadyFinal';
    return { accepted: false, reason, extensionsMs: 0 };
  }
}
