/**
 * Setup of the gate job's statechart: its actions, guards and delays, by name. The chart is in gate-job.ts.
 */

import { assign, enqueueActions, setup } from 'xstate';
import type { Spawned, Timed } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import type { DatacenterMessage } from '../datacenter/context.ts';
import type { LogEvent } from '../log-events.ts';
import type { CancelAnswer } from '../messages/client.ts';
import type {
  AckReceived,
  CancelRequested,
  RulesGiven,
  StatusFound,
  SubmissionAnswered,
  SubmissionDeferred,
  SubmissionResumed,
} from '../messages/gate.ts';
import type { LeadershipAcquired, MessageRefused } from '../messages/local.ts';
import { answering, carryOut, stepActions } from '../step.ts';
import type { GateReason } from '../words.ts';
import {
  dispatchDueAt,
  type GateJobContext,
  type GateJobInput,
  type RuledContext,
  running,
  targets,
  withStep,
} from './context.ts';
import {
  cancelled,
  contradicting,
  declared,
  doesStand,
  hasLate,
  isConfirmed,
  isLateSettled,
  issuedAgain,
  lateUntold,
  published,
  untold,
  withdrawn,
  withLateEvent,
} from './decisions.ts';
import { askedAnew, dispatchClosed, isDispatchOver, wasAway } from './joining.ts';
import * as rules from './rules.ts';
import * as steps from './steps.ts';
import { ruled, tookOffice } from './takeover.ts';

export type GateJobEvent = Timed<
  | DatacenterMessage
  | AckReceived
  | SubmissionAnswered
  | SubmissionDeferred
  | SubmissionResumed
  | CancelRequested
  | StatusFound
  | RulesGiven
  | LeadershipAcquired
  | MessageRefused
>;

type Args = { readonly context: GateJobContext; readonly event: GateJobEvent };

const REPORTS = [
  'progress.reported',
  'timeout.reported',
  'leader.transferred',
  'final.reported',
  'status.corrected',
] as const;

/** The moment of the turn; an actor's first one has it in its record. */
const momentOf = ({ context, event }: Args): number => event.at ?? context.bornAt;

/** Every state but the first moments of a rebuilt job has rules. */
function rulesOf(context: GateJobContext): RuledContext {
  if (context.rules === null) throw new Error(`The job ${context.jobId} has no rules yet.`);
  return context as RuledContext;
}

/** Due means after the deadline: a timer comes a millisecond later. */
const until = (deadlineAt: number, args: Args): number =>
  Math.max(0, deadlineAt + 1 - momentOf(args));

const { on, at } = stepActions<GateJobContext, GateJobEvent>();

const { keep, doing } = givenEvents<GateJobContext, GateJobEvent>();

