/**
 * Acceptance of a submission at a gate: its parts, then the job, then the answer.
 *
 * Guarantees: an acknowledged job is on disk and is dispatched, whatever happens to the process;
 * the same submission again finds the same job; another body under the same id is refused and
 * touches nothing.
 */

import { gateJobAddress, submissionPartAddress } from '../../../machines/jobs/addresses.ts';
import type { GateJobContext, GateJobSubmission } from '../../../machines/jobs/gate-job.ts';
import type { JobTerms, SubmissionAnswer } from '../../../machines/jobs/messages/client.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import { knob } from '../../../runtime/base/knob.ts';
import { gateRules } from '../configuration.ts';
import { inPortions } from '../jobs-service/portions.ts';
import type { Submitted } from '../submission/handed-over.ts';
import { submissionParts } from '../submission/parts.ts';
import type { Submission } from '../submission.ts';
import { type GateNode, readGateJob } from './node.ts';
import { statusOf } from './views.ts';

/**
 * A part as its datacenters will get it, so that the digest is the same here and there: a job that
 * one of them gives back to a gate that has lost it is known again.
 */
export function addressed({ gate, datacenters }: GateNode, part: Submitted): Submitted {
  const terms = part.terms as JobTerms | null;
  return {
    ...part,
    terms:
      typeof terms === 'object' && terms !== null
        ? { ...terms, targetDatacenters: terms.targetDatacenters ?? datacenters }
        : terms,
    gate: { gateId: gate, elapsedMs: 0, decisionEpoch: [0, 0] },
  };
}

/** Parts written at a time: each is a record of some hundred kibibytes. */
const PARTS_AT_ONCE = knob('gatePagesKeptAtOnce', 4);

export async function accept(
  node: GateNode,
  submission: Submission,
  client: string,
): Promise<SubmissionAnswer> {
  const { jobId, digest, terms } = submission;
  const known = readGateJob(node, jobId);
  if (known !== undefined) return found(known, digest);
  const unknown = terms.targetDatacenters?.find((name) => !node.datacenters.includes(name));
  if (unknown !== undefined) {
    const detail = `${unknown} is not a datacenter of this gate`;
    return { ...refused(jobId, 'invalid'), field: 'targetDatacenters', detail };
  }
  const retryAfterMs = node.rooms.retryAfterMs(terms.targetDatacenters ?? [], node.clock.now());
  if (retryAfterMs !== undefined) {
    node.counters.add('job_submissions_shed_total', { bound: 'datacenters' });
    const detail = 'No datacenter of it takes more jobs now; submit it again later.';
    return { ...refused(jobId, 'overloaded'), detail, retryAfterMs };
  }
  try {
    return await open(node, submission, client);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown;
    const raced = thrown.code === 'ACTOR_EXISTS' ? readGateJob(node, jobId) : undefined;
    if (raced !== undefined) return found(raced, digest);
    if (thrown.retryable) return { ...refused(jobId, 'overloaded'), detail: thrown.message };
    throw thrown;
  }
}

async function open(
  node: GateNode,
  submission: Submission,
  client: string,
): Promise<SubmissionAnswer> {
  const { runtime, gate, config, clock } = node;
  const { jobId, digest, terms, workflows } = submission;
  const parts = await submissionParts(clock, workflows);
  // A job that finds no room is sent for as long as it has time.
  const keepMs = terms.timeoutMs + 2 * config.gateDispatchLimitMs;
  const keep = ({ page, workflows: entries }: (typeof parts)[number]) => {
    const address = submissionPartAddress(jobId, digest, page) as `submission-page/${string}`;
    return runtime.spawn(address, { input: { workflows: entries, keepMs }, ifAbsent: true });
  };
  await inPortions(clock, parts, { max: PARTS_AT_ONCE.value, weigh: () => 1 }, (some) =>
    Promise.all(some.map(keep)),
  );
  const input: GateJobSubmission = {
    jobId,
    gateId: gate,
    client,
    gateBoot: runtime.fence,
    terms,
    targetDatacenters: [...new Set(terms.targetDatacenters)],
    digest,
    rules: gateRules(config, terms),
    workflowsTotal: workflows.length,
    pages: parts.length,
  };
  await runtime.spawn(gateJobAddress(jobId, gate) as `gate-job/${string}`, { input });
  return accepted(jobId, true, 'submitted');
}

function found(known: GateJobContext, digest: string): SubmissionAnswer {
  const { jobId } = known;
  if (known.digest !== digest) return refused(jobId, 'conflict');
  return accepted(jobId, false, statusOf(known));
}

function accepted(
  jobId: string,
  created: boolean,
  status: SubmissionAnswer['status'],
): SubmissionAnswer {
  return { jobId, accepted: true, created, status, reason: null };
}

export function refused(
  jobId: string,
  reason: NonNullable<SubmissionAnswer['reason']>,
): SubmissionAnswer {
  return { jobId, accepted: false, created: false, status: null, reason };
}
