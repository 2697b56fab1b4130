/**
 * Setup of the statechart of a worker's health: its actions, guards and delays, by name. The chart is in
 * worker-health.ts.
 */

import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import type { Spawned } from '../../../runtime/machine.ts';
import type { LogEvent } from '../log-events.ts';
import type { DenialReason, ExtensionRequested } from '../messages/worker.ts';
import { carryOut } from '../step.ts';
import type { WorkerState } from '../words.ts';
import type { WorkerHealthContext, WorkerHealthEvent, WorkerHealthInput } from './context.ts';
import * as extensions from './extensions.ts';
import {
  grantsLeft,
  isAnswered,
  isAwaited,
  isMalformed,
  isOutdated,
  lacksProgress,
  standingOf,
} from './grants.ts';
import * as steps from './steps.ts';

type EvictionReason = 'silent' | 'denials';
export type Standing = 'healthy' | 'extended' | 'exhausted';

const isRequest = (
  event: WorkerHealthEvent,
): event is ExtensionRequested & { readonly at: number } => event.type === 'extension.requested';

export const workerHealthSetup = setup({
  types: {
    context: {} as WorkerHealthContext,
    events: {} as WorkerHealthEvent,
    input: {} as Spawned<WorkerHealthInput>,
  },
  actions: {
    note: (_, _params: LogEvent) => {},
    noteSuspect: enqueueActions(({ context: { datacenter, workerId, deadline }, event, enqueue }) =>
      carryOut(enqueue, {
        notes: [{ event: 'worker.suspect', at: event.at, datacenter, workerId, deadline }],
      }),
    ),
    tellPool: enqueueActions(({ context, enqueue }, { state }: { state: WorkerState }) =>
      carryOut(enqueue, { says: [steps.tellPool(context, state)] }),
    ),
    tellStanding: enqueueActions(({ context, enqueue }) =>
      carryOut(enqueue, { says: [steps.tellPool(context)] }),
    ),
    takeAnswer: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'announce.answered');
      carryOut(enqueue, steps.takeAnswer(context, event));
    }),
    learnTerm: assign(({ context, event }) => {
      assertEvent(event, 'leadership.acquired');
      return { term: Math.max(event.fence, context.term) };
    }),
    takeRegistration: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'registration.told');
      carryOut(enqueue, steps.takeRegistration(context, event));
    }),
    takeHeartbeat: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'heartbeat.received');
      carryOut(enqueue, steps.takeHeartbeat(context, event));
    }),
    askToRegister: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'heartbeat.received');
      carryOut(enqueue, steps.askToRegister(context, event));
    }),
    recover: enqueueActions(({ context, event, enqueue }) =>
      carryOut(enqueue, steps.recover(context, event.at)),
    ),
    evict: enqueueActions(({ context, event, enqueue }, { reason }: { reason: EvictionReason }) =>
      carryOut(enqueue, steps.evict(context, event.at, reason)),
    ),
    takeOver: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'leadership.acquired');
      carryOut(enqueue, steps.takeOver(context, event.fence, event.at));
    }),
    takeAttempt: enqueueActions(({ context, event, enqueue }, { isLost }: { isLost: boolean }) => {
      assertEvent(event, 'attempt.placed');
      carryOut(enqueue, steps.takeAttempt(context, event, isLost));
    }),
    beginAttempt: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'attempt.running');
      carryOut(enqueue, steps.beginAttempt(context, event));
    }),
    endAttempt: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'attempt.ended');
      carryOut(enqueue, steps.endAttempt(context, event));
    }),
    answerAgain: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'extension.requested');
      carryOut(enqueue, extensions.answerAgain(context, event));
    }),
    keepAsker: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'extension.requested');
      carryOut(enqueue, extensions.keepAsker(context, event));
    }),
    dropOutdated: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'extension.requested');
      carryOut(enqueue, extensions.dropOutdated(context, event));
    }),
    deny: enqueueActions(({ context, event, enqueue }, { reason }: { reason: DenialReason }) => {
      assertEvent(event, 'extension.requested');
      carryOut(enqueue, extensions.deny(context, event, reason));
    }),
    countDenial: assign({ denials: ({ context }) => context.denials + 1 }),
    grant: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'extension.requested');
      carryOut(enqueue, extensions.grant(context, event));
    }),
    settleCredit: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'credit.answered');
      carryOut(enqueue, extensions.settleCredit(context, event));
    }),
    takeRefusal: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'message.refused');
      carryOut(enqueue, extensions.takeRefusal(context, event));
    }),
    forgetJob: assign(({ context, event }) => {
      assertEvent(event, 'credit.closed');
      return { creditedJobs: context.creditedJobs.filter((jobId) => jobId !== event.jobId) };
    }),
  },
  guards: {
    stands: ({ context }, { standing }: { standing: Standing }) => standingOf(context) === standing,
    isAnswered: ({ context, event }) => isRequest(event) && isAnswered(context, event),
    isAwaited: ({ context, event }) => isRequest(event) && isAwaited(context, event),
    isOutdated: ({ context, event }) => isRequest(event) && isOutdated(context, event),
    isMalformed: ({ event }) => isRequest(event) && isMalformed(event),
    isOverdue: ({ context, event }) => event.at > context.deadline,
    isUnknownOperation: ({ context, event }) =>
      isRequest(event) && !context.operations.has(event.operationId),
    isUsedUp: ({ context, event }) =>
      isRequest(event) && grantsLeft(context, event.operationId) <= 0,
    lacksProgress: ({ context, event }) => isRequest(event) && lacksProgress(context, event),
    isLastGrant: ({ context, event }) =>
      isRequest(event) && grantsLeft(context, event.operationId) === 1,
    awaitsCredits: ({ context }) => context.pending.length > 0,
    isSettled: ({ context }) => context.pending.length === 0,
    isThisLife: ({ context, event }) =>
      'bootEpoch' in event && event.bootEpoch === context.bootEpoch,
    isThisRegistration: ({ context, event }) =>
      'registration' in event && event.registration === context.registration,
    hasTooManyDenials: ({ context: { rules, denials } }) =>
      rules.evictAfterDenials > 0 && denials >= rules.evictAfterDenials,
  },
  delays: {
    deadlineLimit: ({ context, event }) => Math.max(0, context.deadline + 1 - event.at),
    evictionLimit: ({ context, event }) =>
      Math.max(0, context.deadline + context.rules.suspectGraceMs + 1 - event.at),
    retention: ({ context }) => context.rules.retentionMs,
  },
});