export const gateJobSetup = setup({
  types: {
    context: {} as GateJobContext,
    events: {} as GateJobEvent,
    input: {} as Spawned<GateJobInput>,
    tags: {} as 'submitted' | 'running' | 'ended',
  },
  actions: {
    // Done by the gate's program.
    note: (_, _params: LogEvent) => {},
    dispatchTo: (_, _params: { readonly datacenter: string }) => {},
    findStatus: (_, _params: { readonly datacenter: string }) => {},
    fetchRules: (_) => {},
    // Done by the machine.
    dispatch: enqueueActions(({ context, enqueue }) => {
      // XState does not know the names of a setup's actions inside of it.
      for (const datacenter of Object.keys(context.datacenters))
        enqueue({ type: 'dispatchTo', params: { datacenter } } as never);
    }),
    defer: keep('submission.deferred', ({ context, event }) =>
      withStep(context, event.datacenter, event),
    ),
    askAnew: assign(({ context, event }) => askedAnew(context, event.at)),
    closeDispatch: assign((args) => dispatchClosed(args.context, momentOf(args))),
    dropParts: at((context) => steps.dropParts(context)),
    takeSubmissionAnswer: on('submission.answered', (context, event) =>
      steps.takeSubmissionAnswer(context, event, event.at),
    ),
    takeReport: on(REPORTS, (context, event) => steps.takeReport(context, event, event.at)),
    takeAck: on('ack.received', (context, event) => steps.takeAck(context, event, event.at)),
    takeRefusal: doing('message.refused', ({ context, event, enqueue }) => {
      const datacenter = steps.endedAt(event);
      if (datacenter !== '') enqueue({ type: 'findStatus', params: { datacenter } } as never);
      carryOut(enqueue, steps.takeRefusal(context, event, event.at));
    }),
    takeStatus: keep('status.found', ({ context, event }) =>
      withStep(context, event.datacenter, event),
    ),
    askSilent: at((context, now) => steps.askSilent(rulesOf(context), now)),
    askUnasked: enqueueActions((args) =>
      carryOut(args.enqueue, steps.askUnasked(args.context, momentOf(args))),
    ),
    giveUpMissing: enqueueActions((args) =>
      carryOut(args.enqueue, steps.giveUpMissing(rulesOf(args.context), momentOf(args))),
    ),
    loseTouch: assign((args) => steps.loseTouch(args.context, momentOf(args))),
    declare: assign((args, reason: GateReason) =>
      declared(rulesOf(args.context), reason, momentOf(args)),
    ),
    decideCancel: assign((args) => cancelled(args.context, momentOf(args))),
    withdraw: assign((args) => withdrawn(args.context, momentOf(args))),
    issueAgain: assign(({ context }) => issuedAgain(context)),
    tell: enqueueActions(({ context, event, enqueue }, names: readonly string[]) =>
      carryOut(enqueue, steps.tell(context, names, momentOf({ context, event }))),
    ),
    shadow: assign((args, reason: GateReason) => ({ shadowed: { reason, at: momentOf(args) } })),
    noteLate: assign(({ context, event }, what: string) => withLateEvent(context, what, event.at)),
    publish: assign((args) => published(args.context, momentOf(args))),
    answerCancel: on('cancel.requested', (_context, event, answer: CancelAnswer) => ({
      says: answering(event.replyTo, answer),
    })),
    takeOffice: keep('leadership.acquired', ({ context, event }) =>
      tookOffice(context, event.fence, event.at),
    ),
    takeRules: keep('rules.given', ({ context, event }) => ruled(context, event, event.at)),
  },
  guards: {
    isRebuilt: ({ context }) => context.isRebuilt,
    hasRules: ({ context }) => context.rules !== null,
    isNewFence: ({ context, event }) =>
      event.type === 'leadership.acquired' && event.fence > context.fence,
    hasIdleParts: ({ context }) => context.pages > 0 && isDispatchOver(context),
    isDispatchOver: ({ context }) => isDispatchOver(context),
    wasAway: ({ context, event }) => wasAway(context, event.at),
    hasTarget: ({ context }) => targets(context.datacenters).length > 0,
    hasEverybodyEnded: ({ context }) =>
      isDispatchOver(context) && running(context.datacenters).length === 0,
    isWatchedOnly: ({ context }) => context.terms.enforce === false,
    isShadowed: ({ context }) => context.shadowed !== null,
    isBudgetUsedUp: (args) =>
      !rules.isCatchingUp(args.context) && rules.isBudgetUsedUp(args.context, momentOf(args)),
    isQuorumMet: ({ context }) =>
      rules.isQuorumMet(context.datacenters, rulesOf(context).rules.quorum),
    isNothingMoving: ({ context }) => rules.isNothingMoving(rulesOf(context)),
    /** The gate was not there when the budget ended: words of that time wait at its door. */
    isLate: (args) => rules.heardBefore(args.context, momentOf(args)).length > 0,
    isOverallDue: (args) => momentOf(args) > rules.overallDueAt(args.context),
    isSilenceDue: ({ context }) => rules.silenceDueAt(rulesOf(context)) !== null,
    isSilenceOver: ({ context }) => rules.silenceDueAt(rulesOf(context)) === null,
    hasFallenSilent: (args) => rules.fallenSilent(rulesOf(args.context), momentOf(args)).length > 0,
    isCatchingUp: ({ context }) => rules.isCatchingUp(context),
    isCaughtUp: ({ context }) => !rules.isCatchingUp(context),
    isAnybodyMissing: (args) => rules.missing(rulesOf(args.context), momentOf(args)).length > 0,
    isAnybodyUnasked: ({ context }) => rules.unasked(context).length > 0,
    isTimeoutDecided: ({ context }) => context.decision?.kind === 'timeout',
    isDecidedBy: ({ context: { decision } }, reason: GateReason) =>
      decision?.kind === 'timeout' && decision.reason === reason,
    isCancelDecided: ({ context }) => context.decision?.kind === 'cancel',
    hasUntold: ({ context }) => untold(context).length > 0,
    isContradicted: ({ context }) => contradicting(context).length > 0,
    isOverturned: (args) =>
      contradicting(args.context).length > 0 && !doesStand(rulesOf(args.context), momentOf(args)),
    hasLateUntold: ({ context }) => lateUntold(context).length > 0,
    isConfirmed: ({ context }) => isConfirmed(context) && isLateSettled(context),
    isUnconfirmed: ({ context }) => !isConfirmed(context) || !isLateSettled(context),
    isClosable: ({ context }) =>
      isConfirmed(context) && isLateSettled(context) && !hasLate(context),
    isCancelled: ({ context }) => context.outcome?.status === 'cancelled',
  },
  delays: {
    dispatchLimit: (args) => until(dispatchDueAt(args.context), args),
    overallLimit: (args) => until(rules.overallDueAt(args.context), args),
    silenceLimit: (args) => until(rules.silenceDueAt(rulesOf(args.context)) ?? 0, args),
    catchUpLimit: (args) => until(rules.catchUpDueAt(rulesOf(args.context)) ?? 0, args),
    settleLimit: (args) =>
      until((args.context.decision?.at ?? 0) + rulesOf(args.context).rules.settleLimitMs, args),
    lingerLimit: ({ context }) => rulesOf(context).rules.settleLimitMs,
    recoveryLimit: ({ context }) => 2 * rulesOf(context).rules.reportIntervalMs + 1,
  },
});
