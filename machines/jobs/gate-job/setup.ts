/**
 * What the statechart of a gate's job can do, ask and wait for, by name. The chart is in gate-job.ts.
 */

import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import type { Born, Timed } from '../../../runtime/machine.ts';
import type { CancelAnswer } from '../messages/client.ts';
import type {
  AckReceived,
  CancelRequested,
  RulesGiven,
  StatusFound,
  SubmissionAnswered,
} from '../messages/gate.ts';
import type { LeadershipAcquired, MessageRefused } from '../messages/local.ts';
import type { NoteParams } from '../notes.ts';
import { answering, carryOut } from '../step.ts';
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
} from './deciding.ts';
import { answeredSubmission, dispatchClosed, dispatchDueAt, isDispatchOver } from './joining.ts';
import {
  type GateJobContext,
  type GateJobInput,
  isRunning,
  type RuledContext,
  recordOf,
  running,
  targets,
} from './record.ts';
import { dueReason, overallDueAt, silenceDueAt } from './rules.ts';
import * as steps from './steps.ts';
import { ruled, tookOffice } from './takeover.ts';
import type { DatacenterMessage } from './taking.ts';

export type GateJobEvent = Timed<
  | DatacenterMessage
  | AckReceived
  | SubmissionAnswered
  | CancelRequested
  | StatusFound
  | RulesGiven
  | { readonly type: 'deadlines.renew' }
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

const dueOf = (args: Args) => dueReason(rulesOf(args.context), momentOf(args));

/** Due means after the deadline: a timer comes a millisecond later. */
const until = (deadlineAt: number, args: Args): number =>
  Math.max(0, deadlineAt + 1 - momentOf(args));

export const gateJobSetup = setup({
  types: {
    context: {} as GateJobContext,
    events: {} as GateJobEvent,
    input: {} as Born<GateJobInput>,
    tags: {} as 'submitted' | 'running' | 'ended',
  },
  actions: {
    // Done by the gate's program.
    note: (_, _params: NoteParams) => {},
    dispatchTo: (_, _params: { readonly datacenter: string }) => {},
    findStatus: (_, _params: { readonly datacenter: string }) => {},
    fetchRules: (_) => {},
    // Done by the machine.
    dispatch: enqueueActions(({ context, enqueue }) => {
      // XState does not know the names of a setup's actions inside of it.
      for (const datacenter of Object.keys(context.datacenters))
        enqueue({ type: 'dispatchTo', params: { datacenter } } as never);
    }),
    closeDispatch: assign(({ context }) => dispatchClosed(context)),
    dropPages: enqueueActions(({ context, enqueue }) =>
      carryOut(enqueue, steps.dropPages(context)),
    ),
    takeSubmissionAnswer: assign(({ context, event }) => {
      assertEvent(event, 'submission.answered');
      return answeredSubmission(context, event, event.at);
    }),
    takeReport: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, REPORTS);
      carryOut(enqueue, steps.takeReport(context, event, event.at));
    }),
    takeAck: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'ack.received');
      carryOut(enqueue, steps.takeAck(context, event, event.at));
    }),
    takeRefusal: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'message.refused');
      const datacenter = steps.endedAt(event);
      if (datacenter !== '') enqueue({ type: 'findStatus', params: { datacenter } } as never);
      carryOut(enqueue, steps.takeRefusal(context, event, event.at));
    }),
    takeStatus: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'status.found');
      carryOut(enqueue, steps.takeStatus(context, event, event.at));
    }),
    noteOverall: assign({ overallDueAt: ({ context }) => overallDueAt(context) }),
    noteSilence: assign({ silenceDueAt: ({ context }) => silenceDueAt(rulesOf(context)) ?? 0 }),
    askSilent: enqueueActions(({ context, event, enqueue }) =>
      carryOut(enqueue, steps.askSilent(rulesOf(context), event.at)),
    ),
    askUnheard: enqueueActions(({ context, enqueue }) =>
      carryOut(enqueue, steps.askUnheard(context)),
    ),
    declare: assign((args) => declared(rulesOf(args.context), momentOf(args))),
    decideCancel: assign((args) => cancelled(args.context, momentOf(args))),
    withdraw: assign(({ context }) => withdrawn(context)),
    issueAgain: assign(({ context }) => issuedAgain(context)),
    tell: enqueueActions(({ context, event, enqueue }, names: readonly string[]) =>
      carryOut(enqueue, steps.tell(context, names, momentOf({ context, event }))),
    ),
    shadow: assign((args) => {
      const reason = dueOf(args);
      return reason === null ? {} : { shadowed: { reason, at: args.event.at } };
    }),
    noteLate: assign(({ context, event }, what: string) => withLateEvent(context, what, event.at)),
    publish: assign((args) => published(args.context, momentOf(args))),
    answerCancel: enqueueActions(({ event, enqueue }, answer: CancelAnswer) => {
      assertEvent(event, 'cancel.requested');
      carryOut(enqueue, { says: answering(event.replyTo, answer) });
    }),
    takeOffice: assign(({ context, event }) => {
      assertEvent(event, 'leadership.acquired');
      return tookOffice(context, event.fence, event.at);
    }),
    takeRules: assign(({ context, event }) => {
      assertEvent(event, 'rules.given');
      return ruled(context, event);
    }),
  },
  guards: {
    isRebuilt: ({ context }) => context.isRebuilt,
    hasRules: ({ context }) => context.rules !== null,
    isNewFence: ({ context, event }) =>
      event.type === 'leadership.acquired' && event.fence > context.fence,
    hasIdlePages: ({ context }) => context.pages > 0 && isDispatchOver(context),
    isDispatchOver: ({ context }) => isDispatchOver(context),
    hasTarget: ({ context }) => targets(context.datacenters).length > 0,
    isAnybodyRunning: ({ context }) => running(context.datacenters).length > 0,
    isNobodyRunning: ({ context }) => running(context.datacenters).length === 0,
    hasEverybodyEnded: ({ context }) =>
      isDispatchOver(context) && running(context.datacenters).length === 0,
    isRuleDue: (args) => args.context.terms.enforce !== false && dueOf(args) !== null,
    isShadowDue: (args) =>
      args.context.terms.enforce === false &&
      args.context.shadowed === null &&
      dueOf(args) !== null,
    hasOverallMoved: ({ context }) => overallDueAt(context) !== context.overallDueAt,
    hasSilenceMoved: ({ context }) => silenceDueAt(rulesOf(context)) !== context.silenceDueAt,
    isEverybodyHeard: ({ context }) =>
      context.unheard.every((name) => {
        const phase = recordOf(context.datacenters, name)?.phase;
        return phase === undefined || !isRunning(phase);
      }),
    isTimeoutDecided: ({ context }) => context.decision?.kind === 'timeout',
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
    overallLimit: (args) => until(args.context.overallDueAt, args),
    silenceLimit: (args) => until(args.context.silenceDueAt, args),
    settleLimit: (args) =>
      until((args.context.decision?.at ?? 0) + rulesOf(args.context).rules.settleLimitMs, args),
    lingerLimit: ({ context }) => rulesOf(context).rules.settleLimitMs,
    recoveryLimit: ({ context }) => 2 * rulesOf(context).rules.reportIntervalMs + 1,
  },
});
