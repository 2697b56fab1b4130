/**
 * Setup of the worker's statechart: its actions, guards and delays, by name. The chart is in worker.ts.
 */

import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { hint, type Spawned } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import {
  operationIdOf,
  workerHealthAddress,
  workerPoolAddress,
  workflowAddress,
  workflowIdOf,
} from '../addresses.ts';
import type { RunParams } from '../attempt.ts';
import type { LogEvent } from '../log-events.ts';
import type { KeyRange } from '../messages/fields.ts';
import type {
  AnnounceAnswered,
  AttemptStopped,
  CancelAnswered,
  DispatchAnswered,
  DispatchRefusal,
  RegisterAnswered,
} from '../messages/worker.ts';
import { isPast, judgeDispatch, remembered, unlisted, withPage, withPast } from './attempts.ts';
import {
  heartbeatOf,
  registrationOf,
  stops,
  type WorkerContext,
  type WorkerEvent,
  type WorkerInput,
  withAttempt,
} from './context.ts';

type Args = { readonly context: WorkerContext };
type Named = { readonly jobId: string; readonly attemptId: string };

/** After the first, second, … try that nobody answered; the last one for good. */
const REGISTER_PAUSES_MS = [1_000, 2_000, 4_000, 5_000] as const;
/** Time that attempts have after their grace to get their last report out. */
const CLOSING_MARGIN_MS = 5_000;

const health = ({ context: { workerId, datacenter } }: Args) =>
  hint(workerHealthAddress(workerId, datacenter));
const workflow = ({ context: { datacenter } }: Args, { jobId, attemptId }: Named) =>
  hint(workflowAddress(jobId, workflowIdOf(attemptId), datacenter));
/** An action of this setup within another one of it, which its type does not know yet. */
const droppingReports = (operations: readonly string[]) =>
  ({ type: 'dropReports', params: operations }) as never;

/** Answer to a dispatch; without a refusal it was taken. */
export const answerTo = (
  { workerId, bootEpoch, term, heartbeatSeq }: WorkerContext,
  { jobId, attemptId }: Named,
  refusal: DispatchRefusal | null = null,
): DispatchAnswered => ({
  type: 'dispatch.answered',
  ...{ workerId, bootEpoch, jobId, attemptId, term, heartbeatSeq },
  accepted: refusal === null,
  reason: refusal,
});

const { keep, doing } = givenEvents<WorkerContext, WorkerEvent>();

