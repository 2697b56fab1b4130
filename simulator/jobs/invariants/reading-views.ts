/**
 * Jobs, workflows and workers as people have to be shown them, worked out from records a second time.
 *
 * It shares nothing with the views of the product. Figures that go on with time are ranges, because
 * nobody but the node knows when between two moments it looked.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import { creditOf, overallDeadline } from './reading-deadlines.ts';
import * as gate from './reading-gate.ts';
import type { Version } from './reading-versions.ts';
import { workflowsIn } from './reading-workflows.ts';

/** When it was looked, by the clock of the node. */
export interface Moments {
  readonly from: number;
  readonly to: number;
}

export class Range {
  readonly min: number;
  readonly max: number;

  constructor(one: number, other: number) {
    this.min = Math.min(one, other);
    this.max = Math.max(one, other);
  }

  has(value: unknown): boolean {
    return typeof value === 'number' && value >= this.min && value <= this.max;
  }

  toJSON(): string {
    return this.min === this.max ? `${this.min}` : `${this.min} to ${this.max}`;
  }
}

export type Expected = Readonly<Record<string, unknown>>;

/** How long ago something was, never below zero. */
export const age = (at: number, { from, to }: Moments): Range =>
  new Range(Math.max(0, from - at), Math.max(0, to - at));

const left = (until: number, { from, to }: Moments): Range =>
  new Range(Math.max(0, until - from), Math.max(0, until - to));

const until = (endedAt: number | null, moments: Moments): Moments =>
  endedAt === null ? moments : { from: endedAt, to: endedAt };

export function jobOfDatacenter(context: JobContext, moments: Moments): Expected {
  const { endedAt, baseAt, lastProgressAt, shadows, table } = context;
  const { jobId, status, reason, localReason, gateReason, enforce, timeoutMs, seq } = context;
  const { ids, standing } = workflowsIn(table);
  const [shadow] = shadows;
  const end = until(endedAt, moments);
  return {
    ...{ jobId, status, reason, localReason, gateReason, enforce, timeoutMs, seq },
    authority: context.gateId === null ? 'localAuthority' : 'gateCoordinated',
    elapsedMs: age(baseAt, end),
    extensionsMs: creditOf(context),
    dueInMs: endedAt === null ? left(overallDeadline(context), moments) : null,
    sinceProgressMs: age(lastProgressAt, end),
    queued: /[ap]/.test(standing) && !/[dr]/.test(standing),
    leader: context.managerId,
    leaderFence: context.leaderFence,
    shadow: shadow === undefined ? null : { reason: shadow.reason, atMs: shadow.at - baseAt },
    workflowsTotal: ids.length,
    workflowsCompleted: standing.replace(/[^s]/g, '').length,
    workflowsFailed: standing.replace(/[^f]/g, '').length,
  };
}

export function statusAtGate({
  outcome,
  isRebuilt,
  decision,
  datacenters,
}: gate.GateJobContext): string {
  if (outcome !== null) return outcome.status;
  const isTaken = Object.values(datacenters).some(gate.isTarget);
  return isTaken || isRebuilt || decision !== null ? 'running' : 'submitted';
}

