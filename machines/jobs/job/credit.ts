/**
 * Credit of a job: more time that workers were granted, and that a person adds.
 */

import { knob } from '../../../runtime/base/knob.ts';
import { gateJobAddress, workerHealthAddress } from '../addresses.ts';
import type { ExtendAnswer, ExtendRefusal } from '../messages/client.ts';
import { TIMEOUT_MS_MAX } from '../messages/fields.ts';
import type { ExtendAnswered, ExtendRequested } from '../messages/gate.ts';
import type { CreditAnswered, ExtensionCredited } from '../messages/local.ts';
import { answering, type Saying } from '../step.ts';
import {
  extensionsMs,
  type JobContext,
  type JobStep,
  note,
  operatorCreditMs,
  progressed,
} from './context.ts';
import { report } from './gate.ts';

type Taken<TEvent> = TEvent & { readonly at: number };

/** Grants remembered, so that one that comes again counts once. */
const CREDIT_IDS_MAX = knob('creditIdsMax', 64);
const OPERATOR_CREDITS_MAX = knob('operatorCreditsMax', 1_000);

/** A grant counts once, and only while nothing is decided. `isVoid`: reported, ending or ended. */
export function credit(
  context: JobContext,
  event: Taken<ExtensionCredited>,
  isVoid: boolean,
): JobStep {
  const { at, creditId, workerId, grantMs, operationId } = event;
  const answer: CreditAnswered = {
    type: 'credit.answered',
    creditId,
    jobId: context.jobId,
    answer: isVoid ? 'void' : 'applied',
  };
  const says: Saying[] = [{ to: workerHealthAddress(workerId, context.datacenter), event: answer }];
  if (isVoid || context.creditIds.includes(creditId)) return { says };
  const next = {
    creditByWorker: {
      ...context.creditByWorker,
      [workerId]: (context.creditByWorker[workerId] ?? 0) + grantMs,
    },
    creditIds: [...context.creditIds, creditId].slice(-CREDIT_IDS_MAX.value),
    lastExtensionAt: at,
    ...progressed(context, at),
    seenAt: at,
  };
  return announced(context, next, at, says, [
    note(context, 'extension.credited', at, { workerId, grantMs, operationId }),
  ]);
}

/** A changed credit moves the deadline here and at the gate. */
function announced(
  context: JobContext,
  next: Partial<JobContext>,
  at: number,
  says: readonly Saying[],
  notes: NonNullable<JobStep['notes']>,
): JobStep {
  const after = { ...context, ...next };
  if (extensionsMs(after) === extensionsMs(context)) return { next, says, notes };
  const told = report(after, at, true);
  return { next: { ...next, ...told.next }, says: [...says, ...(told.says ?? [])], notes };
}

/** An operator adds time; `refusal` says why it comes too late. */
export function extend(
  context: JobContext,
  event: Taken<ExtendRequested>,
  refused: 'unknown' | 'alreadyReported' | 'alreadyFinal' | null,
): JobStep {
  const { at, requestId, byMs, by } = event;
  const isRepeat = context.operatorCredits.some((entry) => entry.requestId === requestId);
  if (isRepeat) return { says: told(context, event, null) };
  const refusal = refused ?? invalidity(context, byMs);
  if (refusal !== null) {
    const fields = { requestId, by, byMs, refusal };
    return {
      says: told(context, event, refusal),
      notes: [note(context, 'job.extensionRefused', at, fields)],
    };
  }
  const next = {
    operatorCredits: [...context.operatorCredits, { requestId, by, byMs, at }],
    lastExtensionAt: at,
    ...progressed(context, at),
    seenAt: at,
  };
  const says = told({ ...context, ...next }, event, null);
  return announced(context, next, at, says, [
    note(context, 'job.extended', at, { requestId, by, byMs }),
  ]);
}

function invalidity(context: JobContext, byMs: number): 'invalid' | null {
  if (!Number.isSafeInteger(byMs) || byMs < 1) return 'invalid';
  const isTooMuch = operatorCreditMs(context) + byMs > TIMEOUT_MS_MAX;
  return isTooMuch || context.operatorCredits.length >= OPERATOR_CREDITS_MAX.value
    ? 'invalid'
    : null;
}

function told(
  context: JobContext,
  { requestId, replyTo, gateId }: ExtendRequested,
  reason: Exclude<ExtendRefusal, 'notLeader' | 'notAllowed'> | null,
): readonly Saying[] {
  const { jobId, datacenter } = context;
  const accepted = reason === null;
  const sum = extensionsMs(context);
  const answer: ExtendAnswer = { accepted, reason, extensionsMs: sum };
  if (gateId === undefined) return answering(replyTo, answer);
  const event: ExtendAnswered = {
    type: 'extend.answered',
    requestId,
    jobId,
    datacenter,
    accepted,
    reason,
    extensionsMs: sum,
  };
  return [{ to: gateJobAddress(jobId, gateId), event }];
}