export const workerSetup = setup({
  types: {
    context: {} as WorkerContext,
    events: {} as WorkerEvent,
    input: {} as Spawned<WorkerInput>,
    output: {} as { readonly refusal: string | null },
  },
  actions: {
    // Done by the process.
    /** Begins the handler of an attempt; `attempt.ended` says that nothing more will come of it. */
    runHandler: (_, _params: RunParams) => {},
    note: (_, _params: LogEvent) => {},
    composeRegistration: (_) => {},
    composeHeartbeat: (_, _range: KeyRange) => {},
    /** For extensions: how long the datacenter waits for this worker. */
    learnDeadline: (_, _params: { deadlineInMs: number }) => {},
    /** Answers that an attempt was taken, unless its end is told first: a workflow needs only one of them. */
    answerUnlessOver: (_, _params: DispatchAnswered) => {},
    /** Nobody wants to hear how these ended. */
    dropReports: (_, _operations: readonly string[]) => {},
    /** Until it is taken. */
    confirmStopped: (_, _params: AttemptStopped) => {},
    // Done by the machine.
    learnTerm: assign(({ context }, { term }: { term: number }) => ({
      term: Math.max(context.term, term),
    })),
    countRegistration: assign({ registerTries: ({ context }) => context.registerTries + 1 }),
    forgetRegistrations: assign({ registerTries: 0 }),
    sendRegistration: doing('registration.composed', ({ context, event, enqueue }) => {
      for (const registered of registrationOf(context, event.progress))
        enqueue.sendTo(hint(workerPoolAddress(context.datacenter)), registered);
    }),
    sendHeartbeat: doing('heartbeat.composed', ({ context, event, enqueue }) => {
      const { progress, range } = event;
      for (const beat of heartbeatOf(context, progress, range))
        enqueue.sendTo(health({ context }), beat);
      enqueue.assign({ heartbeatSeq: context.heartbeatSeq + 1, listsFrom: range.to ?? '' });
    }),
    takeAttempt: keep('dispatch.requested', ({ context, event }) => {
      const { jobId, attemptId, cores, term } = event;
      const held = { cores, term, isFinished: false };
      return {
        term: Math.max(context.term, term),
        ...withAttempt(context, operationIdOf(jobId, attemptId), held),
      };
    }),
    answerDispatch: sendTo(
      workflow,
      ({ context }, asked: Named & { refusal: DispatchRefusal | null }): DispatchAnswered =>
        answerTo(context, asked, asked.refusal),
    ),
    answerCancel: sendTo(
      workflow,
      ({ context }, ordered: Named & { accepted: boolean }): CancelAnswered => ({
        type: 'cancel.answered',
        workerId: context.workerId,
        jobId: ordered.jobId,
        attemptId: ordered.attemptId,
        accepted: ordered.accepted,
        term: context.term,
      }),
    ),
    rememberUnseen: assign(({ context }, { jobId, attemptId }: Named) => ({
      unseen: remembered(context.unseen, operationIdOf(jobId, attemptId)),
    })),
    answerAnnouncement: sendTo(
      health,
      ({ context }, { accepted }: { accepted: boolean }): AnnounceAnswered => ({
        type: 'announce.answered',
        workerId: context.workerId,
        bootEpoch: context.bootEpoch,
        accepted,
        term: context.term,
      }),
    ),
    followAnnouncement: doing('leader.announced', ({ context, event, enqueue }) => {
      const announcement = withPage(context.announcement, event);
      if (announcement === context.announcement) return;
      const { isWhole } = announcement;
      enqueue.assign({ announcement: isWhole ? { ...announcement, listed: [] } : announcement });
      const dropped = isWhole ? unlisted(context.attempts, announcement) : [];
      for (const [attempt, stop] of stops(context, dropped, 'unwanted'))
        enqueue.sendTo(attempt, stop);
      if (dropped.length > 0) enqueue(droppingReports(dropped));
    }),
    /** Those that the leader does not want any more. */
    stopListed: doing(['heartbeat.acked', 'register.answered'], ({ context, event, enqueue }) => {
      if (event.term < context.term) return;
      for (const [attempt, stop] of stops(context, event.stopAttempts, 'unwanted'))
        enqueue.sendTo(attempt, stop);
      if (event.stopAttempts.length > 0) enqueue(droppingReports(event.stopAttempts));
    }),
    stopCancelled: doing('cancel.ordered', ({ context, event, enqueue }) => {
      const operationId = operationIdOf(event.jobId, event.attemptId);
      for (const [attempt, stop] of stops(context, [operationId], 'cancelled'))
        enqueue.sendTo(attempt, stop);
    }),
    dropAll: enqueueActions(({ context, enqueue }) => {
      for (const [attempt, stop] of stops(context, context.attempts.keys(), 'unwanted'))
        enqueue.sendTo(attempt, stop);
      if (context.attempts.size > 0) enqueue(droppingReports([...context.attempts.keys()]));
    }),
    leaveAll: enqueueActions(({ context, enqueue }) => {
      for (const [attempt, stop] of stops(context, context.attempts.keys(), 'leaving'))
        enqueue.sendTo(attempt, stop);
    }),
    finishAttempt: assign(({ context }, { operationId }: { operationId: string }) => {
      const held = context.attempts.get(operationId);
      if (held === undefined) return {};
      return withAttempt(context, operationId, { ...held, cores: 0, isFinished: true });
    }),
    endAttempt: assign(({ context }, { operationId }: { operationId: string }) => ({
      ...withAttempt(context, operationId, undefined),
      ...withPast(context, operationId),
    })),
    /** Closing: a worker without handlers is given nothing. */
    closeDown: assign((_, { limitMs }: { limitMs: number }) => ({
      stopLimitMs: limitMs,
      handlers: [],
    })),
    /**
     * Announces to a leader that has taken this worker that it leaves; another one is told nothing by
     * it.
     */
    announceLeaving: enqueueActions(({ context, enqueue }) => {
      if (context.term === 0 || context.refusal !== null) return;
      for (const registered of registrationOf(context, {}))
        enqueue.sendTo(hint(workerPoolAddress(context.datacenter)), registered);
    }),
    setRefusal: assign((_, { reason }: RegisterAnswered) => ({ refusal: reason ?? 'refused' })),
  },
  guards: {
    /** An answer to this process, not to one before it under the same name. */
    isWelcome: ({ context, event }) =>
      event.type === 'register.answered' && event.accepted && event.bootEpoch === context.bootEpoch,
    isTurnedAway: ({ context, event }) =>
      event.type === 'register.answered' &&
      !event.accepted &&
      event.bootEpoch === context.bootEpoch &&
      event.term >= context.term,
    isCurrent: ({ context, event }) => 'term' in event && event.term >= context.term,
    mustRegister: ({ context, event }) =>
      event.type === 'heartbeat.acked' && event.registerAgain && event.term >= context.term,
    isKept: ({ context, event }) =>
      event.type === 'heartbeat.acked' && !event.registerAgain && event.term >= context.term,
    isNew: ({ context, event }) =>
      event.type === 'dispatch.requested' && judgeDispatch(context, event) === 'new',
    /** A cancel that came before its dispatch, or without one. */
    isUnseen: ({ context, event }) => {
      if (event.type !== 'cancel.ordered' || event.term < context.term) return false;
      const operationId = operationIdOf(event.jobId, event.attemptId);
      const isHeld = context.attempts.has(operationId);
      return !isHeld && !isPast(context, operationId) && !context.unseen.includes(operationId);
    },
    holdsNothing: ({ context }) => context.attempts.size === 0,
  },
  delays: {
    registerPause: ({ context: { registerTries } }) =>
      REGISTER_PAUSES_MS[Math.min(Math.max(registerTries, 1), REGISTER_PAUSES_MS.length) - 1] ??
      5_000,
    heartbeatPause: ({ context }) => context.rules.heartbeatIntervalMs,
    // Over means later than the deadline.
    silenceLimit: ({ context }) => context.rules.managerLostMs + 1,
    orphanGrace: ({ context }) => context.rules.orphanGraceMs + 1,
    drainLimit: ({ context }) => context.stopLimitMs + 1,
    closingLimit: ({ context }) => context.rules.cancelGraceMs + CLOSING_MARGIN_MS + 1,
  },
});
