/**
 * Grants of AD-26: who is granted an extension, for how long, and what it does to the deadline.
 *
 * Grant n of one attempt is half of the one before, and needs more progress than there was at it.
 */

import { knob } from '../../../runtime/base/knob.ts';
import type { Table } from '../../../runtime/machine.ts';
import { operationParts } from '../addresses.ts';
import type { DenialReason, ExtensionAnswer, ExtensionRequested } from '../messages/worker.ts';
import type { HealthRules } from '../rules.ts';
import type { WorkerState } from '../words.ts';
import {
  type WorkerHealthContext as Context,
  type GivenAnswer,
  isFurther,
  type Operation,
  type PendingAnswer,
  withOperation,
} from './context.ts';

/** Answers kept for requests of operations that are over. */
const ANSWERS_MAX = knob('grantAnswersMax', 64);

/** The state that follows the latest grant among live operations. */
export function standingOf({ operations, grantHolders, rules }: Context): WorkerState {
  const [, latest] = grantHolders.last() ?? [];
  if (latest === undefined) return 'healthy';
  const { grants = 0 } = operations.get(latest) as Operation;
  return grants < rules.maxExtensions ? 'extended' : 'exhausted';
}

/** The request came before, and was answered. */
export const isAnswered = ({ answers }: Context, { requestId }: ExtensionRequested): boolean =>
  answers.some((answer) => answer.requestId === requestId);

/** The request came before, and its grant is being credited. */
export const isAwaited = ({ pending }: Context, { requestId }: ExtensionRequested): boolean =>
  pending.some(({ answer }) => answer.requestId === requestId);

/** The operation has asked again since and was answered: this is a late copy, for whose answer nobody waits. */
export const isOutdated = (
  { operations }: Context,
  { operationId, requestSeq = Number.POSITIVE_INFINITY }: ExtensionRequested,
): boolean => requestSeq <= (operations.get(operationId)?.requestSeq ?? 0);

export const isMalformed = ({ currentProgress: progress }: ExtensionRequested): boolean =>
  typeof progress !== 'number' || !(progress >= 0 && progress <= 1);

export const grantsLeft = ({ operations, rules }: Context, operationId: string): number =>
  rules.maxExtensions - (operations.get(operationId)?.grants ?? 0);

/** No more than at its last grant. */
export function lacksProgress({ operations }: Context, request: ExtensionRequested): boolean {
  const known = operations.get(request.operationId);
  const { grants = 0, grantedProgress = -1, grantedItems } = known ?? {};
  const { currentProgress, completedItems } = request;
  const report = { progress: currentProgress as number, completedItems };
  return grants > 0 && !isFurther(report, grantedProgress, grantedItems);
}

/** AD-26: half as much each time, and never less than the least. */
function grantMs({ baseDeadlineMs, minGrantMs }: HealthRules, grants: number): number {
  return Math.max(minGrantMs, Math.floor(baseDeadlineMs / 2 ** grants));
}

export function granted(
  context: Context,
  request: ExtensionRequested,
  at: number,
): {
  readonly next: Partial<Context>;
  readonly answer: ExtensionAnswer;
  readonly jobs: readonly string[];
} {
  const { operations, rules, deadline, grantCount, creditedJobs } = context;
  const { operationId, requestId, requestSeq, completedItems } = request;
  // Items of an earlier grant say nothing about the last one.
  const { grantedItems: _, ...operation } = operations.get(operationId) as Operation;
  const grants = operation.grants ?? 0;
  const extensionMs = grantMs(rules, grants);
  const remainingExtensions = rules.maxExtensions - grants - 1;
  const exhaustionWarning =
    operation.warned !== true && remainingExtensions <= rules.extensionWarningRemaining;
  const jobs = runningJobs(operations, operationParts(operationId).jobId);
  const next = {
    ...withOperation(context, operationId, {
      ...operation,
      ...(requestSeq !== undefined && { requestSeq }),
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

export const denied = (
  context: Context,
  { requestId, operationId }: ExtensionRequested,
  at: number,
  denialReason: DenialReason,
): ExtensionAnswer => ({
  requestId,
  granted: false,
  extensionMs: 0,
  deadlineInMs: Math.max(0, context.deadline - at),
  remainingExtensions: Math.max(0, grantsLeft(context, operationId)),
  denialReason,
  exhaustionWarning: false,
});

/** The jobs with an attempt RUNNING on the worker, and the job that asks. */
function runningJobs(operations: Table<Operation>, asking: string): readonly string[] {
  const jobs = new Set([asking]);
  for (const [id, { heartbeatSeq }] of operations)
    if (heartbeatSeq !== undefined) jobs.add(operationParts(id).jobId);
  return [...jobs].sort();
}

/** The operation is over, by the worker's own word or without it. */
export function ended(
  context: Context,
  operationId: string,
  lastHeardAt: number,
): Partial<Context> {
  const left = withOperation(context, operationId, undefined);
  return { ...left, lastHeardAt, ...rebased({ ...context, ...left, lastHeardAt }) };
}

/** Deadline once no operation holds grants any more: the last word of the worker is all that counts. */
export function rebased(context: Context): Pick<Context, 'deadline'> {
  const { grantHolders, rules, deadline, lastHeardAt } = context;
  return {
    deadline:
      grantHolders.size > 0 ? deadline : Math.min(deadline, lastHeardAt + rules.baseDeadlineMs),
  };
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
 * An operation has one request at a time, so the answer to its last one is all that anybody may still wait for.
 * It is not pushed out by requests of others, since a request that came again would be decided twice.
 */
export function remembered(
  { answers, operations }: Pick<Context, 'answers' | 'operations'>,
  answer: ExtensionAnswer,
  operationId: string | undefined,
): readonly GivenAnswer[] {
  const others = answers.filter((one) => one.operationId !== operationId);
  const isOver = ({ operationId: id }: GivenAnswer) => id === undefined || !operations.has(id);
  const outdated = new Set(others.filter(isOver).slice(0, -ANSWERS_MAX.value));
  const kept = others.filter((one) => !outdated.has(one));
  return [...kept, { ...answer, ...(operationId !== undefined && { operationId }) }];
}

/** The operation has been answered up to this request. */
export function decidedUpTo(
  context: Context,
  { operationId, requestSeq }: ExtensionRequested,
): Partial<Context> {
  const operation = context.operations.get(operationId);
  if (operation === undefined || requestSeq === undefined) return {};
  return withOperation(context, operationId, { ...operation, requestSeq });
}
