/**
 * Steps of a worker's health: for each event whom it concerns, and what they are told.
 * The statechart is in worker-health.ts.
 */

import { knob } from '../../../runtime/base/knob.ts';
import {
  jobAddress,
  operationIdOf,
  operationParts,
  workerAddress,
  workerPoolAddress,
  workflowAddress,
  workflowIdOf,
} from '../addresses.ts';
import type { LogEvent } from '../log-events.ts';
import type {
  AttemptEnded,
  AttemptLost,
  AttemptPlaced,
  AttemptProgressed,
  AttemptRunning,
  RegistrationTold,
  WorkerChanged,
  WorkerLost,
} from '../messages/local.ts';
import type {
  AnnounceAnswered,
  HeartbeatAcked,
  HeartbeatReceived,
  LeaderAnnounced,
  RegisterAnswered,
} from '../messages/worker.ts';
import type { Saying, Step } from '../step.ts';
import type { WorkerState } from '../words.ts';
import {
  emptied,
  heard,
  recovered,
  registered,
  type WorkerHealthContext,
  withOperation,
} from './context.ts';
import { ended, rebased, standingOf } from './grants.ts';

type Context = WorkerHealthContext;
type HealthStep = Step<Context>;
type Taken<TEvent> = TEvent & { readonly at: number };

/** Attempts in one page of an announcement. */
const PAGE_MAX = knob('announcedAttemptsPerPage', 500);

const workflowOf = ({ datacenter }: Context, operationId: string): string => {
  const { jobId, attemptId } = operationParts(operationId);
  return workflowAddress(jobId, workflowIdOf(attemptId), datacenter);
};

const toWorker = <TEvent extends { readonly type: string }>(
  { workerId, bootEpoch }: Pick<Context, 'workerId' | 'bootEpoch'>,
  event: TEvent,
): Saying => ({ to: workerAddress(workerId, bootEpoch), event, isHint: true });

export const note = (
  { datacenter, workerId }: Context,
  event: LogEvent['event'],
  at: number,
  fields: object = {},
): LogEvent => ({ event, at, datacenter, workerId, ...fields });

/** The pool places nothing on a worker that is suspect, or was not heard by this leader. */
export function tellPool(context: Context, state: WorkerState = standingOf(context)): Saying {
  const { datacenter, workerId, registration, heard: isHeard, term } = context;
  const event: WorkerChanged = {
    type: 'worker.changed',
    workerId,
    registration,
    state,
    heard: isHeard,
    term,
  };
  return { to: workerPoolAddress(datacenter), event };
}

/** It registered: newly, which ends the registration before, or once more. */
export function takeRegistration(context: Context, event: Taken<RegistrationTold>): HealthStep {
  const next = registered(context, event, event.at);
  const isNew = event.registration !== context.registration;
  const { workerId, term } = { ...context, ...next };
  const answer: RegisterAnswered = {
    type: 'register.answered',
    workerId,
    bootEpoch: event.bootEpoch,
    accepted: true,
    reason: null,
    term,
    deadlineInMs: Math.max(0, (next.deadline ?? context.deadline) - event.at),
    stopAttempts: event.attempts.filter((id) => isNew || !context.operations.has(id)),
  };
  const { says, notes } = isNew ? loss(context, 'replaced', event.at) : { says: [], notes: [] };
  const fields = { registration: event.registration, bootEpoch: event.bootEpoch };
  return {
    next,
    says: [...says, toWorker({ workerId, bootEpoch: event.bootEpoch }, answer)],
    notes: isNew ? [...notes, note(context, 'worker.registered', event.at, fields)] : notes,
  };
}

/** Everybody who has to do with this registration hears that it is gone. */
function loss(
  context: Context,
  cause: WorkerLost['cause'],
  at: number,
): { readonly says: readonly Saying[]; readonly notes: readonly LogEvent[] } {
  const { workerId, registration, datacenter, operations, creditedJobs } = context;
  if (registration === 0) return { says: [], notes: [] };
  const event: WorkerLost = { type: 'worker.lost', workerId, registration, cause };
  const concerned = [
    workerPoolAddress(datacenter),
    ...Array.from(operations.keys(), (id) => workflowOf(context, id)),
    ...creditedJobs.map((jobId) => jobAddress(jobId, datacenter)),
  ];
  return {
    says: concerned.map((to) => ({ to, event })),
    notes: Array.from(operations.keys(), (operationId) =>
      note(context, 'worker.attemptLost', at, { operationId, cause }),
    ),
  };
}

export function evict(context: Context, at: number, reason: 'silent' | 'denials'): HealthStep {
  const { says, notes } = loss(context, 'evicted', at);
  const { registration } = context;
  const evicted = note(context, 'worker.evicted', at, { registration, reason });
  return { next: emptied(), says, notes: [evicted, ...notes] };
}

