/** Notes of a gate about the messages and decisions of one job, for logs and counters. */

import type { DatacenterMessage } from '../datacenter/context.ts';
import { isOutcome } from '../datacenter/steps.ts';
import type { LogEvent } from '../log-events.ts';
import { verdictOn } from './admission.ts';
import { type GateJobContext, recordOf } from './context.ts';

/** Notes on a message that is worth a line, made before it is taken. */
export function logEventsOn(
  context: GateJobContext,
  message: DatacenterMessage,
  at: number,
): readonly LogEvent[] {
  const { type, jobId, datacenter, leaderFence } = message;
  const about = { at, jobId, datacenter, leaderFence };
  const verdict = verdictOn(context.datacenters, message);
  if (verdict === 'staleFence' || verdict === 'notTarget')
    return [{ event: 'timeout.rejected', ...about, rejection: verdict, message: type }];
  const known = recordOf(context.datacenters, datacenter);
  const notes: LogEvent[] = [];
  if (type === 'progress.reported')
    notes.push({ event: 'report.received', ...about, kind: 'progress' });
  if (type === 'timeout.reported')
    notes.push({ event: 'report.received', ...about, kind: 'timeout', reason: message.reason });
  if (known !== undefined && known.askedAt !== null)
    notes.push({ event: 'datacenter.heard', ...about, silentMs: at - known.lastSeenAt });
  if (isLateEnd(context, message)) notes.push({ event: 'event.late', ...about, kind: 'final' });
  return notes;
}

/** A first end of a datacenter after the outcome was published. */
export function isLateEnd(context: GateJobContext, message: DatacenterMessage): boolean {
  if (context.outcome === null || !('status' in message) || !isOutcome(message.status))
    return false;
  const verdict = verdictOn(context.datacenters, message);
  return verdict === 'taken' && recordOf(context.datacenters, message.datacenter)?.final === null;
}

/** Summary of the job that is in every line about a decision. */
export function logEventOf(
  event: LogEvent['event'],
  { jobId, submittedAt, terms, decision, outcome }: GateJobContext,
  at: number,
): LogEvent {
  const decided =
    decision === null
      ? {}
      : {
          decisionEpoch: decision.epoch,
          ...(decision.kind === 'timeout' && { reason: decision.reason }),
        };
  const ended =
    outcome === null
      ? {}
      : { status: outcome.status, reason: outcome.reason, unconfirmed: outcome.unconfirmed };
  const elapsedMs = at - submittedAt;
  return { event, at, jobId, elapsedMs, timeoutMs: terms.timeoutMs, ...decided, ...ended };
}
