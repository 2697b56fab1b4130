/**
 * Jobs service of a gate: a performer for each question of `machines/jobs/jobs-service.ts`.
 *
 * Questions about what only datacenters know are passed on to all of them; one that does not
 * answer is left out, or said not to have answered.
 */

import { jobsServiceAddress, placeOf } from '../../../machines/jobs/addresses.ts';
import { runningNames } from '../../../machines/jobs/gate-job/decisions.ts';
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
  StuckWorkflow,
  SubmissionAnswer,
  WorkerPage,
  WorkersAsked,
} from '../../../machines/jobs/messages/client.ts';
import type { PerformerCall } from '../../../runtime/actor.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import { ClientTurns } from '../jobs-service/client-turns.ts';
import { GivenAnswers } from '../jobs-service/given-answers.ts';
import { cancelAnswer } from '../jobs-service/records.ts';
import { inSlices } from '../jobs-service/slices.ts';
import { extenderOf, submitterOf } from '../jobs-service/submitter.ts';
import { type News, observe, watchJob } from '../jobs-service/watch.ts';
import { withHandedOver } from '../submission/handed-over.ts';
import { isBreach, Submissions } from '../submission.ts';
import { accept, addressed, refused } from './acceptance.ts';
import { type GateNode, jobOf, readGateJob } from './node.ts';
import { jobSummary, jobView, listJobs, statusOf } from './views.ts';
import { listWorkers } from './workers.ts';

/** Time for which datacenters are waited for by somebody who waits himself. */
const DATACENTER_LIMIT_MS = 900;
/** An extension has to be on disk at each of them. */
const EXTENSION_LIMIT_MS = 3_000;

type Call<TQuestion> = PerformerCall & { readonly params: TQuestion };
type Question = { readonly type: string };

export function servicePerformers(node: GateNode) {
  const { permissions } = node;
  const submissions = new Submissions(node.clock, node.config);
  const given = new GivenAnswers(node.counters);
  const turns = new ClientTurns([node.runtime.node]);
  async function submitJob(asked: JobSubmitted): Promise<SubmissionAnswer | null> {
    const params = withHandedOver(node.runtime, asked);
    const { jobId, replyTo = '' } = params;
    if (params.gate !== undefined) {
      const detail = 'a job that comes from a gate goes to a datacenter';
      return { ...refused(jobId, 'invalid'), field: 'gate', detail };
    }
    const submission = await submissions.take(placeOf(replyTo), addressed(node, params));
    if (submission === null) return null;
    if (isBreach(submission)) return { ...refused(jobId, 'invalid'), ...submission };
    const client = submitterOf(node.runtime.node, { ...params, gate: undefined });
    return await accept(node, submission, client);
  }

  return {
    submitJob: async ({ params, reply }: Call<JobSubmitted>) => {
      const { replyTo = '' } = params;
      const answer = await given.once(replyTo, () => submitJob(params));
      reply(replyTo, answer);
    },
    viewJob: async ({ params: { jobId, page, replyTo }, reply }: Call<JobAsked>) => {
      const job = await jobView(node, jobId, page);
      reply(replyTo, { found: job !== undefined, job: job ?? null });
    },
    listJobs: turns.inTurn(async ({ params, reply }: Call<JobsAsked>) => {
      const page = await inSlices(node.clock, listJobs(node, params));
      reply(params.replyTo, { ...page, jobs: permissions.ownOf(params.replyTo, page.jobs) });
    }),
    watchJob: async ({ params, signal, reply }: Call<JobWatched>) => {
      reply(params.replyTo, await watchGateJob(node, params, signal));
    },
    cancelJob: async ({ params, reply }: Call<ClientCancelRequested>) => {
      reply(params.replyTo, await cancelJob(node, params.jobId));
    },
    extendJob: async ({ params, reply }: Call<ClientExtendRequested>) => {
      reply(params.replyTo, await extendJob(node, params));
    },
    listStuck: turns.inTurn(async ({ params, reply }: Call<StuckAsked>) => {
      reply(params.replyTo, permissions.ownOf(params.replyTo, await stuckWorkflows(node, params)));
    }),
    tellSinceProgress: async ({ params, reply }: Call<SinceProgressAsked>) => {
      reply(params.replyTo, await sinceProgress(node, params));
    },
    listWorkers: async ({ params, reply }: Call<WorkersAsked>) => {
      const askOne = (name: string, question: Question) => ask<WorkerPage>(node, name, question);
      reply(params.replyTo, await listWorkers(node.datacenters, askOne, params));
    },
  };
}