/** Only a worker of this registration counts; an earlier life of it is somebody else. */
export function takeHeartbeat(context: Context, event: Taken<HeartbeatReceived>): HealthStep {
  const { risen, missing, unknown, ...taken } = heard(context, event, event.at);
  const told = { ...taken.next, ...raised(context, event.term) };
  const next = missing.length === 0 ? told : { ...told, ...rebased({ ...context, ...told }) };
  const after = { ...context, ...next };
  const { workerId, heard: wasHeard } = context;
  const { term } = after;
  const acked: HeartbeatAcked = {
    type: 'heartbeat.acked',
    workerId,
    term,
    heartbeatSeq: event.heartbeatSeq,
    registerAgain: false,
    stopAttempts: unknown,
  };
  return {
    next,
    says: [
      ...risen.map(([id, report]) => ({
        to: workflowOf(context, id),
        event: {
          type: 'attempt.progressed',
          attemptId: report.attemptId,
          progress: report.progress,
          completedItems: report.completedItems,
          totalItems: report.totalItems,
          sinceProgressMs: report.sinceProgressMs,
        } satisfies AttemptProgressed,
        isHint: true,
      })),
      ...missing.map((id) => attemptLost(context, id)),
      ...(wasHeard ? [] : [tellPool(after)]),
      ...(event.term < term ? announce(after) : []),
      toWorker(context, acked),
    ],
    notes: [
      ...raisedLogEvents(context, after, event.at),
      ...missing.map((operationId) =>
        note(context, 'worker.attemptLost', event.at, { operationId, cause: 'missing' }),
      ),
    ],
  };
}

function attemptLost(context: Context, operationId: string): Saying {
  const { attemptId } = operationParts(operationId);
  const event: AttemptLost = { type: 'attempt.lost', attemptId };
  return { to: workflowOf(context, operationId), event };
}

/** A worker that is not known under the life it speaks for has to register again. */
export function askToRegister(context: Context, event: Taken<HeartbeatReceived>): HealthStep {
  const { workerId, term } = context;
  const acked: HeartbeatAcked = {
    type: 'heartbeat.acked',
    workerId,
    term,
    heartbeatSeq: event.heartbeatSeq,
    registerAgain: true,
    stopAttempts: event.attempts.map(({ jobId, attemptId }) => operationIdOf(jobId, attemptId)),
  };
  return { says: [toWorker({ workerId, bootEpoch: event.bootEpoch }, acked)] };
}

export function recover(context: Context, at: number): HealthStep {
  return { next: recovered(context, at), notes: [note(context, 'worker.recovered', at)] };
}

/** The new leader gives every worker its deadline again, keeps what it knows, and says who it is. */
export function takeOver(context: Context, fence: number, at: number): HealthStep {
  const deadline = Math.max(context.deadline, at + context.rules.baseDeadlineMs);
  const term = Math.max(fence, context.term);
  const next = { term, heard: false, listed: null, deadline, lastHeardAt: at };
  return { next, says: announce({ ...context, ...next }) };
}

/** The worker has heard the announcement: that is as good as a heartbeat for any actor that waits for one. */
export function takeAnswer(context: Context, { term, at }: Taken<AnnounceAnswered>): HealthStep {
  const next = { heard: true, lastHeardAt: at, ...raised(context, term) };
  const after = { ...context, ...next };
  return {
    next,
    says: [
      ...(context.heard ? [] : [tellPool(after)]),
      ...(after.term > context.term ? announce(after) : []),
    ],
    notes: raisedLogEvents(context, after, at),
  };
}

/**
 * A worker that knows of a later term than ours has heard it from a leader that our store does not
 * know of: the lease is ours, or we would not be asked, so the term goes above what it was told.
 */
const raised = (context: Context, told: number): { readonly term: number } => ({
  term: told > context.term ? told + 1 : context.term,
});

const raisedLogEvents = (before: Context, after: Context, at: number): LogEvent[] =>
  after.term === before.term
    ? []
    : [note(after, 'leader.fenceRaised', at, { told: after.term - 1, term: after.term })];

function announce(context: Context): readonly Saying[] {
  const ids = [...context.operations.keys()];
  const pages = Math.max(1, Math.ceil(ids.length / PAGE_MAX.value));
  return Array.from({ length: pages }, (_, index) => {
    const attempts = ids.slice(index * PAGE_MAX.value, (index + 1) * PAGE_MAX.value);
    const event: LeaderAnnounced = {
      type: 'leader.announced',
      term: context.term,
      attempts,
      page: index + 1,
      pages,
    };
    return toWorker(context, event);
  });
}

/** An attempt was given to the worker; one of a registration that is gone is lost already. */
export function takeAttempt(
  context: Context,
  event: Taken<AttemptPlaced>,
  isLost: boolean,
): HealthStep {
  const { workerId } = context;
  const { jobId, attemptId, registration } = event;
  const id = operationIdOf(jobId, attemptId);
  if (!isLost && registration === context.registration)
    return { next: withOperation(context, id, {}) };
  const lost: WorkerLost = { type: 'worker.lost', workerId, registration, cause: 'evicted' };
  return { says: [{ to: workflowOf(context, id), event: lost }] };
}

/** The worker has taken it. */
export function beginAttempt(context: Context, event: Taken<AttemptRunning>): HealthStep {
  const { at: lastHeardAt, heartbeatSeq } = event;
  const id = operationIdOf(event.jobId, event.attemptId);
  const operation = context.operations.get(id);
  if (operation === undefined) return { next: { lastHeardAt } };
  const begun = withOperation(context, id, { ...operation, heartbeatSeq });
  return { next: { lastHeardAt, ...begun } };
}

/** An attempt that was given up without a word of the worker is no sign of life. */
export function endAttempt(context: Context, event: Taken<AttemptEnded>): HealthStep {
  const id = operationIdOf(event.jobId, event.attemptId);
  const lastHeardAt = event.heard === true ? event.at : context.lastHeardAt;
  if (!context.operations.has(id)) return { next: { lastHeardAt } };
  return { next: ended(context, id, lastHeardAt) };
}
