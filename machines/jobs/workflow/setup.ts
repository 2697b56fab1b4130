/**
 * Setup of the workflow's statechart: its actions, guards and delays, by name. The chart is in workflow.ts.
 */

import { assign, sendTo, setup } from 'xstate';
import { knob } from '../../../runtime/base/knob.ts';
import { hint, type Spawned, to } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import { jobAddress, workerAddress, workerHealthAddress, workerPoolAddress } from '../addresses.ts';
import type { LogEvent } from '../log-events.ts';
import type {
  AttemptEnded,
  AttemptPlaced,
  AttemptRunning,
  FailureCause,
  SlotReleased,
  SlotRequested,
  SlotWithdrawn,
  WorkflowChanged,
  WorkflowProgressed,
} from '../messages/local.ts';
import type { CancelOrdered, DispatchRequested } from '../messages/worker.ts';
import type { WorkflowState } from '../words.ts';
import {
  attemptOf,
  dispatchPauseMs,
  hasRisen,
  isCurrent,
  isOurLoss,
  mayRetry,
  nextRun,
  requestOf,
  type WorkflowContext,
  type WorkflowEvent,
  type WorkflowInput,
  withFailure,
  withProgress,
  withResult,
  withSlot,
} from './context.ts';

type Args = { readonly context: WorkflowContext; readonly event: WorkflowEvent };

/** Sends of a cancel before it is given up. */
const CANCELS_MAX = knob('workflowCancelsMax', 3);

/** Messages by which a worker says that an attempt is over. */
const LAST_WORDS: ReadonlySet<WorkflowEvent['type']> = new Set<WorkflowEvent['type']>([
  'dispatch.answered',
  'result.received',
  'attempt.stopped',
]);

const health = ({ context }: Args) =>
  to(workerHealthAddress(context.slot?.workerId ?? '', context.datacenter));
const worker = ({ context: { slot } }: Args) =>
  hint(workerAddress(slot?.workerId ?? '', slot?.bootEpoch ?? 0));
const pool = ({ context }: Args) => to(workerPoolAddress(context.datacenter));
const attempt = ({ context }: Args) => ({
  jobId: context.jobId,
  attemptId: attemptOf(context),
});

const { given, keep } = givenEvents<WorkflowContext, WorkflowEvent>();

