/**
 * Setup of the job's statechart: its actions, guards and delays, by name. The chart is in job.ts.
 */

import { enqueueActions, setup } from 'xstate';
import type { Spawned } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import type { LogEvent } from '../log-events.ts';
import type { CancelRequested, TimeoutDeclared } from '../messages/gate.ts';
import { carryOut, stepActions } from '../step.ts';
import type { LocalReason } from '../words.ts';
import {
  budgetDue,
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
import { spawnsOf, type WorkflowSpawns } from './workflow-spawns.ts';
import { hasFailure, hasSucceeded, isOver, isQuelled } from './workflows.ts';

/** Limit for a submission to have all its workflows. */
const ASSEMBLY_LIMIT_MS = 60_000;

type Due = { readonly reason: LocalReason };
type Args = { readonly context: JobContext; readonly event: JobEvent };
type Decision = (TimeoutDeclared | CancelRequested) & { readonly at: number };

const spawnsIn = (event: JobEvent): WorkflowSpawns | undefined =>
  event.type === 'job.assembled' ? event.births : undefined;

/** The gate may count the datacenter as one without progress. */
const stallDue = ({ lastProgressAt, rules }: JobContext): number =>
  lastProgressAt + rules.allStuckThresholdMs;

/** True for what the gate says must be so; a cancel of the jobs service has no epoch. */
const isOfGate = (event: JobEvent): event is Decision =>
  (event.type === 'timeout.declared' || event.type === 'cancel.requested') &&
  event.decisionEpoch !== undefined;

/** Guard that holds for decisions of the gate, and for nothing else. */
const ofDecision =
  (isSo: (context: JobContext, decision: Decision) => boolean) =>
  ({ context, event }: Args): boolean =>
    isOfGate(event) && isSo(context, event);

const { on, at } = stepActions<JobContext, JobEvent>();

const { keep } = givenEvents<JobContext, JobEvent>();

export const jobSetup = setup({
  types: {
    context: {} as JobContext,
    events: {} as JobEvent,
    input: {} as Spawned<JobInput>,
  },
  actions: {
    note: (_, _params: LogEvent) => {},
    /** Nothing is waited for where all its workflows came with it. */
    assemble: enqueueActions(({ context: { startedAt: at }, event, enqueue }) => {
      // The first event carries the input: what is needed for spawns alone is not in the context.
      const { births } = (event as unknown as { readonly input: JobInput }).input;
      if (births !== undefined) enqueue.raise({ type: 'job.assembled', births, at });
    }),
    begin: at(steps.begin),
    release: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, steps.release(context, spawnsIn(event)));
    }),
    /** Its workflows are there, and wait. */
    spawnWaiting: enqueueActions(({ context, event, enqueue }) => {
      carryOut(enqueue, { says: spawnsOf(context, spawnsIn(event)) });
    }),
    holdBack: at((context) => steps.holdBack(context)),
    giveUp: at(ends.giveUp),
    /** A job that is not accepted yet has nothing to say to anybody. */
    learnLeader: keep('leadership.acquired', ({ context, event }) => {
      const { fence, node, url } = event;
      return { term: fence, managerId: node ?? context.managerId, managerUrl: url };
    }),
    holdDecision: keep(['timeout.declared', 'cancel.requested'], ({ event }) => {
      const { at: _, ...heldDecision } = event;
      return { heldDecision };
    }),
    takeHeld: at(decisions.takeHeld),
    answerUnaccepted: on(['cancel.requested', 'job.extend'], (context, event) =>
      event.type === 'job.extend'
        ? credit.extend(context, event, 'unknown')
        : decisions.answerUnaccepted(event),
    ),
    abandon: at(ends.abandon),
    takeChange: on('workflow.changed', steps.takeChange),
    keepProgress: keep('workflow.progressed', ({ context, event }) =>
      steps.takeProgress(context, event),
    ),
    loseWorker: on('worker.lost', steps.loseWorker),
    credit: on('extension.credited', (context, event) => {
      const isDecided = context.timeoutReportedAt !== null || context.endedAt !== null;
      return credit.credit(context, event, isDecided);
    }),
    extend: on('job.extend', (context, event) => {
      const { endedAt, timeoutReportedAt } = context;
      const isReported = timeoutReportedAt !== null ? 'alreadyReported' : null;
      return credit.extend(context, event, endedAt !== null ? 'alreadyFinal' : isReported);
    }),
    takeOver: on('leadership.acquired', steps.takeOver),
    takeOverEnded: on('leadership.acquired', steps.takeOverEnded),
    timeOut: at((context, now, { reason }: Due) => ends.timeOut(context, reason, now)),
    reportTimeout: at((context, now, { reason }: Due) => ends.reportTimeout(context, reason, now)),
    shadow: at((context, now, { reason }: Due) => ends.shadow(context, reason, now)),
    fallBack: at(ends.fallBack),
    report: at(gate.report),
    announce: at((context, now) => gate.report(context, now, true)),
    giveBack: at((context, now) => ({ says: steps.givingBack(context, now) })),
    answerStatus: on('status.requested', (context, event) => ({
      next: gate.heardGate(context, event.at, null),
      says: gate.correction(context, event.at, 'requested', null, event.nonce),
    })),
    obey: on('timeout.declared', decisions.obey),
    refuse: on(
      ['timeout.declared', 'cancel.requested'],
      (context, event, { why }: { why: gate.Refusal }) => decisions.refuse(context, event, why),
    ),
    cancel: on('cancel.requested', decisions.cancel),
    joinCancel: on('cancel.requested', decisions.joinCancel),
    refuseCancel: on('cancel.requested', decisions.refuseCancel),
    conclude: at(ends.conclude),
    windUp: at(ends.windUp),
    answerCancelAskers: at((context) => ({
      next: { cancelAskers: [] },
      says: ends.cancelled(context),
    })),
    tellFinal: enqueueActions(({ context, event, enqueue }) => {
      if (!context.isFinalKnown) carryOut(enqueue, { says: gate.finalStatus(context, event.at) });
    }),
    takeAck: on('ack.received', decisions.takeAck),
    takeRefusal: on('message.refused', steps.takeRefusal),
  },
  guards: {
    isLocal: ({ context }) => isLocal(context),
    /** Its submission was not long on its way, by the clock of the leader that its gate has in mind. */
    isInTime: ({ context: { beginsBefore, term }, event }) =>
      beginsBefore === undefined || (beginsBefore.term === term && event.at < beginsBefore.at),
    /** The leader before may have stood still since it took the job, for longer than the gate waits for an answer. */
    mayBeLate: ({ context, event }) =>
      event.type === 'leadership.acquired' && event.fence > context.term && !isLocal(context),
    /** The gate has taken a report: it knows that the job is here, and waits for its end. */
    isCountedOn: ({ event }) => event.type === 'ack.received' && event.accepted,
    /** The gate has lost its memory: there is no such job for it. */
    isUnknownToGate: ({ event }) => event.type === 'ack.received' && event.reason === 'unknown',
    isGateJobOver: ({ context, event }) =>
      event.type === 'message.refused' && gate.isGateJobOver(context, event),
    isTimedOutByHeld: ({ context }) => decisions.isEndedByHeld(context, 'timeout.declared'),
    isCancelledByHeld: ({ context }) => decisions.isEndedByHeld(context, 'cancel.requested'),
    isOfGate: ({ event }) => isOfGate(event),
    isOfClient: ({ event }) => event.type === 'cancel.requested' && !isOfGate(event),
    isForAnotherLeader: ofDecision(gate.isForAnotherLeader),
    isForFormerLeader: ofDecision(gate.isForFormerLeader),
    isObeyedAlready: ofDecision(gate.isObeyedAlready),
    isOutdated: ofDecision(gate.isOutdated),
    isCancelled: ({ context }) => context.status === 'cancelled',
    isShadow: ({ context }) => !context.enforce,
    isOverallDue: ({ context, event }) => event.at > overallDue(context),
    /** The budget is used up before the hold is over. */
    isOverallHeld: ({ context, event }) =>
      event.at <= context.holdUntil && context.holdUntil > budgetDue(context),
    isStuckHeld: ({ context, event }) =>
      event.at <= context.holdUntil && context.holdUntil === stuckDue(context),
    isInGrace: ({ context, event }) =>
      event.at <= context.stuckGraceUntil && context.stuckGraceUntil === stuckDue(context),
    isStuckWatched: ({ context }) => isStuckWatched(context),
    isNotStuckWatched: ({ context }) => !isStuckWatched(context),
    isRunning: ({ context }) => context.status === 'running',
    isNotStalled: ({ context, event }) => event.at <= stallDue(context),
    hasFailedFast: ({ context }) => context.failFast && hasFailure(context.table),
    isOver: ({ context }) => isOver(context.table),
    hasSucceeded: ({ context }) => hasSucceeded(context.table),
    isFinalKnown: ({ context }) => context.isFinalKnown,
    isQuelled: ({ context }) => isQuelled(context.table),
    isNewTerm: ({ context, event }) =>
      event.type === 'leadership.acquired' && event.fence > context.term,
    /** Its workflows have stopped, and its gate knows. */
    isDone: ({ context }) => context.isFinalKnown && isOver(context.table),
  },
  delays: {
    assemblyLimit: ASSEMBLY_LIMIT_MS,
    overallLimit: ({ context, event }) => Math.max(0, overallDue(context) + 1 - event.at),
    /** Time in which nothing fires because of a worker's credit that is gone. */
    holdLimit: ({ context, event }) => Math.max(0, context.holdUntil + 1 - event.at),
    /** Time in which a new leader may not know of progress. */
    graceLimit: ({ context, event }) => Math.max(0, context.stuckGraceUntil + 1 - event.at),
    stuckLimit: ({ context, event }) => Math.max(0, stuckDue(context) + 1 - event.at),
    fallbackLimit: ({ context, event }) => Math.max(0, fallbackDue(context) + 1 - event.at),
    reportInterval: ({ context }) => context.rules.reportIntervalMs,
    /** Time until the gate's own threshold for lack of progress is passed. */
    stallLimit: ({ context, event }) => Math.max(0, stallDue(context) + 1 - event.at),
  },
});
