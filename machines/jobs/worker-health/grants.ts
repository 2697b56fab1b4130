/**
 * The sums of AD-26: who is granted an extension, for how long, and what it does to the deadline.
 *
 * Grant n of one attempt is half of the one before, and needs more progress than there was at it.
 */

import { knob } from '../../../runtime/knob.ts';
import { operationParts } from '../addresses.ts';
import type { DenialReason, ExtensionAnswer, ExtensionRequested } from '../messages/worker.ts';
import type { HealthRules } from '../rules.ts';
import { withEntry, without } from '../tables.ts';
import type { WorkerState } from '../words.ts';
import {
  type GivenAnswer,
  isFurther,
  type Operation,
  type PendingAnswer,
  type WorkerHealthContext,
} from './context.ts';

/** Answers kept for requests of operations that are over. */
const ANSWERS_MAX = knob('grantAnswersMax', 64);

/** The state that follows the latest grant among live operations. */
export function standingOf({ operations, rules, grantCount }: WorkerHealthContext): WorkerState {
  if (grantCount === 0) return 'healthy';
  let latest: Operation | undefined;
  for (const operation of Object.values(operations))
    if ((operation.grantOrder ?? 0) > (latest?.grantOrder ?? 0)) latest = operation;
  if (latest === undefined) return 'healthy';
  return (latest.grants ?? 0) < rules.maxExtensions ? 'extended' : 'exhausted';
}

/** Why a request is denied, or nothing when it is granted. */
export function denialOf(
  { operations, rules, deadline }: WorkerHealthContext,
  request: ExtensionRequested,
  at: number,
  isTrusted: boolean,
): DenialReason | undefined {
  const { currentProgress, completedItems } = request;
  if (typeof currentProgress !== 'number' || !(currentProgress >= 0 && currentProgress <= 1))
    return 'malformed';
  if (!isTrusted || at > deadline) return 'suspect';
  const operation = operations[request.operationId];
  if (operation === undefined) return 'unknownOperation';
  const grants = operation.grants ?? 0;
  if (grants >= rules.maxExtensions) return 'maxReached';
  const hasRisen = isFurther(
    { progress: currentProgress, completedItems },
    operation.grantedProgress ?? -1,
    operation.grantedItems,
  );
  return grants === 0 || hasRisen ? undefined : 'noProgress';
}

/** AD-26: half as much each time, and never less than the least. */
function grantMs({ baseDeadlineMs, minGrantMs }: HealthRules, grants: number): number {
  return Math.max(minGrantMs, Math.floor(baseDeadlineMs / 2 ** grants));
}

export function granted(
  context: WorkerHealthContext,
  request: ExtensionRequested,
  at: number,
): {
  readonly next: Partial<WorkerHealthContext>;
  readonly answer: ExtensionAnswer;
  readonly jobs: readonly string[];
} {
  const { operations, rules, deadline, grantCount, creditedJobs } = context;
  const { operationId, requestId, completedItems } = request;
  // Items of an earlier grant say nothing about the last one.
  const { grantedItems: _, ...operation } = operations[operationId] as Operation;
  const grants = operation.grants ?? 0;
  const extensionMs = grantMs(rules, grants);
  const remainingExtensions = rules.maxExtensions - grants - 1;
  const exhaustionWarning =
    operation.warned !== true && remainingExtensions <= rules.extensionWarningRemaining;
  const jobs = runningJobs(operations, operationParts(operationId).jobId);
  const next = {
    operations: withEntry(operations, operationId, {
      ...operation,
      grants: grants + 1,
      grantedProgress: request.currentProgress as number,
      ...(completedItems !== undefined && { grantedItems: completedItems }),
      grantOrder: grantCount + 1,
      ...(exhaustionWarning && { warned: true }),
    }),
    grantCount: grantCount + 1,
    denials: 0,
    deadline: deadline + extensionMs,
    creditedJobs: [...new Set([...creditedJobs, ...jobs])],
  };
  const deadlineInMs = Math.max(0, next.deadline - at);
  const answer = {
    requestId,
    granted: true,
    extensionMs,
    deadlineInMs,
    remainingExtensions,
    denialReason: null,
    exhaustionWarning,
  };
  return { next, answer, jobs };
}

export function denied(
  context: WorkerHealthContext,
  request: ExtensionRequested,
  at: number,
  denialReason: DenialReason,
): { readonly next: Partial<WorkerHealthContext>; readonly answer: ExtensionAnswer } {
  const { operations, rules, deadline, denials } = context;
  const isCounted = denialReason === 'maxReached' || denialReason === 'noProgress';
  const grants = operations[request.operationId]?.grants ?? 0;
  const answer = {
    requestId: request.requestId,
    granted: false,
    extensionMs: 0,
    deadlineInMs: Math.max(0, deadline - at),
    remainingExtensions: Math.max(0, rules.maxExtensions - grants),
    denialReason,
    exhaustionWarning: false,
  };
  return { next: { denials: isCounted ? denials + 1 : denials }, answer };
}

/** The jobs with an attempt RUNNING on the worker, and the one that asks. */
function runningJobs(
  operations: Readonly<Record<string, Operation>>,
  asking: string,
): readonly string[] {
  const jobs = new Set([asking]);
  for (const [id, { heartbeatSeq }] of Object.entries(operations))
    if (heartbeatSeq !== undefined) jobs.add(operationParts(id).jobId);
  return [...jobs].sort();
}

/** The operation is over; when no other one holds grants, the deadline is judged by heartbeats again. */
export function ended(
  context: WorkerHealthContext,
  operationId: string,
  at: number,
): Partial<WorkerHealthContext> {
  if (context.operations[operationId] === undefined) return {};
  const operations = without(context.operations, operationId);
  const isHeld = Object.values(operations).some(({ grants = 0 }) => grants > 0);
  if (isHeld) return { operations };
  return { operations, deadline: at + context.rules.baseDeadlineMs };
}

/** One job has the credit on disk, or does not want it. */
export function creditSettled(
  pending: readonly PendingAnswer[],
  creditId: string,
  jobId: string,
): { readonly pending: readonly PendingAnswer[]; readonly ready: PendingAnswer | undefined } {
  const now = pending.map((one) =>
    one.answer.requestId === creditId
      ? { ...one, waitingFor: one.waitingFor.filter((job) => job !== jobId) }
      : one,
  );
  const ready = now.find(({ waitingFor }) => waitingFor.length === 0);
  return { pending: now.filter((one) => one !== ready), ready };
}

/**
 * A run has one request at a time, so of each operation the last answer is enough, and none of them may
 * be pushed out by requests of others: a request that came again would count twice.
 */
export function remembered(
  { answers, operations }: Pick<WorkerHealthContext, 'answers' | 'operations'>,
  answer: ExtensionAnswer,
  operationId: string | undefined,
): readonly GivenAnswer[] {
  const others = answers.filter((one) => one.operationId !== operationId);
  const isOver = ({ operationId: id }: GivenAnswer) =>
    id === undefined || operations[id] === undefined;
  const outdated = new Set(others.filter(isOver).slice(0, -ANSWERS_MAX.value));
  const kept = others.filter((one) => !outdated.has(one));
  return [...kept, { ...answer, ...(operationId !== undefined && { operationId }) }];
}
