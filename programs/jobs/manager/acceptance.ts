/**
 * Acceptance of a submission into a datacenter: the job, then all its workflows, then its start.
 *
 * Guarantees: an acknowledged job is on disk with all its workflows; the same submission again
 * finds the same job, at whatever point the one before was interrupted; another body under the
 * same id is refused and touches nothing.
 */

import { jobAddress, workflowAddress } from '../../../machines/jobs/addresses.ts';
import type { JobContext, JobInput } from '../../../machines/jobs/job.ts';
import type { SubmissionAnswer, WorkflowSpec } from '../../../machines/jobs/messages/client.ts';
import type { WorkflowInput } from '../../../machines/jobs/workflow.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import { knob } from '../../../runtime/base/knob.ts';
import { jobRules, workflowRules } from '../configuration.ts';
import { inPortions, type PortionSize } from '../jobs-service/portions.ts';
import { inSlices, type Steps } from '../jobs-service/slices.ts';
import type { Submission } from '../submission.ts';
import { type Overload, overloadError } from './backlog.ts';
import { type ManagerNode, readClock, readJob } from './node.ts';

/** Spawns that a job makes itself: a dozen, fewer with large payloads. They pass through its record. */
const SPAWNED_WITH_JOB = knob('workflowBytesBornWithJob', 32 * 1024);
/** Spawns handed to the engine at a time: some hundred, fewer with large payloads. */
const SPAWNED_AT_ONCE = knob('workflowBytesBornAtOnce', 512 * 1024);
const weigh = ({ payload }: WorkflowSpec): number => 2_048 + payload.length;
const spawnedAtOnce = (): PortionSize<WorkflowSpec> => ({ max: SPAWNED_AT_ONCE.value, weigh });

