/**
 * Workflow: one unit of a job's work, with the ten states of AD-33.
 *
 *   PENDING ──slot.granted──▶ DISPATCHED ──accepted──▶ RUNNING ──result ok──▶ COMPLETED ■
 *      │ ▲                       │  └──result (implicit RUNNING)──▶ │ ──shards.merged──▶ AGGREGATED ■
 *      │ │                       └──rejected | no answer──┐         │ failed | worker lost
 *      │ │                                                ▼         ▼
 *      │ FAILED_READY_FOR_RETRY ◀── FAILED_CANCELING_DEPENDENTS ◀─[may retry]─ FAILED
 *      │        │ cancel                    │ cancel                              │ [no retry left]
 *      │        └──────────▶ CANCELLED ■ ◀──┘                                     ▼
 *      └─cancel─▶ CANCELLING ──stopped | result | lost | limit──▶ CANCELLED ■    FAILED_FOR_GOOD ■
 *                     ▲
 *                     └── cancel ── DISPATCHED, RUNNING
 *
 *   PENDING     waiting ──workflow.ready, or spawned so──▶ queued, for cores ──workflow.held──▶ waiting
 *   DISPATCHED  answerLimit armed ──after answerLimit──▶ FAILED · sending once ──▶ twice ──▶ thrice
 *   FAILED_READY_FOR_RETRY  pausing ──after dispatchPause──▶ PENDING.queued
 *   CANCELLING  awaitingAnswer ──cancel.answered──▶ confirming ──after confirmLimit──▶ CANCELLED, unconfirmed
 *               awaitingAnswer ──after cancelAnswerLimit──▶ pausing ──after cancelPause──▶ awaitingAnswer
 *
 * FAILED_FOR_GOOD is AD-33's FAILED with its final mark. While a parent may be tried again its
 * dependents are PENDING, so FAILED_CANCELING_DEPENDENTS is left at once. What no state expects
 * changes nothing and is logged. It does not know other workflows: its job says when it is ready. Limits
 * begin again under a leader whose clock is behind: by that clock they might come in hours.
 */

import type { WorkflowState } from './words.ts';
import { initialWorkflow } from './workflow/context.ts';
import { moved, noted, reenter, refused, stale, told, unexpected } from './workflow/edges.ts';
import { workflowSetup } from './workflow/setup.ts';

export type { WorkflowContext, WorkflowEvent, WorkflowInput } from './workflow/context.ts';

/** Heard of the attempt that counts, and nothing follows from it. */
const ignored = { guard: 'isCurrent' } as const;

/** The attempt is over: its worker and its cores are free of it. */
const freed = ['tellEnded', 'releaseSlot', 'forgetSlot'] as const;

const failing = (from: WorkflowState, cause: 'dispatch' | 'workerLost' | 'failed') =>
  ({
    target: '#workflow.FAILED',
    actions: [{ type: 'countFailure', params: cause }, moved(from, 'FAILED')],
  }) as const;

/** Nobody took it: refused, or not answered. */
const undispatched = {
  target: '#workflow.FAILED',
  actions: [...failing('DISPATCHED', 'dispatch').actions, noted('dispatch.failed')],
} as const;

const stopping = <TTo extends 'CANCELLING' | 'CANCELLED'>(from: WorkflowState, to: TTo) =>
  ({ target: `#workflow.${to}`, actions: ['keepCancelCause', moved(from, to)] }) as const;

const confirmed = {
  target: '#workflow.CANCELLED',
  actions: [...freed, moved('CANCELLING', 'CANCELLED')],
} as const;

const unconfirmed = {
  target: '#workflow.CANCELLED',
  actions: ['markUnconfirmed', ...freed, moved('CANCELLING', 'CANCELLED')],
} as const;

const progressing = [
  { guard: 'hasRisen', actions: ['keepProgress', 'tellProgress'] },
  ignored,
] as const;