export const workflowSetup = setup({
  types: {
    context: {} as WorkflowContext,
    events: {} as WorkflowEvent,
    input: {} as Spawned<WorkflowInput>,
  },
  actions: {
    note: (_, _params: LogEvent) => {},
    tellJob: sendTo(
      ({ context }) => to(jobAddress(context.jobId, context.datacenter)),
      (
        { context },
        { state, final }: { state: WorkflowState; final: boolean },
      ): WorkflowChanged => ({
        type: 'workflow.changed',
        workflowId: context.workflowId,
        state,
        run: context.run,
        final,
        workerId: context.slot?.workerId ?? null,
        cause: context.cause,
        lateEvent: context.lateEvent,
      }),
    ),
    tellProgress: sendTo(
      ({ context }) => hint(jobAddress(context.jobId, context.datacenter)),
      ({ context, event }): WorkflowProgressed => ({
        type: 'workflow.progressed',
        workflowId: context.workflowId,
        sinceProgressMs: event.at - context.lastProgressAt,
      }),
    ),
    requestSlot: sendTo(
      pool,
      ({ context }): SlotRequested => ({ type: 'slot.requested', ...requestOf(context) }),
    ),
    withdrawRequest: sendTo(
      pool,
      (args): SlotWithdrawn => ({ type: 'slot.withdrawn', ...attempt(args) }),
    ),
    releaseSlot: sendTo(
      pool,
      ({ context: { slot } }): SlotReleased => ({
        type: 'slot.released',
        workerId: slot?.workerId ?? '',
        registration: slot?.registration ?? 0,
        cores: slot?.cores ?? 0,
      }),
    ),
    /** A slot that came when none was needed. */
    giveBack: sendTo(
      pool,
      given('slot.granted', ({ event }): SlotReleased => {
        const { workerId, registration, cores } = event;
        return { type: 'slot.released', workerId, registration, cores };
      }),
    ),
    tellPlaced: sendTo(
      health,
      (args): AttemptPlaced => ({
        type: 'attempt.placed',
        ...attempt(args),
        registration: args.context.slot?.registration ?? 0,
      }),
    ),
    tellRunning: sendTo(
      health,
      (args): AttemptRunning => ({
        type: 'attempt.running',
        ...attempt(args),
        registration: args.context.slot?.registration ?? 0,
        heartbeatSeq: args.context.heartbeatSeq,
      }),
    ),
    tellEnded: sendTo(
      health,
      (args): AttemptEnded => ({
        type: 'attempt.ended',
        ...attempt(args),
        registration: args.context.slot?.registration ?? 0,
        heard: LAST_WORDS.has(args.event.type),
      }),
    ),
    sendDispatch: sendTo(
      worker,
      (args): DispatchRequested => ({
        type: 'dispatch.requested',
        ...attempt(args),
        datacenter: args.context.datacenter,
        term: args.context.term,
        handler: args.context.handler,
        payload: args.context.payload,
        cores: args.context.cores,
      }),
    ),
    sendCancel: sendTo(
      worker,
      (args): CancelOrdered => ({
        type: 'cancel.ordered',
        ...attempt(args),
        datacenter: args.context.datacenter,
        term: args.context.term,
        cause: args.context.cancelCause ?? 'cancelled',
      }),
    ),
    /** An attempt that the worker took when it had been given up. */
    stopTheOther: sendTo(
      given('dispatch.answered', ({ event }) =>
        hint(workerAddress(event.workerId, event.bootEpoch)),
      ),
      given(
        'dispatch.answered',
        ({ context: { jobId, datacenter, term }, event }): CancelOrdered => {
          const { attemptId } = event;
          const cause = 'staleAttempt';
          return { type: 'cancel.ordered', jobId, attemptId, datacenter, term, cause };
        },
      ),
    ),
    countCancel: assign({ cancelsSent: ({ context }) => context.cancelsSent + 1 }),
    takeSlot: keep('slot.granted', ({ context, event }) => withSlot(context, event)),
    forgetSlot: assign({ slot: null }),
    learnTerm: keep(['dispatch.answered', 'cancel.answered'], ({ event }) => ({
      term: event.term,
    })),
    learnHeartbeat: keep('dispatch.answered', ({ event }) => ({
      heartbeatSeq: event.heartbeatSeq,
    })),
    forgetDispatchFailures: assign({ dispatchFailures: 0 }),
    keepProgress: keep(['progress.received', 'attempt.progressed'], ({ context, event }) =>
      withProgress(context, event, event.at),
    ),
    keepResult: keep('result.received', ({ event }) => withResult(event)),
    countFailure: assign(({ context }, cause: FailureCause) => withFailure(context, cause)),
    beginNextRun: assign(({ context }) => nextRun(context)),
    keepCancelCause: keep('workflow.cancel', ({ event }) => ({ cancelCause: event.cause })),
    keepLateEvent: assign((_, lateEvent: string) => ({ lateEvent })),
    markUnconfirmed: assign({ unconfirmed: true }),
    stampProgress: assign({ lastProgressAt: ({ event }) => event.at }),
  },
  guards: {
    /** It was told at its spawn that it depends on nothing. */
    isReadyAtOnce: ({ event }) =>
      (event as { readonly input?: WorkflowInput }).input?.isReady === true,
    isCurrent: ({ context, event }) => 'attemptId' in event && isCurrent(context, event),
    mayRetry: ({ context }) => mayRetry(context),
    isOurLoss: ({ context, event }) => event.type === 'worker.lost' && isOurLoss(context, event),
    hasRisen: ({ context, event }) =>
      (event.type === 'progress.received' || event.type === 'attempt.progressed') &&
      isCurrent(context, event) &&
      hasRisen(context, event),
    isAccepted: ({ context, event }) =>
      event.type === 'dispatch.answered' && isCurrent(context, event) && event.accepted,
    isTakenInVain: ({ context, event }) =>
      event.type === 'dispatch.answered' && !isCurrent(context, event) && event.accepted,
    isRejected: ({ context, event }) =>
      event.type === 'dispatch.answered' && isCurrent(context, event) && !event.accepted,
    /** The worker has heard of a later leader: it is us, or our message would not have left. */
    isStaleTerm: ({ context, event }) =>
      (event.type === 'dispatch.answered' || event.type === 'cancel.answered') &&
      isCurrent(context, event) &&
      !event.accepted &&
      event.term > context.term,
    isCancelAccepted: ({ context, event }) =>
      event.type === 'cancel.answered' && isCurrent(context, event) && event.accepted,
    hasSucceeded: ({ context }) => context.hasSucceeded,
    hasFailed: ({ context }) => context.hasFailed,
    hasNoSlot: ({ context }) => context.slot === null,
    needsPause: ({ context }) => context.cause === 'dispatch',
    hasCancelsLeft: ({ context }) => context.cancelsSent < CANCELS_MAX.value,
  },
  delays: {
    firstRepeat: 1_000,
    secondRepeat: 2_000,
    answerLimit: ({ context }) => context.rules.dispatchAckTimeoutMs,
    dispatchPause: ({ context }) => dispatchPauseMs(context),
    cancelAnswerLimit: 5_000,
    cancelPause: ({ context }) => 1_000 * 2 ** (context.cancelsSent - 1),
    confirmLimit: ({ context }) => context.rules.cancelGraceMs + 5_000,
  },
});