export class Acceptances {
  readonly #node: ManagerNode;
  /** The last one under way of each job. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(node: ManagerNode) {
    this.#node = node;
  }

  isUnderWay(jobId: string): boolean {
    return this.#underWay.has(jobId);
  }

  /** One after the other for the same job: each sees what the one before has done. */
  async accept(submission: Submission, client: string): Promise<SubmissionAnswer> {
    const { jobId } = submission;
    const before = this.#underWay.get(jobId) ?? Promise.resolve();
    const answer = before.then(() => accept(this.#node, submission, client));
    const settled = answer.catch(() => {});
    this.#underWay.set(jobId, settled);
    try {
      return await answer;
    } finally {
      if (this.#underWay.get(jobId) === settled) this.#underWay.delete(jobId);
    }
  }
}

/**
 * What was taken before is answered as before; only then it is asked whether there is room. From that
 * question on the job counts as one that waits, so that others at the same time are asked with it.
 */
async function accept(
  node: ManagerNode,
  submission: Submission,
  client: string,
): Promise<SubmissionAnswer> {
  const { jobId, digest, terms, workflows } = submission;
  const known = readJob(node, jobId);
  const isNew = isUntaken(known);
  if (!isNew && known?.digest !== digest) return refused(jobId, 'conflict');
  const { backlog } = node;
  const overload = isNew ? backlog.overload(client, terms.timeoutMs) : undefined;
  if (overload !== undefined) return shed(node, jobId, overload);
  if (isNew || known?.status === 'submitted') backlog.add(jobId, client, workflows.length);
  try {
    const answer = await take(node, submission, isNew);
    if (!answer.accepted) backlog.drop(jobId);
    return answer;
  } catch (thrown) {
    backlog.drop(jobId);
    throw thrown;
  }
}

/** There is no such job, or none that anybody was told of. */
export const isUntaken = (known: JobContext | undefined): boolean =>
  known === undefined || known.isAbandoned === true;

async function take(
  node: ManagerNode,
  submission: Submission,
  isNew: boolean,
): Promise<SubmissionAnswer> {
  const { jobId, digest } = submission;
  const { runtime } = node;
  const address = jobAddress(jobId, node.datacenter);
  const job = runtime.actor(address);
  try {
    if (isNew) {
      const dependsOn = await inSlices(node.clock, placesOf(submission.workflows));
      const input = jobInput(node, submission, dependsOn);
      await runtime.spawn(address, { input, ifAbsent: true });
    }
    const spawned = job.getSnapshot();
    if (spawned.context.digest !== digest) return refused(jobId, 'conflict');
    // Its workflows were there once; those that have ended since are not spawned again.
    if (!spawned.matches('assembling')) return accepted(node, spawned.context, isNew);
    await spawnWorkflows(node, submission, spawned.context.startedAt);
    await job.send({ type: 'job.assembled' });
    const { context } = job.getSnapshot();
    if (context.isAbandoned !== true) return accepted(node, context, isNew);
    return await takeBack(node, submission);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown;
    if (thrown.code === 'ACTOR_ENDED') return takeBack(node, submission);
    if (thrown.retryable) return { ...refused(jobId, 'overloaded'), detail: thrown.message };
    throw thrown;
  }
}

/** The job was given up while its workflows were spawned: they would wait for ever. */
async function takeBack(
  { clock, datacenter, runtime }: ManagerNode,
  { jobId, workflows }: Submission,
): Promise<SubmissionAnswer> {
  const cancel = { type: 'workflow.cancel', cause: 'cancelled' } as const;
  const take = ({ id }: WorkflowSpec) =>
    runtime.actor(workflowAddress(jobId, id, datacenter)).send(cancel);
  await inPortions(clock, workflows, spawnedAtOnce(), (some) => Promise.allSettled(some.map(take)));
  return { ...refused(jobId, 'overloaded'), detail: 'It took too long to take the job in.' };
}

async function spawnWorkflows(
  node: ManagerNode,
  { jobId, workflows }: Submission,
  acceptedAt: number,
): Promise<void> {
  const { clock, datacenter, runtime } = node;
  const rules = workflowRules(node.config);
  let next = 0;
  const spawn = ({ id, handler, payload, cores }: WorkflowSpec): Promise<unknown> => {
    const input: WorkflowInput = {
      jobId,
      workflowId: id,
      datacenter,
      index: next++,
      handler,
      payload,
      cores,
      acceptedAt,
      rules,
    };
    const address = workflowAddress(jobId, id, datacenter);
    return runtime.spawn(address, { input, ifAbsent: true });
  };
  await inPortions(clock, workflows, spawnedAtOnce(), (some) => Promise.all(some.map(spawn)));
}

/** Dependencies of each workflow, by places in the list. */
function* placesOf(workflows: Submission['workflows']): Steps<JobInput['dependsOn']> {
  const place = new Map(workflows.map(({ id }, index) => [id, index]));
  const places: Record<string, number[]> = {};
  for (const [index, { dependsOn }] of workflows.entries()) {
    if (dependsOn.length > 0) places[index] = dependsOn.map((id) => place.get(id) as number);
    yield 1 + dependsOn.length;
  }
  return places;
}

function jobInput(
  node: ManagerNode,
  { jobId, terms, gate, digest, workflows }: Submission,
  dependsOn: JobInput['dependsOn'],
): JobInput {
  const { config, datacenter, manager, peerUrl } = node;
  return {
    jobId,
    datacenter,
    managerId: manager,
    managerUrl: peerUrl(),
    term: node.runtime.fence,
    gateId: gate?.gateId ?? null,
    digest,
    timeoutMs: terms.timeoutMs,
    stuckThresholdMs: terms.stuckThresholdMs ?? config.stuckThresholdMs,
    failFast: terms.failFast ?? config.failFast,
    enforce: terms.enforce ?? true,
    targetDatacenters: terms.targetDatacenters ?? [datacenter],
    ...(terms.datacenterTimeoutQuorum !== undefined && {
      datacenterTimeoutQuorum: terms.datacenterTimeoutQuorum,
    }),
    decisionEpoch: gate?.decisionEpoch ?? [0, 0],
    ...(gate?.beginsBefore !== undefined && { beginsBefore: gate.beginsBefore }),
    rules: jobRules(config, terms),
    ids: workflows.map(({ id }) => id),
    dependsOn,
    ...lanesOfAll(workflows),
    ...spawnsOf(node, workflows),
  };
}

/** Spawns of a small submission; nothing where its workflows are spawned one by one. */
function spawnsOf(
  { config }: ManagerNode,
  workflows: readonly WorkflowSpec[],
): Pick<JobInput, 'births'> {
  let weight = 0;
  for (const workflow of workflows) {
    weight += weigh(workflow);
    if (weight > SPAWNED_WITH_JOB.value) return {};
  }
  const specs = workflows.map(({ handler, payload, cores }) => ({ handler, payload, cores }));
  return { births: { rules: workflowRules(config), workflows: specs } };
}

/** Lanes of workflows that want equal cores for the same handler; nothing where all do. */
function lanesOfAll(workflows: readonly WorkflowSpec[]): Pick<JobInput, 'lanes'> {
  const numbers = new Map<string, number>();
  const lanes = workflows.map(({ handler, cores }) => {
    const lane = `${handler} ${cores}`;
    const number = numbers.get(lane) ?? numbers.size;
    numbers.set(lane, number);
    return number;
  });
  return numbers.size > 1 ? { lanes } : {};
}

/** Not taken, because there is too much: counted, and told in the log now and then. */
export function shed(node: ManagerNode, jobId: string, overload: Overload): SubmissionAnswer {
  const { bound, retryAfterMs } = overload;
  node.counters.add('job_submissions_shed_total', { bound });
  node.shedding.add(overload);
  const { message } = overloadError(overload);
  return { ...refused(jobId, 'overloaded'), detail: message, retryAfterMs };
}

export function refused(
  jobId: string,
  reason: NonNullable<SubmissionAnswer['reason']>,
): SubmissionAnswer {
  return { jobId, accepted: false, created: false, status: null, reason };
}

function accepted(node: ManagerNode, context: JobContext, created: boolean): SubmissionAnswer {
  const { jobId, status, leaderFence } = context;
  return {
    jobId,
    accepted: true,
    created,
    status,
    reason: null,
    leaderFence,
    managerId: node.manager,
    clock: readClock(node),
  };
}