export const workflowMachine = workflowSetup.createMachine({
  id: 'workflow',
  context: ({ input }) => initialWorkflow(input),
  initial: 'PENDING',
  // What the state it is in does not expect.
  on: {
    'clock.wentBack': {},
    'workflow.ready': refused,
    // It has begun.
    'workflow.held': {},
    'parent.failed': refused,
    'shards.merged': refused,
    'slot.granted': { actions: 'giveBack' },
    'slot.renew': {},
    'attempt.lost': unexpected,
    // Taken too late: it is not wanted any more.
    'dispatch.answered': [
      { guard: 'isTakenInVain', actions: [stale.actions, 'stopTheOther'] },
      ...unexpected,
    ],
    'progress.received': unexpected,
    'attempt.progressed': unexpected,
    'result.received': unexpected,
    'attempt.stopped': unexpected,
    'cancel.answered': unexpected,
  },
  states: {
    PENDING: {
      initial: 'waiting',
      on: {
        'workflow.cancel': stopping('PENDING', 'CANCELLING'),
        'parent.failed': {
          target: 'FAILED_FOR_GOOD',
          actions: [{ type: 'countFailure', params: 'parentFailed' }, moved('PENDING', 'FAILED')],
        },
      },
      states: {
        /** Waits for what it depends on. */
        waiting: {
          always: { guard: 'isReadyAtOnce', target: 'queued' },
          on: { 'workflow.ready': 'queued' },
        },
        /** Waits for cores, ranked in the store's index: the pool may know of it, or find it there. */
        queued: {
          entry: 'requestSlot',
          on: {
            'slot.granted': {
              guard: 'isCurrent',
              target: '#workflow.DISPATCHED',
              actions: ['takeSlot', moved('PENDING', 'DISPATCHED')],
            },
            'slot.renew': { target: 'queued', reenter: true },
            'workflow.held': { target: 'waiting', actions: 'withdrawRequest' },
            'workflow.cancel': {
              ...stopping('PENDING', 'CANCELLING'),
              actions: ['withdrawRequest', ...stopping('PENDING', 'CANCELLING').actions],
            },
          },
        },
      },
    },
    DISPATCHED: {
      type: 'parallel',
      tags: 'out',
      entry: ['tellPlaced', 'sendDispatch', told('DISPATCHED')],
      on: {
        'dispatch.answered': [
          {
            guard: 'isAccepted',
            target: 'RUNNING',
            actions: [
              'learnHeartbeat',
              'tellRunning',
              moved('DISPATCHED', 'RUNNING'),
              told('RUNNING'),
            ],
          },
          { guard: 'isStaleTerm', actions: ['learnTerm', 'sendDispatch'] },
          { guard: 'isRejected', ...undispatched },
        ],
        'progress.received': progressing,
        'attempt.progressed': progressing,
        'result.received': {
          guard: 'isCurrent',
          target: 'RUNNING',
          actions: ['keepResult', moved('DISPATCHED', 'RUNNING')],
        },
        'worker.lost': { guard: 'isOurLoss', ...failing('DISPATCHED', 'workerLost') },
        'attempt.lost': { guard: 'isCurrent', ...failing('DISPATCHED', 'workerLost') },
        'workflow.cancel': stopping('DISPATCHED', 'CANCELLING'),
      },
      states: {
        answerLimit: {
          initial: 'armed',
          states: { armed: { on: reenter('armed'), after: { answerLimit: undispatched } } },
        },
        sending: {
          initial: 'once',
          on: { 'clock.wentBack': '.once' },
          states: {
            once: { after: { firstRepeat: 'twice' } },
            twice: { entry: 'sendDispatch', after: { secondRepeat: 'thrice' } },
            thrice: { entry: 'sendDispatch' },
          },
        },
      },
    },
    RUNNING: {
      tags: 'out',
      // One that has its result already is told to nobody as running.
      entry: ['forgetDispatchFailures', 'stampProgress'],
      always: [
        { guard: 'hasSucceeded', target: 'COMPLETED', actions: moved('RUNNING', 'COMPLETED') },
        { guard: 'hasFailed', ...failing('RUNNING', 'failed') },
      ],
      on: {
        // The dispatch was sent more than once.
        'dispatch.answered': ignored,
        'progress.received': progressing,
        'attempt.progressed': progressing,
        'result.received': { guard: 'isCurrent', actions: 'keepResult' },
        'shards.merged': { target: 'AGGREGATED', actions: moved('RUNNING', 'AGGREGATED') },
        'worker.lost': { guard: 'isOurLoss', ...failing('RUNNING', 'workerLost') },
        'attempt.lost': { guard: 'isCurrent', ...failing('RUNNING', 'workerLost') },
        'workflow.cancel': stopping('RUNNING', 'CANCELLING'),
      },
    },
    FAILED: {
      entry: freed,
      always: [
        {
          guard: 'mayRetry',
          target: 'FAILED_CANCELING_DEPENDENTS',
          actions: moved('FAILED', 'FAILED_CANCELING_DEPENDENTS'),
        },
        { target: 'FAILED_FOR_GOOD' },
      ],
      on: { 'workflow.cancel': stopping('FAILED', 'CANCELLED') },
    },
    FAILED_CANCELING_DEPENDENTS: {
      // None is running while this one may be tried again.
      always: {
        target: 'FAILED_READY_FOR_RETRY',
        actions: moved('FAILED_CANCELING_DEPENDENTS', 'FAILED_READY_FOR_RETRY'),
      },
      on: { 'workflow.cancel': stopping('FAILED_CANCELING_DEPENDENTS', 'CANCELLED') },
    },
    FAILED_READY_FOR_RETRY: {
      initial: 'deciding',
      entry: noted('workflow.retried', ({ context }) => ({ cause: context.cause })),
      on: { 'workflow.cancel': stopping('FAILED_READY_FOR_RETRY', 'CANCELLED') },
      states: {
        deciding: { always: [{ guard: 'needsPause', target: 'pausing' }, { target: 'requeued' }] },
        pausing: {
          entry: told('FAILED_READY_FOR_RETRY'),
          on: reenter('pausing'),
          after: { dispatchPause: 'requeued' },
        },
        requeued: {
          always: {
            target: '#workflow.PENDING.queued',
            actions: [moved('FAILED_READY_FOR_RETRY', 'PENDING'), 'beginNextRun', told('PENDING')],
          },
        },
      },
    },
    CANCELLING: {
      initial: 'deciding',
      on: {
        'attempt.stopped': { guard: 'isCurrent', ...confirmed },
        'result.received': {
          guard: 'isCurrent',
          ...confirmed,
          actions: [{ type: 'keepLateEvent', params: 'result.received' }, ...confirmed.actions],
        },
        'worker.lost': { guard: 'isOurLoss', ...confirmed },
        'attempt.lost': { guard: 'isCurrent', ...confirmed },
        'workflow.cancel': {},
        // It was taken after all: the worker has not heard of the cancel yet.
        'dispatch.answered': [{ guard: 'isAccepted', actions: 'sendCancel' }, ignored],
        'progress.received': ignored,
        'attempt.progressed': ignored,
        'cancel.answered': [
          { guard: 'isCancelAccepted', target: '.confirming' },
          { guard: 'isStaleTerm', actions: ['learnTerm', 'sendCancel'] },
          ignored,
        ],
      },
      states: {
        deciding: {
          always: [
            {
              guard: 'hasNoSlot',
              target: '#workflow.CANCELLED',
              actions: moved('CANCELLING', 'CANCELLED'),
            },
            { target: 'awaitingAnswer', actions: told('CANCELLING') },
          ],
        },
        awaitingAnswer: {
          entry: ['sendCancel', 'countCancel'],
          on: reenter('awaitingAnswer'),
          after: {
            cancelAnswerLimit: [{ guard: 'hasCancelsLeft', target: 'pausing' }, unconfirmed],
          },
        },
        pausing: { on: reenter('pausing'), after: { cancelPause: 'awaitingAnswer' } },
        confirming: {
          // A cancel that was sent again is answered again; the first answer counts.
          on: { 'cancel.answered': ignored, ...reenter('confirming') },
          after: { confirmLimit: unconfirmed },
        },
      },
    },
    COMPLETED: { type: 'final', entry: [...freed, told('COMPLETED', true)] },
    AGGREGATED: { type: 'final', entry: [...freed, told('AGGREGATED', true)] },
    CANCELLED: { type: 'final', entry: told('CANCELLED', true) },
    FAILED_FOR_GOOD: { type: 'final', entry: told('FAILED', true) },
  },
});