/** `lost`: the gate hosts its place no longer. */
export function watchGateJob(
  node: GateNode,
  { jobId, seenSeq }: JobWatched,
  lost: AbortSignal,
): Promise<News> {
  const { clock, runtime, gate, ending } = node;
  return watchJob({
    clock,
    endings: [ending, lost],
    seenSeq,
    look: () => {
      const context = readGateJob(node, jobId);
      return context && jobSummary(node, context);
    },
    observe: (changed) => observe(jobOf(runtime, gate, jobId), changed),
  });
}

function cancelJob(node: GateNode, jobId: string): Promise<CancelAnswer> {
  const { runtime, gate } = node;
  const asked = { type: 'cancel.requested', jobId, datacenter: gate } as const;
  return cancelAnswer(
    () => jobOf(runtime, gate, jobId).ask(asked),
    () => {
      const context = readGateJob(node, jobId);
      return context && statusOf(context);
    },
  );
}

/** Every running datacenter, or only the named one, under the same request: each does it once. */
async function extendJob(node: GateNode, asked: ClientExtendRequested): Promise<ExtendAnswer> {
  const { jobId, datacenter: named } = asked;
  const context = readGateJob(node, jobId);
  const refusal = (reason: ExtendAnswer['reason']): ExtendAnswer => ({
    accepted: false,
    reason,
    extensionsMs: 0,
  });
  if (context === undefined) return refusal('unknown');
  if (context.outcome !== null) return refusal('alreadyFinal');
  if (named !== undefined && !Object.hasOwn(context.datacenters, named)) return refusal('unknown');
  const names = named === undefined ? runningNames(context) : [named];
  const { replyTo: _, datacenter: __, ...more } = asked;
  const question = { ...more, by: extenderOf(node.runtime.node, [], asked) };
  const datacenters = await Promise.all(
    names.map(async (name) => {
      const answer = await ask<ExtendAnswer>(node, name, question, EXTENSION_LIMIT_MS);
      const { accepted, reason, extensionsMs } = answer ?? refusal('notLeader');
      return { datacenter: name, accepted, reason, extensionsMs };
    }),
  );
  const granted = datacenters.filter(({ accepted }) => accepted);
  return {
    accepted: granted.length > 0,
    reason: granted.length > 0 ? null : (datacenters[0]?.reason ?? 'unknown'),
    extensionsMs: Math.max(0, ...datacenters.map(({ extensionsMs }) => extensionsMs)),
    datacenters,
  };
}

async function stuckWorkflows(
  node: GateNode,
  { replyTo: _, ...question }: StuckAsked,
): Promise<readonly StuckWorkflow[]> {
  const lists = await Promise.all(
    node.datacenters.map((name) => ask<readonly StuckWorkflow[]>(node, name, question)),
  );
  return lists
    .flatMap((list) => list ?? [])
    .sort((one, other) => other.sinceProgressMs - one.sinceProgressMs)
    .slice(0, question.limit);
}

/**
 * Age of the last progress: of a job what the gate knows, of a workflow what the datacenters do; the
 * smallest of all.
 */
async function sinceProgress(
  node: GateNode,
  { replyTo: _, ...question }: SinceProgressAsked,
): Promise<number | null> {
  const context = readGateJob(node, question.jobId);
  if (context === undefined) return null;
  if (question.workflowId === undefined) return jobSummary(node, context).sinceProgressMs;
  const answers = await Promise.all(
    Object.keys(context.datacenters).map((name) => ask<number | null>(node, name, question)),
  );
  const known = answers.filter((answer) => typeof answer === 'number');
  return known.length === 0 ? null : Math.min(...known);
}

/** Undefined when the datacenter did not answer. */
async function ask<TAnswer>(
  { runtime }: GateNode,
  datacenter: string,
  asked: { readonly type: string },
  timeoutMs = DATACENTER_LIMIT_MS,
): Promise<TAnswer | undefined> {
  // When the gate took the question is its own affair, and no field of it.
  const { at: _, ...question } = asked as { readonly type: string; readonly at?: number };
  const service = runtime.actor(jobsServiceAddress(datacenter) as `desk/${string}`);
  try {
    return (await service.ask(question as never, { timeoutMs })) as TAnswer;
  } catch (thrown) {
    if (thrown instanceof RuntimeError) return undefined;
    throw thrown;
  }
}
