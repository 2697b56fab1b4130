/**
 * Gate job: a job that runs in several datacenters at once, under one decision and with one outcome.
 *
 *   dispatching ─submission.deferred─▶ waitingForRoom ⟲ ──(the exits of dispatching)
 *   dispatching ──≥1 accepted──▶ tracking ──rule 1|2|3──▶ declaring ──all finals | settleLimit──▶ settled
 *        │ none                    │  ▲ │                    │  ▲                                  │
 *        ▼                         │  │ └─cancel.requested─▶ cancelling ──(same exits)────────────▶ │
 *   settled(failed)                │  └──────withdrawn─────┘  │            every target confirmed   ▼
 *                                  └────all finals───────────────▶ settled ────────────────────▶ closed ■
 *   recovering (after gate start) ──caught up with all running | 2×reportInterval──▶ tracking|declaring|cancelling
 *              instructing (one that was rebuilt) ──rules.given──▶ listening
 *   settled    confirming ──all have confirmed, one of them late──▶ lingering ──after lingerLimit──▶ closed ■
 *
 *   tracking   isBudgetUsedUp  ──▶ declaring.overall
 *   (parallel) isQuorumMet     ──▶ declaring.datacenterTimeout
 *              isNothingMoving ──▶ declaring.allDatacentersStuck
 *              isLate          catches up first: it was not there when the budget ended
 *              ├ hearing        takes what datacenters say, before any deadline is armed again
 *              ├ overallLimit   armed ──after overallLimit──▶ due
 *              ├ silenceLimit   armed ⟲ after silenceLimit: who says nothing is silent, and is asked; or off
 *              ├ catchUpLimit   armed ⟲ after catchUpLimit: who does not answer is waited for no longer; or off
 *              └ dispatchLimit  armed ──after dispatchLimit──▶ over: who has not answered yet is late
 *
 * Each datacenter has a chart of its own, in datacenter.ts: how far it is, what it makes of the decision, and
 * whether the gate knows how things are there. Its messages are taken the same way in every state: they step
 * that chart, and the edges here ask its states afterwards. A word of a datacenter may move every deadline of
 * `tracking`, so it re-enters each of them. A decision is made once, sent to every running
 * datacenter until it is taken, and the outcome is published once; what comes later is logged as late.
 * The rules are in gate-job/rules.ts.
 */

import { initialGateJob } from './gate-job/context.ts';
import {
  again,
  againIfAway,
  alreadyCancelled,
  answerCancel,
  because,
  byWord,
  cancel,
  heard,
  lateCancel,
  moved,
  note,
  recover,
  repeat,
  rule,
  taken,
  tellLate,
  tellUntold,
  untaken,
} from './gate-job/edges.ts';
import { gateJobSetup } from './gate-job/setup.ts';

export type { GateJobContext, GateJobInput, GateJobSubmission } from './gate-job/context.ts';
export type { GateJobEvent } from './gate-job/setup.ts';

