/**
 * Extensions of a worker: deciding a request, and holding back the answer until it is credited.
 */

import { jobAddress } from '../addresses.ts';
import type { CreditAnswered, ExtensionCredited, MessageRefused } from '../messages/local.ts';
import type { ExtensionAnswer, ExtensionRequested } from '../messages/worker.ts';
import { answering, type Saying, type Step } from '../step.ts';
import type { WorkerHealthContext } from './context.ts';
import { creditSettled, denialOf, denied, granted, remembered } from './grants.ts';
import { note } from './steps.ts';

type Context = WorkerHealthContext;
type HealthStep = Step<Context>;
type Taken<TEvent> = TEvent & { readonly at: number };

/** Same request, same answer; otherwise granted or denied, and a grant is credited before it is told. */
export function decide(
  context: Context,
  event: Taken<ExtensionRequested>,
  isTrusted: boolean,
): HealthStep {
  const { requestId, replyTo = '', operationId } = event;
  const known = context.answers.find((answer) => answer.requestId === requestId);
  if (known !== undefined) {
    const { operationId: _, ...answer } = known;
    return { says: answering(replyTo, answer) };
  }
  const waiting = context.pending.find(({ answer }) => answer.requestId === requestId);
  if (waiting !== undefined) {
    const pending = context.pending.map((one) => (one === waiting ? { ...one, replyTo } : one));
    return { next: { pending } };
  }
  const asked = { operationId, requestId, reason: event.reason, ...estimateOf(event) };
  const denial = denialOf(context, event, event.at, isTrusted);
  if (denial !== undefined) {
    const { next, answer } = denied(context, event, event.at, denial);
    const fields = { ...asked, denialReason: denial };
    return {
      next: { ...next, answers: remembered(context, answer, operationId) },
      says: answering(replyTo, answer),
      notes: [note(context, 'extension.denied', event.at, fields)],
    };
  }
  const { next, answer, jobs } = granted(context, event, event.at);
  const pending = [...context.pending, { answer, replyTo, waitingFor: jobs, operationId }];
  const { grants } = next.operations?.[operationId] ?? {};
  const fields = { ...asked, extensionMs: answer.extensionMs, grants };
  return {
    next: { ...next, pending },
    says: jobs.map((jobId) => credit(context, jobId, answer, operationId)),
    notes: [note(context, 'extension.granted', event.at, fields)],
  };
}

function estimateOf({ estimatedRemainingMs, currentProgress }: ExtensionRequested): object {
  return { estimatedRemainingMs, progress: currentProgress };
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
 * A job has the credit on disk, or is gone: once all have, the worker is answered. Whoever did not
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
  const jobId = to.slice(to.indexOf('/') + 1, to.lastIndexOf('@'));
  return settleCredit(context, { creditId, jobId, answer: 'void' });
}