export function jobOfGate(context: gate.GateJobContext, moments: Moments): Expected {
  const { jobId, gateId, outcome, decision, terms, submittedAt, shadowed } = context;
  const records = Object.values(context.datacenters);
  const took = records.filter(gate.isTarget);
  const alive = records.filter(gate.isUnderWay);
  const greatest = (figures: readonly number[]): number => Math.max(0, ...figures);
  const progressAt = greatest(took.map(({ lastProgressAt }) => lastProgressAt));
  const end = until(outcome?.at ?? null, moments);
  const status = statusAtGate(context);
  return {
    ...{ jobId, status, timeoutMs: terms.timeoutMs, authority: 'gateCoordinated' },
    reason: outcome?.reason ?? null,
    localReason: null,
    gateReason: decision?.kind === 'timeout' ? decision.reason : null,
    enforce: terms.enforce ?? true,
    elapsedMs: age(submittedAt, end),
    extensionsMs: greatest((outcome === null ? alive : took).map((one) => one.extensionsMs)),
    dueInMs: outcome === null ? left(gate.overallDeadline(context), moments) : null,
    sinceProgressMs: age(progressAt === 0 ? submittedAt : progressAt, end),
    queued: alive.length > 0 && !alive.some(({ queued }) => !queued),
    leader: gateId,
    leaderFence: Math.max(1, context.gateBoot),
    shadow: shadowed && { reason: shadowed.reason, atMs: shadowed.at - submittedAt },
    seq: status === 'submitted' ? 1 : status === 'running' ? 2 : 3,
    workflowsTotal: context.workflowsTotal,
    workflowsCompleted: greatest(took.map(({ workflowsCompleted }) => workflowsCompleted)),
    workflowsFailed: greatest(took.map(({ workflowsFailed }) => workflowsFailed)),
  };
}

/** What people are told of the states of AD-33. */
const STATUS_OF_STATE: Readonly<Record<string, string>> = {
  PENDING: 'pending',
  DISPATCHED: 'pending',
  FAILED_READY_FOR_RETRY: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  AGGREGATED: 'aggregated',
  FAILED: 'failed',
  FAILED_FOR_GOOD: 'failed',
  FAILED_CANCELING_DEPENDENTS: 'failed',
  CANCELLING: 'cancelled',
  CANCELLED: 'cancelled',
};

/** The same of the letters of a job's table, for workflows that are not there. */
const STATUS_OF_LETTER: Readonly<Record<string, string>> = {
  r: 'running',
  s: 'completed',
  f: 'failed',
  q: 'cancelled',
  c: 'cancelled',
};

/** The outermost state. */
export const stateOf = ({ value }: Version): string =>
  typeof value === 'string' ? value : String(Object.keys(value as object)[0]);

/** An attempt of it is with a worker. */
export const isOut = (version: Version): boolean =>
  ['DISPATCHED', 'RUNNING'].includes(stateOf(version));

/** `isCut`: its result did not fit into the answer. */
export function workflowView(
  workflow: Version<WorkflowContext> | undefined,
  { table }: JobContext,
  workflowId: string,
  isCut: boolean,
): Expected {
  if (workflow === undefined) {
    const { ids, standing } = workflowsIn(table);
    const letter = standing[ids.indexOf(workflowId)]?.toLowerCase() ?? '';
    const nothing = { workerId: null, result: null, error: null };
    const status = STATUS_OF_LETTER[letter] ?? 'pending';
    return { workflowId, status, attempts: 0, truncated: false, ...nothing };
  }
  const { dispatched, lastWorkerId, result, truncated, error } = workflow.context;
  return {
    workflowId,
    status: STATUS_OF_STATE[stateOf(workflow)],
    attempts: dispatched,
    workerId: lastWorkerId,
    result: isCut ? null : result,
    truncated: truncated || (isCut && result !== null),
    error,
  };
}

/** What is shown otherwise than expected, in words; nothing when all is as it should be. */
function differences(shown: object, expected: Expected): readonly string[] {
  const found: string[] = [];
  for (const [field, should] of Object.entries(expected)) {
    const is = (shown as Record<string, unknown>)[field];
    const isSame =
      should instanceof Range ? should.has(is) : JSON.stringify(is) === JSON.stringify(should);
    if (!isSame) found.push(`${field} is ${JSON.stringify(is)} and not ${JSON.stringify(should)}`);
  }
  return found;
}

/** What is wrong with what is shown, by the record that it is nearest to; undefined when one explains all. */
export function wrongIn(shown: object, possible: readonly Expected[]): string | undefined {
  let nearest: readonly string[] = ['there is nothing of the kind'];
  for (const [index, expected] of possible.entries()) {
    const found = differences(shown, expected);
    if (found.length === 0) return undefined;
    if (index === 0 || found.length < nearest.length) nearest = found;
  }
  return nearest.join(', ');
}