export const gateJobMachine = gateJobSetup.createMachine({
  id: 'gateJob',
  context: ({ input }) => initialGateJob(input),
  initial: 'beginning',
  on: heard,
  always: [
    { guard: 'hasIdleParts', actions: 'dropParts' },
    { guard: 'hasLateUntold', actions: tellLate },
    { guard: 'isAnybodyUnasked', actions: 'askUnasked' },
  ],
  states: {
    beginning: {
      always: [
        { guard: 'isRebuilt', target: 'recovering' },
        { target: 'dispatching', actions: ['dispatch', note('job.accepted')] },
      ],
    },
    dispatching: {
      tags: 'submitted',
      on: {
        'cancel.requested': cancel,
        ...again('dispatching'),
        'submission.deferred': {
          target: 'waitingForRoom',
          actions: ['defer', note('submission.deferred')],
        },
      },
      always: taken,
      after: { dispatchLimit: [againIfAway('dispatching'), untaken] },
    },
    /** Nobody has the job, and somebody has too much to do: every word of that puts the limit off. */
    waitingForRoom: {
      tags: 'submitted',
      on: {
        'cancel.requested': cancel,
        ...again('waitingForRoom'),
        'submission.deferred': { target: 'waitingForRoom', reenter: true, actions: 'defer' },
      },
      always: taken,
      after: { dispatchLimit: [againIfAway('waitingForRoom'), untaken] },
    },
    tracking: {
      tags: 'running',
      type: 'parallel',
      on: {
        'cancel.requested': cancel,
        ...recover,
      },
      always: [
        { guard: 'hasEverybodyEnded', target: 'settled' },
        // No message has moved the deadlines then: all are armed again.
        {
          guard: 'isAnybodyMissing',
          target: 'tracking',
          reenter: true,
          actions: 'giveUpMissing',
        },
        { guard: 'isLate', actions: 'loseTouch' },
        ...rule('overall', 'isBudgetUsedUp'),
        ...rule('datacenterTimeout', 'isQuorumMet'),
        ...rule('allDatacentersStuck', 'isNothingMoving'),
      ],
      states: {
        /** The first region: what a datacenter says is taken before any deadline is armed again. */
        hearing: { on: heard },
        overallLimit: {
          initial: 'armed',
          states: {
            armed: {
              always: { guard: 'isOverallDue', target: 'due' },
              on: byWord,
              after: { overallLimit: 'due' },
            },
            due: { on: byWord },
          },
        },
        silenceLimit: {
          initial: 'armed',
          states: {
            armed: {
              always: [
                { guard: 'isSilenceOver', target: 'off' },
                { guard: 'hasFallenSilent', ...moved, actions: 'askSilent' },
              ],
              on: byWord,
              after: { silenceLimit: moved },
            },
            off: { always: { guard: 'isSilenceDue', target: 'armed' } },
          },
        },
        catchUpLimit: {
          initial: 'off',
          states: {
            off: { always: { guard: 'isCatchingUp', target: 'armed' } },
            armed: {
              always: { guard: 'isCaughtUp', target: 'off' },
              on: byWord,
              after: { catchUpLimit: moved },
            },
          },
        },
        dispatchLimit: {
          initial: 'armed',
          states: {
            armed: {
              always: { guard: 'isDispatchOver', target: 'over' },
              after: { dispatchLimit: { target: 'over', actions: 'closeDispatch' } },
            },
            over: {},
          },
        },
      },
    },
    declaring: {
      tags: 'running',
      entry: tellUntold,
      on: { 'cancel.requested': lateCancel, ...recover },
      always: [
        { guard: 'hasEverybodyEnded', target: 'settled' },
        { guard: 'hasUntold', actions: tellUntold },
        {
          guard: 'isOverturned',
          target: 'tracking',
          actions: [note('timeout.withdrawn'), 'withdraw'],
        },
        repeat,
      ],
      after: { settleLimit: 'settled' },
      initial: 'overall',
      states: { overall: {}, datacenterTimeout: {}, allDatacentersStuck: {} },
    },
    cancelling: {
      tags: 'running',
      on: { 'cancel.requested': alreadyCancelled, ...recover },
      always: [
        { guard: 'hasEverybodyEnded', target: 'settled' },
        { guard: 'hasUntold', actions: tellUntold },
        repeat,
      ],
      after: { settleLimit: 'settled' },
    },
    recovering: {
      tags: 'running',
      on: recover,
      initial: 'choosing',
      states: {
        choosing: {
          always: [{ guard: 'hasRules', target: 'listening' }, { target: 'instructing' }],
        },
        instructing: {
          entry: 'fetchRules',
          on: { 'rules.given': { target: 'listening', actions: 'takeRules' } },
        },
        listening: {
          on: {
            'cancel.requested': [
              { guard: 'isTimeoutDecided', ...lateCancel },
              { guard: 'isCancelDecided', ...alreadyCancelled },
              cancel,
            ],
          },
          always: { guard: 'isCaughtUp', target: 'recovered' },
          after: { recoveryLimit: 'recovered' },
        },
        recovered: {
          entry: note('gate.recovered'),
          always: [
            because('overall'),
            because('datacenterTimeout'),
            because('allDatacentersStuck'),
            { guard: 'isCancelDecided', target: '#gateJob.cancelling' },
            { target: '#gateJob.tracking' },
          ],
        },
      },
    },
    settled: {
      tags: 'ended',
      entry: ['publish', note('job.ended')],
      on: {
        'leadership.acquired': { guard: 'isNewFence', actions: 'takeOffice' },
        'cancel.requested': [
          { guard: 'isCancelled', ...alreadyCancelled },
          { actions: answerCancel({ accepted: false, reason: 'alreadyFinal' }) },
        ],
      },
      always: repeat,
      initial: 'confirming',
      states: {
        confirming: {
          always: [
            { guard: 'isClosable', target: '#gateJob.closed' },
            { guard: 'isConfirmed', target: 'lingering' },
          ],
        },
        // Somebody who did not know the job when it was told to drop it may still be about to get it.
        lingering: {
          always: { guard: 'isUnconfirmed', target: 'confirming' },
          after: { lingerLimit: '#gateJob.closed' },
        },
      },
    },
    closed: { type: 'final', tags: 'ended' },
  },
});
