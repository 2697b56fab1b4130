/**
 * What the statechart of a job can do, ask and wait for, by name. The chart is in job.ts.
 */

import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import type { Born } from '../../../runtime/machine.ts';
import type { NoteParams } from '../notes.ts';
import { carryOut } from '../step.ts';
import type { LocalReason, Outcome } from '../words.ts';
import {
  fallbackDue,
  isLocal,
  isStuckWatched,
  type JobContext,
  type JobEvent,
  type JobInput,
  overallDue,
  stuckDue,
} from './context.ts';
import * as credit from './credit.ts';
import * as decisions from './decisions.ts';
import * as ends from './ends.ts';
import * as gate from './gate.ts';
import * as steps from './steps.ts';
import { hasFailure, isOver } from './workflows.ts';

/** How long a submission may take to have all its workflows. */
const ASSEMBLY_LIMIT_MS = 60_000;

type Due = { readonly reason: LocalReason };
type Args = { readonly context: JobContext; readonly event: JobEvent };

/** The gate may count the datacenter as one without progress. */
const stallDue = ({ lastProgressAt, rules }: JobContext): number =>
  lastProgressAt + rules.allStuckThresholdMs;

/** Both due in one step: the time budget comes first. */
const reasonOf = ({ context, event }: Args, reason: LocalReason): LocalReason =>
  event.at > overallDue(context) ? 'overall' : reason;

