/**
 * Edges of the chart of a gate's job that stand in more than one of its states. The chart is in gate-job.ts.
 */

import { and, not } from 'xstate';
import type { LogEvent, LogEventName } from '../log-events.ts';
import type { CancelAnswer } from '../messages/client.ts';
import type { GateReason } from '../words.ts';
import type { GateJobContext } from './context.ts';
import { lateUntold, unacknowledged, untold } from './decisions.ts';
import { logEventOf } from './log-events.ts';
import type { GateJobEvent } from './setup.ts';

type Args = { readonly context: GateJobContext; readonly event: GateJobEvent };

export const note = (event: LogEventName, fields: object = {}) =>
  ({
    type: 'note',
    params: ({ context, event: { at } }: Args): LogEvent => ({
      ...logEventOf(event, context, at ?? context.bornAt),
      ...fields,
    }),
  }) as const;

/** Transitions for what datacenters say, in every state. */
export const heard = {
  'progress.reported': { actions: 'takeReport' },
  'timeout.reported': { actions: 'takeReport' },
  'leader.transferred': { actions: 'takeReport' },
  'final.reported': { actions: 'takeReport' },
  'status.corrected': { actions: 'takeReport' },
  'submission.answered': { actions: 'takeSubmissionAnswer' },
  'ack.received': { actions: 'takeAck' },
  'message.refused': { actions: 'takeRefusal' },
  'status.found': { actions: 'takeStatus' },
} as const;

/** A deadline may have moved: it is armed again. */
export const moved = { target: 'armed', reenter: true } as const;

/** Any of what datacenters say may move any deadline. */
export const byWord = {
  'progress.reported': moved,
  'timeout.reported': moved,
  'leader.transferred': moved,
  'final.reported': moved,
  'status.corrected': moved,
  'submission.answered': moved,
  'ack.received': moved,
  'message.refused': moved,
  'status.found': moved,
} as const satisfies Record<keyof typeof heard, typeof moved>;

export const answerCancel = (params: CancelAnswer) => ({ type: 'answerCancel', params }) as const;

export const tellUntold = { type: 'tell', params: ({ context }: Args) => untold(context) } as const;
const tellAgain = {
  type: 'tell',
  params: ({ context }: Args) => unacknowledged(context),
} as const;
export const tellLate = {
  type: 'tell',
  params: ({ context }: Args) => lateUntold(context),
} as const;

/** A client's cancel while nothing is decided. */
export const cancel = {
  target: '#gateJob.cancelling',
  actions: ['decideCancel', tellUntold, answerCancel({ accepted: true, reason: null })],
} as const;

/** A client's cancel after a timeout was declared. */
export const lateCancel = {
  actions: [
    { type: 'noteLate', params: 'cancel' },
    note('event.late', { kind: 'cancel' }),
    answerCancel({ accepted: false, reason: 'alreadyFinal' }),
  ],
} as const;

export const alreadyCancelled = {
  actions: answerCancel({ accepted: true, reason: 'alreadyCancelled' }),
} as const;

/** A restarted gate takes no decision before it knows how things are. */
export const recover = {
  'leadership.acquired': {
    guard: 'isNewFence',
    target: '#gateJob.recovering',
    reenter: true,
    actions: 'takeOffice',
  },
} as const;

/** Transitions at the end of a submission: some datacenter takes it, or all have answered and none does. */
export const taken = [
  { guard: 'hasTarget', target: 'tracking' },
  { guard: 'isDispatchOver', target: 'settled' },
] as const;

/** Nobody has taken it in time. */
export const untaken = { target: 'settled', actions: 'closeDispatch' } as const;

type Submitted = 'dispatching' | 'waitingForRoom';

/** The limit is seen too late: nobody was asked meanwhile. */
export const againIfAway = <const TState extends Submitted>(state: TState) =>
  ({
    guard: 'wasAway',
    target: `#gateJob.${state}`,
    reenter: true,
    actions: 'askAnew',
  }) as const;

/** The gate was away while nobody had the job: the limit is put off. */
export const again = <const TState extends Submitted>(state: TState) =>
  ({
    'leadership.acquired': {
      guard: 'isNewFence',
      target: `#gateJob.${state}`,
      reenter: true,
      actions: 'takeOffice',
    },
    'submission.resumed': againIfAway(state),
  }) as const;

/** A rule and what follows when it is due: nothing but a log event where timeouts only watch. */
export const rule = (
  reason: GateReason,
  isDue: 'isBudgetUsedUp' | 'isQuorumMet' | 'isNothingMoving',
) =>
  [
    {
      guard: and(['isWatchedOnly', not('isShadowed'), isDue]),
      actions: [{ type: 'shadow', params: reason }, note('timeout.shadowed', { reason })],
    },
    {
      guard: and([not('isWatchedOnly'), isDue]),
      target: `declaring.${reason}`,
      actions: [{ type: 'declare', params: reason }, note('timeout.declared')],
    },
  ] as const;

/** The reasons for which a timeout is declared, each a state. */
export const because = (reason: GateReason) =>
  ({
    guard: { type: 'isDecidedBy', params: reason },
    target: `#gateJob.declaring.${reason}`,
  }) as const;

/** A decision that was refused for a reason that has gone is sent again. */
export const repeat = { guard: 'isContradicted', actions: ['issueAgain', tellAgain] } as const;
