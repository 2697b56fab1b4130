/**
 * Dispatch of a job to a datacenter: part by part to its jobs service, again until it is answered or too late.
 *
 * Guarantees: it ends by the dispatch limit and always tells the job how it went; when a datacenter has
 * too much to do, it tells the job before it waits, which puts the limit off. Begun again after a crash it
 * does no harm, because a datacenter takes the same job once.
 */

import { jobsServiceAddress } from '../../../machines/jobs/addresses.ts';
import { isOutcome, UNREACHABLE } from '../../../machines/jobs/datacenter/steps.ts';
import { dispatchDueAt } from '../../../machines/jobs/gate-job/context.ts';
import { wasAway } from '../../../machines/jobs/gate-job/joining.ts';
import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { SubmissionAnswer } from '../../../machines/jobs/messages/client.ts';
import type {
  SubmissionAnswered,
  SubmissionDeferred,
  SubmissionResumed,
} from '../../../machines/jobs/messages/gate.ts';
import { type ErrorCode, RuntimeError } from '../../../runtime/base/errors.ts';
import { pause } from '../client/pause.ts';
import { pendingWork } from '../jobs-service/portions.ts';
import { type GateNode, readGateJob, readPart } from './node.ts';

/** Times for which an answer is waited for; the last one goes on. */
const PATIENCE_MS = [1_000, 2_000, 4_000, 5_000];
/** Time added for each part after the first: to be taken, a large job has to be written. */
const PART_PATIENCE_MS = 20;
/** Whatever a datacenter says, it is asked again after that. */
const DEFERRAL_MAX_MS = 60_000;
/** Answers after which it is worth trying again. */
const PASSING = new Set(['notLeader', 'overloaded']);
/** Errors of a datacenter that does not want to hear of us; any other error may pass. */
const FINAL = new Set<ErrorCode>([
  'NOT_ALLOWED',
  'SENDER_REFUSED',
  'EVENT_REFUSED',
  'EVENT_UNDECLARED',
]);

export async function dispatch(
  node: GateNode,
  jobId: string,
  datacenter: string,
  signal: AbortSignal,
  say: (word: SubmissionDeferred | SubmissionResumed) => Promise<void>,
): Promise<SubmissionAnswered> {
  const { clock, rooms } = node;
  const answered = (
    answer: Partial<Omit<SubmissionAnswer, 'reason'>> & { readonly reason?: string | null },
  ): SubmissionAnswered => ({
    type: 'submission.answered',
    jobId,
    datacenter,
    accepted: answer.accepted ?? false,
    created: answer.created ?? false,
    ...(isOutcome(answer.status ?? 'submitted') && { hasEnded: true }),
    reason: answer.reason ?? (answer.accepted === true ? null : UNREACHABLE),
    leaderFence: answer.leaderFence ?? 1,
    managerId: answer.managerId ?? '',
  });
  const settled = (answer: SubmissionAnswered): SubmissionAnswered => {
    rooms.settled(datacenter, jobId, answer.accepted);
    return answer;
  };
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    // What the gate was away for puts the limit off, once the job has heard of it.
    if (isBack(node, jobId)) await say({ type: 'submission.resumed', jobId });
    const job = readGateJob(node, jobId);
    const leftMs = job === undefined ? 0 : leftOf(job, clock.now());
    // Somebody who has cancelled meanwhile wants no more datacenters.
    if (job === undefined || leftMs <= 0 || job.decision !== null) break;
    const patienceMs =
      (PATIENCE_MS[Math.min(attempt, PATIENCE_MS.length - 1)] as number) +
      (job.pages - 1) * PART_PATIENCE_MS;
    const startedAt = clock.now();
    let untilMs = patienceMs;
    try {
      const answer = await submit(node, job, datacenter, Math.min(patienceMs, leftMs), signal);
      node.clocks.hear(datacenter, answer?.clock, clock.now());
      if (answer !== undefined && !PASSING.has(answer.reason ?? ''))
        return settled(answered(answer));
      if (answer?.reason === 'overloaded') {
        rooms.refused(datacenter, jobId, { now: clock.now(), ...timeOf(answer) });
        const retryAfterMs = Math.min(DEFERRAL_MAX_MS, answer.retryAfterMs ?? patienceMs);
        await say({ type: 'submission.deferred', jobId, datacenter, retryAfterMs });
        untilMs = Math.max(patienceMs, clock.now() + retryAfterMs - startedAt);
      }
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError)) throw thrown;
      if (FINAL.has(thrown.code)) return settled(answered({ reason: thrown.code }));
    }
    const lastMs = leftOf(readGateJob(node, jobId) ?? job, startedAt);
    const restMs = Math.min(untilMs, lastMs) - (clock.now() - startedAt);
    if (restMs > 0) await pause(clock, restMs, signal);
  }
  return settled(answered({}));
}

/** The job has not heard yet that the gate started again, or was seen to stand still. */
function isBack(node: GateNode, jobId: string): boolean {
  const job = readGateJob(node, jobId);
  return job !== undefined && (job.fence < node.runtime.fence || wasAway(job, node.clock.now()));
}

const timeOf = ({ retryAfterMs }: SubmissionAnswer) =>
  retryAfterMs === undefined ? {} : { retryAfterMs };

function leftOf(job: GateJobContext, now: number): number {
  return dispatchDueAt(job) + 1 - now;
}

/** One try, all parts of it; undefined when none of them made the job whole. @throws {RuntimeError} */
async function submit(
  node: GateNode,
  job: GateJobContext,
  datacenter: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<SubmissionAnswer | undefined> {
  const { jobId, gateId, gateBoot, client, terms, pages } = job;
  const service = node.runtime.actor(jobsServiceAddress(datacenter) as `desk/${string}`);
  const now = node.clock.now();
  // Nobody is counted out before this try is over, and no decision comes to an end before it settles.
  const waitsMs = Math.min(timeoutMs, job.rules?.settleLimitMs ?? 0);
  const beginsBefore = node.clocks.beginsBefore(datacenter, now + waitsMs, now);
  const gate = {
    gateId,
    elapsedMs: Math.max(0, now - job.submittedAt),
    decisionEpoch: [gateBoot, 0] as const,
    beginsBefore,
  };
  const ask = async (page: number): Promise<SubmissionAnswer | null> => {
    const workflows = readPart(node, job, page);
    if (workflows === undefined) return null;
    const whose = client === undefined ? {} : { client };
    const event = {
      ...({ type: 'job.submitted', jobId, terms, gate, ...whose } as const),
      ...{ workflows, page, pages },
    };
    return (await service.ask(event, { timeoutMs, signal })) as SubmissionAnswer | null;
  };
  const answers: Array<Promise<SubmissionAnswer | null>> = [];
  for (let page = 1; page <= pages; page += 1) {
    if (page > 1) await pendingWork(node.clock);
    const answer = ask(page);
    // A part that fails before all are sent is heard of below.
    answer.catch(() => {});
    answers.push(answer);
  }
  // The part that made it whole has the answer, the others have none.
  return (await Promise.all(answers)).find((answer) => answer !== null);
}
