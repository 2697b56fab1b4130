/**
 * Setup of the statechart of a worker's health: its actions, guards and delays, by name. The chart is in
 * worker-health.ts.
 */

import { assign, enqueueActions, setup } from 'xstate';
import type { Spawned } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import type { LogEvent } from '../log-events.ts';
import type { DenialReason, ExtensionRequested } from '../messages/worker.ts';
import { carryOut, stepActions } from '../step.ts';
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

const { on, at } = stepActions<WorkerHealthContext, WorkerHealthEvent>();

const { keep } = givenEvents<WorkerHealthContext, WorkerHealthEvent>();

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
    takeAnswer: on('announce.answered', steps.takeAnswer),
    learnTerm: keep('leadership.acquired', ({ context, event }) => ({
      term: Math.max(event.fence, context.term),
    })),
    takeRegistration: on('registration.told', steps.takeRegistration),
    takeHeartbeat: on('heartbeat.received', steps.takeHeartbeat),
    askToRegister: on('heartbeat.received', steps.askToRegister),
    recover: at(steps.recover),
    evict: at((context, now, { reason }: { reason: EvictionReason }) =>
      steps.evict(context, now, reason),
    ),
    takeOver: on('leadership.acquired', (context, { fence, at }) =>
      steps.takeOver(context, fence, at),
    ),
    takeAttempt: on('attempt.placed', (context, event, { isLost }: { isLost: boolean }) =>
      steps.takeAttempt(context, event, isLost),
    ),
    beginAttempt: on('attempt.running', steps.beginAttempt),
    endAttempt: on('attempt.ended', steps.endAttempt),
    answerAgain: on('extension.requested', extensions.answerAgain),
    keepAsker: on('extension.requested', extensions.keepAsker),
    dropOutdated: on('extension.requested', extensions.dropOutdated),
    deny: on('extension.requested', (context, event, { reason }: { reason: DenialReason }) =>
      extensions.deny(context, event, reason),
    ),
    countDenial: assign({ denials: ({ context }) => context.denials + 1 }),
    grant: on('extension.requested', extensions.grant),
    settleCredit: on('credit.answered', extensions.settleCredit),
    takeRefusal: on('message.refused', extensions.takeRefusal),
    forgetJob: keep('credit.closed', ({ context, event }) => ({
      creditedJobs: context.creditedJobs.filter((jobId) => jobId !== event.jobId),
    })),
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
