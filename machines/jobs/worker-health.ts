/**
 * How one worker is doing, as its datacenter sees it: AD-26's deadline and extensions.
 *
 *           grant, some left          grant, none left
 * healthy ────────────────▶ extended ────────────────▶ exhausted
 *    ▲  ◀──operation ended──┘   ▲ grant for another operation │
 *    │  ◀──────────────operation ended────────────────────────┘
 *    │            healthy|extended|exhausted ──after deadline──▶ suspect
 *    └──────────────heartbeat──────────────────────────────────┘ │
 *                                          after evictionLimit ▼
 *                          registration.told ◀── evicted ──after retention──▶ forgotten ■
 *
 * The worker pushes heartbeats; this machine only judges silence. A grant is answered when every
 * job concerned has the credit on disk. Losing the worker is one turn: whoever has to do with it
 * is told, and acts by itself.
 */

import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import type { Born } from '../../runtime/machine.ts';
import { operationIdOf } from './addresses.ts';
import type { NoteParams } from './notes.ts';
import { carryOut } from './step.ts';
import { withEntry } from './tables.ts';
import type { WorkerState } from './words.ts';
import {
  bornWorkerHealth,
  type WorkerHealthContext,
  type WorkerHealthEvent,
  type WorkerHealthInput,
} from './worker-health/context.ts';
import * as extensions from './worker-health/extensions.ts';
import { standingOf } from './worker-health/grants.ts';
import * as steps from './worker-health/steps.ts';

export type {
  WorkerHealthContext,
  WorkerHealthEvent,
  WorkerHealthInput,
} from './worker-health/context.ts';

type Standing = 'healthy' | 'extended' | 'exhausted';

/** Its deadline may have moved: it is waited for anew. */
const moved = { target: 'armed', reenter: true } as const;
const stands = (standing: Standing) =>
  ({ guard: { type: 'stands', params: { standing } }, target: standing }) as const;
const tellPool = (state: WorkerState) => ({ type: 'tellPool', params: { state } }) as const;

export const workerHealthMachine = setup({
  types: {
    context: {} as WorkerHealthContext,
    events: {} as WorkerHealthEvent,
    input: {} as Born<WorkerHealthInput>,
  },
  actions: {
    note: (_, _params: NoteParams) => {},
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
    evict: enqueueActions(({ context, event, enqueue }) =>
      carryOut(enqueue, steps.evict(context, event.at)),
    ),
    takeOver: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'leadership.acquired');
      carryOut(enqueue, steps.takeOver(context, event.fence, event.at));
    }),
    takeAttempt: enqueueActions(({ context, event, enqueue }, { isLost }: { isLost: boolean }) => {
      assertEvent(event, 'attempt.placed');
      carryOut(enqueue, steps.takeAttempt(context, event, isLost));
    }),
    beginAttempt: assign(({ context, event }) => {
      assertEvent(event, 'attempt.running');
      const id = operationIdOf(event.jobId, event.attemptId);
      const operation = context.operations[id];
      if (operation === undefined) return {};
      const { heartbeatSeq } = event;
      return { operations: withEntry(context.operations, id, { ...operation, heartbeatSeq }) };
    }),
    endAttempt: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'attempt.ended');
      const id = operationIdOf(event.jobId, event.attemptId);
      carryOut(enqueue, steps.endAttempt(context, id, event.at));
    }),
    decide: enqueueActions(({ context, event, enqueue }, { isTrusted }: { isTrusted: boolean }) => {
      assertEvent(event, 'extension.requested');
      carryOut(enqueue, extensions.decide(context, event, isTrusted));
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
}).createMachine({
  id: 'workerHealth',
  context: ({ input }) => bornWorkerHealth(input),
  initial: 'unregistered',
  on: {
    'registration.told': { target: '.trusted', actions: 'takeRegistration' },
    'heartbeat.received': { actions: 'askToRegister' },
    'extension.requested': { actions: { type: 'decide', params: { isTrusted: false } } },
    'attempt.placed': { actions: { type: 'takeAttempt', params: { isLost: true } } },
    'credit.answered': { actions: 'settleCredit' },
    'credit.closed': { actions: 'forgetJob' },
    'message.refused': { actions: 'takeRefusal' },
  },
  states: {
    unregistered: {},
    trusted: {
      type: 'parallel',
      always: { guard: 'hasTooManyDenials', target: 'evicted' },
      states: {
        /** The first region: it also takes what an event says, before the deadline is waited for anew. */
        standing: {
          initial: 'healthy',
          on: {
            'registration.told': { actions: ['takeRegistration', 'tellStanding'] },
            'heartbeat.received': { guard: 'isThisLife', actions: 'takeHeartbeat' },
            'announce.answered': { guard: 'isThisLife', actions: 'takeAnswer' },
            'extension.requested': { actions: { type: 'decide', params: { isTrusted: true } } },
            'attempt.placed': { actions: { type: 'takeAttempt', params: { isLost: false } } },
            'attempt.running': { guard: 'isThisRegistration', actions: 'beginAttempt' },
            'attempt.ended': { guard: 'isThisRegistration', actions: 'endAttempt' },
            'leadership.acquired': { actions: 'takeOver' },
          },
          states: {
            healthy: {
              entry: tellPool('healthy'),
              always: [stands('extended'), stands('exhausted')],
            },
            extended: {
              entry: tellPool('extended'),
              always: [stands('healthy'), stands('exhausted')],
            },
            exhausted: {
              entry: tellPool('exhausted'),
              always: [stands('healthy'), stands('extended')],
            },
          },
        },
        deadlineLimit: {
          initial: 'armed',
          states: {
            armed: {
              on: {
                'registration.told': moved,
                'heartbeat.received': { guard: 'isThisLife', ...moved },
                'extension.requested': moved,
                'attempt.ended': moved,
                'leadership.acquired': moved,
              },
              after: { deadlineLimit: '#workerHealth.suspect' },
            },
          },
        },
      },
    },
    suspect: {
      entry: ['noteSuspect', tellPool('suspect')],
      on: {
        'registration.told': {
          guard: 'isThisRegistration',
          target: 'trusted',
          actions: ['recover', 'takeRegistration'],
        },
        'heartbeat.received': {
          guard: 'isThisLife',
          target: 'trusted',
          actions: ['recover', 'takeHeartbeat'],
        },
        // It was chosen before it fell silent; it keeps what it has until it is evicted.
        'attempt.placed': { actions: { type: 'takeAttempt', params: { isLost: false } } },
        'attempt.running': { guard: 'isThisRegistration', actions: 'beginAttempt' },
        'attempt.ended': { guard: 'isThisRegistration', actions: 'endAttempt' },
        'leadership.acquired': { target: 'trusted', actions: 'takeOver' },
      },
      after: { evictionLimit: 'evicted' },
    },
    evicted: {
      entry: 'evict',
      on: { 'leadership.acquired': { actions: 'learnTerm' } },
      after: { retention: 'forgotten' },
    },
    forgotten: { type: 'final' },
  },
});
