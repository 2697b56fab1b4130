/**
 * Extensions of a worker: deciding a request, and holding back the answer until it is credited.
 */

import { idOf, jobAddress } from '../addresses.ts';
import type { CreditAnswered, ExtensionCredited, MessageRefused } from '../messages/local.ts';
import type { DenialReason, ExtensionAnswer, ExtensionRequested } from '../messages/worker.ts';
import { answering, type Saying, type Step } from '../step.ts';
import type { PendingAnswer, WorkerHealthContext } from './context.ts';
import { creditSettled, decidedUpTo, denied, granted, remembered } from './grants.ts';
import { note } from './steps.ts';

type Context = WorkerHealthContext;
type HealthStep = Step<Context>;
type Taken<TEvent> = TEvent & { readonly at: number };

/** A request that was answered gets the same answer. */
export function answerAgain({ answers }: Context, event: Taken<ExtensionRequested>): HealthStep {
  const { requestId, replyTo } = event;
  const known = answers.find((answer) => answer.requestId === requestId);
  if (known === undefined) return {};
  const { operationId: _, ...answer } = known;
  return { says: answering(replyTo, answer) };
}

/** A request whose credit is on its way is answered where it came from last. */
export function keepAsker({ pending }: Context, event: Taken<ExtensionRequested>): HealthStep {
  const { requestId, replyTo = '' } = event;
  const asking = (one: PendingAnswer): PendingAnswer =>
    one.answer.requestId === requestId ? { ...one, replyTo } : one;
  return { next: { pending: pending.map(asking) } };
}

/** A request that its operation has asked after: nothing is decided, and nobody is answered. */
export const dropOutdated = (context: Context, event: Taken<ExtensionRequested>): HealthStep => ({
  notes: [note(context, 'event.late', event.at, { ...askedIn(event), kind: event.type })],
});

export function deny(
  context: Context,
  event: Taken<ExtensionRequested>,
  denialReason: DenialReason,
): HealthStep {
  const answer = denied(context, event, event.at, denialReason);
  const fields = { ...askedIn(event), denialReason };
  return {
    next: {
      ...decidedUpTo(context, event),
      answers: remembered(context, answer, event.operationId),
    },
    says: answering(event.replyTo, answer),
    notes: [note(context, 'extension.denied', event.at, fields)],
  };
}

/** A grant is credited to every job concerned before it is told. */
export function grant(context: Context, event: Taken<ExtensionRequested>): HealthStep {
  const { replyTo = '', operationId, at } = event;
  const { next, answer, jobs } = granted(context, event, at);
  const pending = [...context.pending, { answer, replyTo, waitingFor: jobs, operationId }];
  const { grants } = next.operations?.get(operationId) ?? {};
  const fields = { ...askedIn(event), extensionMs: answer.extensionMs, grants };
  return {
    next: { ...next, pending },
    says: jobs.map((jobId) => credit(context, jobId, answer, operationId)),
    notes: [note(context, 'extension.granted', at, fields)],
  };
}

function askedIn(event: ExtensionRequested): object {
  const { operationId, requestId, reason, estimatedRemainingMs, currentProgress } = event;
  return { operationId, requestId, reason, estimatedRemainingMs, progress: currentProgress };
}

function credit(
  { workerId, registration, datacenter }: Context,
  jobId: string,
  { requestId, extensionMs }: ExtensionAnswer,
  operationId: string,
): Saying {
  const event: ExtensionCredited = {
    type: 'extension.credited',
    creditId: requestId,
    workerId,
    registration,
    grantMs: extensionMs,
    operationId,
  };
  return { to: jobAddress(jobId, datacenter), event };
}

/**
 * A job has the credit on disk, or is gone: once all have, the worker is answered. A job that did not
 * want the credit is decided or over, and need not hear that the worker is lost.
 */
export function settleCredit(
  context: Context,
  { creditId, jobId, answer }: Pick<CreditAnswered, 'creditId' | 'jobId' | 'answer'>,
): HealthStep {
  const { pending, ready } = creditSettled(context.pending, creditId, jobId);
  const creditedJobs =
    answer === 'applied'
      ? context.creditedJobs
      : context.creditedJobs.filter((credited) => credited !== jobId);
  if (ready === undefined) return { next: { pending, creditedJobs } };
  return {
    next: { pending, creditedJobs, answers: remembered(context, ready.answer, ready.operationId) },
    says: answering(ready.replyTo, ready.answer),
  };
}

/** A job that has ended takes no credit; whatever else was refused concerned somebody who is gone. */
export function takeRefusal(context: Context, { to, event }: MessageRefused): HealthStep {
  if (event.type !== 'extension.credited') return {};
  const { creditId } = event as unknown as ExtensionCredited;
  const jobId = idOf(to);
  return settleCredit(context, { creditId, jobId, answer: 'void' });
}