export const jobSetup = setup({
  types: {
    context: {} as JobContext,
    events: {} as JobEvent,
    input: {} as Born<JobInput>,
  },
  actions: {
    note: (_, _params: NoteParams) => {},
    begin: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, steps.begin(context, event.at));
    }),
    release: enqueueActions(({ context, enqueue }) => {
      carryOut(enqueue, steps.release(context));
    }),
    giveUp: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, ends.giveUp(context, event.at));
    }),
    /** A job that is not accepted yet has nothing to say to anybody. */
    learnLeader: assign(({ context, event }) => {
      assertEvent(event, 'leadership.acquired');
      return { term: event.fence, managerId: event.node ?? context.managerId };
    }),
    holdDecision: assign(({ event }) => {
      assertEvent(event, ['timeout.declared', 'cancel.requested']);
      const { at: _, ...heldDecision } = event;
      return { heldDecision };
    }),
    takeHeld: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, decisions.takeHeld(context, event.at));
    }),
    answerUnaccepted: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, ['cancel.requested', 'job.extend']);
      const step =
        event.type === 'job.extend'
          ? credit.extend(context, event, 'unknown')
          : decisions.answerUnaccepted(event);
      carryOut(enqueue, step);
    }),
    abandon: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, ends.abandon(context, event.at));
    }),
    takeChange: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'workflow.changed');
      carryOut(enqueue, steps.takeChange(context, event));
    }),
    keepProgress: assign(({ context, event }) => {
      assertEvent(event, 'workflow.progressed');
      return steps.takeProgress(context, event);
    }),
    loseWorker: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'worker.lost');
      carryOut(enqueue, steps.loseWorker(context, event));
    }),
    credit: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'extension.credited');
      const isDecided = context.timeoutReportedAt !== null || context.endedAt !== null;
      carryOut(enqueue, credit.credit(context, event, isDecided));
    }),
    extend: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'job.extend');
      const { endedAt, timeoutReportedAt } = context;
      const isReported = timeoutReportedAt !== null ? 'alreadyReported' : null;
      carryOut(
        enqueue,
        credit.extend(context, event, endedAt !== null ? 'alreadyFinal' : isReported),
      );
    }),
    takeOver: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'leadership.acquired');
      carryOut(enqueue, steps.takeOver(context, event));
    }),
    takeOverEnded: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'leadership.acquired');
      carryOut(enqueue, steps.takeOverEnded(context, event));
    }),
    timeOut: enqueueActions(({ context, event, enqueue }, { reason }: Due) => {
      carryOut(enqueue, ends.timeOut(context, reasonOf({ context, event }, reason), event.at));
    }),
    reportTimeout: enqueueActions(({ context, event, enqueue }, { reason }: Due) => {
      carryOut(
        enqueue,
        ends.reportTimeout(context, reasonOf({ context, event }, reason), event.at),
      );
    }),
    shadow: enqueueActions(({ context, event, enqueue }, { reason }: Due) => {
      carryOut(enqueue, ends.shadow(context, reasonOf({ context, event }, reason), event.at));
    }),
    fallBack: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, ends.fallBack(context, event.at));
    }),
    report: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, gate.report(context, event.at));
    }),
    answerStatus: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, {
        next: gate.heardGate(context, event.at, null),
        says: gate.correction(context, event.at, 'requested', null),
      });
    }),
    obey: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'timeout.declared');
      carryOut(enqueue, decisions.obey(context, event));
    }),
    answerDecision: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, ['timeout.declared', 'cancel.requested']);
      carryOut(enqueue, decisions.answerDecision(context, event));
    }),
    answerNotLeader: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, ['timeout.declared', 'cancel.requested']);
      carryOut(enqueue, decisions.answerNotLeader(context, event));
    }),
    cancel: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'cancel.requested');
      carryOut(enqueue, decisions.cancel(context, event));
    }),
    cancelLate: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'cancel.requested');
      carryOut(enqueue, decisions.cancelLate(context, event));
    }),
    conclude: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, ends.conclude(context, event.at));
    }),
    windUp: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, ends.windUp(context, event.at));
    }),
    takeAck: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'ack.received');
      carryOut(enqueue, decisions.takeAck(context, event));
    }),
    takeRefusal: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'message.refused');
      carryOut(enqueue, steps.takeRefusal(context, event));
    }),
  },
  guards: {
    isLocal: ({ context }) => isLocal(context),
    /** Its submission was not long on its way, by the clock of the leader that its gate has in mind. */
    isInTime: ({ context: { beginsBefore, term }, event }) =>
      beginsBefore === undefined || (beginsBefore.term === term && event.at < beginsBefore.at),
    /** The gate has taken a report: it knows that the job is here, and waits for its end. */
    isCountedOn: ({ event }) => event.type === 'ack.received' && event.accepted,
    isGateJobOver: ({ context, event }) =>
      event.type === 'message.refused' && gate.isGateJobOver(context, event),
    isEndedByHeld: ({ context }) =>
      context.heldDecision !== undefined && gate.judge(context, context.heldDecision) === 'obey',
    isOfGate: ({ event }) => event.type === 'cancel.requested' && event.decisionEpoch !== undefined,
    isReported: ({ context }) => context.timeoutReportedAt !== null,
    isShadow: ({ context }) => !context.enforce,
    isShadowed: ({ context }) => context.shadows.length > 0,
    isStuckWatched: ({ context }) => isStuckWatched(context),
    isNotStuckWatched: ({ context }) => !isStuckWatched(context),
    isRunning: ({ context }) => context.status === 'running',
    isObeyed: ({ context, event }) =>
      event.type === 'timeout.declared' && gate.judge(context, event) === 'obey',
    /** From the desk always, from the gate by the rules of its decisions. */
    isCancelObeyed: ({ context, event }) =>
      event.type === 'cancel.requested' &&
      (event.decisionEpoch === undefined || gate.judge(context, event) === 'obey'),
    /** From the gate, and not to be obeyed. */
    isRefused: ({ context, event }) =>
      (event.type === 'timeout.declared' || event.type === 'cancel.requested') &&
      event.decisionEpoch !== undefined &&
      gate.judge(context, event) !== 'obey',
    isNotStalled: ({ context, event }) => event.at <= stallDue(context),
    hasFailedFast: ({ context }) => context.failFast && hasFailure(context.table),
    isOver: ({ context }) => isOver(context.table),
    isDone: ({ context }, { status }: { status: Outcome }) =>
      context.status === status && context.isFinalKnown && isOver(context.table),
  },
  delays: {
    assemblyLimit: ASSEMBLY_LIMIT_MS,
    overallLimit: ({ context, event }) => Math.max(0, overallDue(context) + 1 - event.at),
    stuckLimit: ({ context, event }) => Math.max(0, stuckDue(context) + 1 - event.at),
    fallbackLimit: ({ context, event }) => Math.max(0, fallbackDue(context) + 1 - event.at),
    reportInterval: ({ context }) => context.rules.reportIntervalMs,
    /** When the gate's own threshold for lack of progress is passed. */
    stallLimit: ({ context, event }) => Math.max(0, stallDue(context) + 1 - event.at),
  },
});
