/**
 * A job as its gate sees it: in several datacenters at once, under one decision and with one outcome.
 *
 *   dispatching ──≥1 accepted──▶ tracking ──rule 1|2|3──▶ declaring ──all finals | settleLimit──▶ settled
 *        │ none                    │  ▲ │                    │  ▲                                  │
 *        ▼                         │  │ └─cancel.requested─▶ cancelling ──(same exits)────────────▶ │
 *   settled(failed)                │  └──────withdrawn─────┘  │            every target confirmed   ▼
 *                                  └────all finals───────────────▶ settled ────────────────────▶ closed ■
 *   recovering (after gate start) ──all running heard | 2×reportInterval──▶ tracking|declaring|cancelling
 *
 * Messages of datacenters are taken the same way in every state: they change what is known, and the
 * state asks afterwards whether that decides anything. A decision is made once, sent to every running
 * datacenter until it is taken, and the outcome is published once; what comes later is noted as late.
 * What the rules are is in gate-job/rules.ts, what a message changes in gate-job/taking.ts.
 */

import { lateUntold, unacknowledged, untold } from './gate-job/deciding.ts';
import { noteOf } from './gate-job/notes.ts';
import { bornGateJob, type GateJobContext } from './gate-job/record.ts';
import { type GateJobEvent, gateJobSetup } from './gate-job/setup.ts';
import type { CancelAnswer } from './messages/client.ts';
import type { NoteName, NoteParams } from './notes.ts';

export type { GateJobContext, GateJobInput, GateJobSubmission } from './gate-job/record.ts';
export type { GateJobEvent } from './gate-job/setup.ts';

type Args = { readonly context: GateJobContext; readonly event: GateJobEvent };

const note = (event: NoteName, fields: object = {}) =>
  ({
    type: 'note',
    params: ({ context, event: { at } }: Args): NoteParams => ({
      ...noteOf(event, context, at ?? context.bornAt),
      ...fields,
    }),
  }) as const;

const answerCancel = (params: CancelAnswer) => ({ type: 'answerCancel', params }) as const;

const tellUntold = { type: 'tell', params: ({ context }: Args) => untold(context) } as const;
const tellAgain = { type: 'tell', params: ({ context }: Args) => unacknowledged(context) } as const;
const tellLate = { type: 'tell', params: ({ context }: Args) => lateUntold(context) } as const;

/** A client's cancel while nothing is decided. */
const cancel = {
  target: '#gateJob.cancelling',
  actions: ['decideCancel', tellUntold, answerCancel({ accepted: true, reason: null })],
} as const;

/** A client's cancel after a timeout was declared. */
const lateCancel = {
  actions: [
    { type: 'noteLate', params: 'cancel' },
    note('event.late', { kind: 'cancel' }),
    answerCancel({ accepted: false, reason: 'alreadyFinal' }),
  ],
} as const;

const alreadyCancelled = {
  actions: answerCancel({ accepted: true, reason: 'alreadyCancelled' }),
} as const;

/** A restarted gate takes no decision before it knows how things are. */
const recover = {
  'leadership.acquired': {
    guard: 'isNewFence',
    target: '#gateJob.recovering',
    reenter: true,
    actions: 'takeOffice',
  },
} as const;

/** A decision that was refused for a reason that has gone is sent again. */
const repeat = { guard: 'isContradicted', actions: ['issueAgain', tellAgain] } as const;

export const gateJobMachine = gateJobSetup.createMachine({
  id: 'gateJob',
  context: ({ input }) => bornGateJob(input),
  initial: 'beginning',
  on: {
    'progress.reported': { actions: 'takeReport' },
    'timeout.reported': { actions: 'takeReport' },
    'leader.transferred': { actions: 'takeReport' },
    'final.reported': { actions: 'takeReport' },
    'status.corrected': { actions: 'takeReport' },
    'submission.answered': { actions: 'takeSubmissionAnswer' },
    'ack.received': { actions: 'takeAck' },
    'message.refused': { actions: 'takeRefusal' },
    'status.found': { actions: 'takeStatus' },
  },
  always: [
    { guard: 'hasIdlePages', actions: 'dropPages' },
    { guard: 'hasLateUntold', actions: tellLate },
  ],
  states: {
    beginning: {
      always: [{ guard: 'isRebuilt', target: 'recovering' }, { target: 'dispatching' }],
    },
    dispatching: {
      tags: 'submitted',
      entry: ['dispatch', note('job.accepted')],
      on: {
        'cancel.requested': cancel,
        'leadership.acquired': { guard: 'isNewFence', actions: 'takeOffice' },
      },
      always: [
        { guard: 'hasTarget', target: 'tracking' },
        { guard: 'isDispatchOver', target: 'settled' },
      ],
      after: { dispatchLimit: { target: 'settled', actions: 'closeDispatch' } },
    },
    tracking: {
      tags: 'running',
      type: 'parallel',
      on: {
        'cancel.requested': cancel,
        'deadlines.renew': { target: 'tracking', reenter: true },
        ...recover,
      },
      always: [
        { guard: 'hasEverybodyEnded', target: 'settled' },
        { guard: 'isRuleDue', target: 'declaring', actions: ['declare', note('timeout.declared')] },
        { guard: 'isShadowDue', actions: ['shadow', note('timeout.shadowed')] },
      ],
      states: {
        overallLimit: {
          initial: 'armed',
          states: {
            armed: {
              entry: 'noteOverall',
              always: { guard: 'hasOverallMoved', target: 'armed', reenter: true },
              after: { overallLimit: 'due' },
            },
            due: { always: { guard: 'hasOverallMoved', target: 'armed' } },
          },
        },
        silenceLimit: {
          initial: 'armed',
          states: {
            armed: {
              entry: 'noteSilence',
              always: [
                { guard: 'isNobodyRunning', target: 'off' },
                { guard: 'hasSilenceMoved', target: 'armed', reenter: true },
              ],
              after: { silenceLimit: { target: 'armed', reenter: true, actions: 'askSilent' } },
            },
            off: { always: { guard: 'isAnybodyRunning', target: 'armed' } },
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
          entry: 'askUnheard',
          on: {
            'cancel.requested': [
              { guard: 'isTimeoutDecided', ...lateCancel },
              { guard: 'isCancelDecided', ...alreadyCancelled },
              cancel,
            ],
          },
          always: { guard: 'isEverybodyHeard', target: 'recovered' },
          after: { recoveryLimit: 'recovered' },
        },
        recovered: {
          entry: note('gate.recovered'),
          always: [
            { guard: 'isTimeoutDecided', target: '#gateJob.declaring' },
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
