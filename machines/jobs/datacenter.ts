/**
 * Datacenter chart: a datacenter that a gate's job was sent to, as the gate knows it, in three questions.
 *
 *   run        asked ──took it in time──▶ running ──timeout reported──▶ reported ──its end──▶ final
 *                │ ├─too late, or maybe─▶ late  ◀─a newer leader knows of none─┘
 *                │ └─did not want it─▶ refused
 *   decision   none ──told──▶ sent ──obeyed──▶ accepted
 *                              ├─refused, and fence or epoch are others now──▶ contradicted ──told again──▶ sent
 *                              ├─refused without news──▶ deferred ──heard again──▶ contradicted
 *                              └─nobody there knows the job──▶ gone ──heard again──▶ contradicted
 *   contact    heard ──nothing for silentAfterMs──▶ silent ──a word──▶ catchingUp ──caught up──▶ heard
 *                ├─gate restarted, or late─────────────────────────▶ catchingUp ──nothing heard──▶ silent
 *                ├─took the job in time, and had it before─────────▶ catchingUp
 *                └─a word waited, is missing, or accuses and was held up──▶ catchingUp
 *
 * While the gate catches up with a datacenter it knows only what was written before. Words of that time are
 * history: they move status and credit forward, and decide nothing. It has caught up with a prompt answer to
 * the question that it asked when it heard of the datacenter again, with a correction that did not wait, or
 * with an end; and two reports after that word in any case, when all that was in the queue has come.
 *
 * A word was held up when it says that the job there is younger, by the gate's clock, than the fastest of its
 * words: so much longer was it on its way. It accuses when it tells of a timeout, or that nothing moves.
 *
 * It is no actor. Its states and its figures are part of the record of the gate's job, which steps it with its
 * own events and reads its states in the same step: by a message to a child they would be known only after
 * the rules had been asked. What it wants to be done is a state that an edge of the gate's job waits for.
 */

import { and, or, stateIn, transition } from 'xstate';
import {
  type DatacenterEvent,
  type DatacenterRecord,
  type GateLimits,
  UNHEARD,
} from './datacenter/context.ts';
import { datacenterSetup } from './datacenter/setup.ts';

const stale = { guard: 'isStale' } as const;
const ends = { target: 'final', actions: 'take' } as const;
const endsIf = { guard: 'isEnd', ...ends } as const;
const timesOut = { target: 'reported', actions: 'take' } as const;
const timesOutIf = { guard: 'isTimeout', ...timesOut } as const;
const runs = { target: 'running', actions: 'take' } as const;
const takenBack = { guard: 'isTakenBack', ...runs } as const;
const take = { actions: 'take' } as const;

const underWay = {
  'progress.reported': [stale, takenBack, take],
  'timeout.reported': timesOut,
  'leader.transferred': [takenBack, take],
  'final.reported': ends,
  'status.corrected': [endsIf, timesOutIf, takenBack, take],
  /** Answer of the jobs service about a job that takes no questions any more. */
  'status.found': [
    { guard: 'isEnd', target: 'final', actions: 'find' },
    { guard: 'isNeverTaken', target: 'refused' },
  ],
} as const;

/** The decision reaches nobody, or is refused. */
const unheeded = [
  { guard: 'isNobodyThere', target: 'gone' },
  { guard: 'isRefused', target: 'deferred' },
] as const;

const toldAgain = {
  'decision.told': { target: 'sent', actions: 'keepTold' },
  'decision.withdrawn': {
    guard: or([stateIn({ run: 'running' }), stateIn({ run: 'reported' })]),
    target: 'none',
    actions: 'forgetTold',
  },
  'status.found': { guard: 'isNobodyThere', target: 'gone' },
  'submission.answered': {
    guard: and([stateIn({ run: 'late' }), 'isTaken']),
    target: 'contradicted',
  },
  'message.refused': unheeded,
  'ack.received': { guard: 'isObeyed', target: 'accepted' },
} as const;

/** It is there after all, or knows better now; a correction only says what is wrong. */
const heardAgain = {
  'progress.reported': 'contradicted',
  'timeout.reported': 'contradicted',
  'leader.transferred': 'contradicted',
  'final.reported': 'contradicted',
} as const;

/** It counts no more, whatever it says: figures change alone. */
const told = {
  'progress.reported': [stale, take],
  'timeout.reported': take,
  'leader.transferred': take,
  'final.reported': take,
  'status.corrected': take,
} as const;

const losesTouch = { target: 'catchingUp', reenter: true, actions: 'loseTouch' } as const;
const catchesUp = { target: 'catchingUp', actions: ['loseTouch', 'meet', 'see'] } as const;
const caughtUp = { target: 'heard', actions: ['catchUp', 'see'] } as const;
const sees = { actions: 'see' } as const;
const seesAgain = [{ guard: 'isHistory', ...catchesUp }, sees] as const;
/** The answer to an earlier submission was lost, and what the job has said since may be on its way. */
const hadIt = {
  guard: and([stateIn({ run: 'asked' }), 'isInTime', 'isTakenBefore']),
  target: 'catchingUp',
  actions: ['loseTouch', 'meet'],
} as const;
const meets = { actions: ['meet', 'see'] } as const;

export const datacenterMachine = datacenterSetup.createMachine({
  id: 'datacenter',
  context: ({ input: { limits } }) => ({ ...UNHEARD, limits }),
  type: 'parallel',
  states: {
    run: {
      initial: 'asked',
      states: {
        asked: {
          on: {
            'progress.reported': runs,
            'timeout.reported': timesOut,
            'leader.transferred': runs,
            'final.reported': ends,
            'status.corrected': [endsIf, timesOutIf, runs],
            'submission.answered': [
              { guard: 'isInTime', target: 'running', actions: 'join' },
              { guard: 'mayHaveIt', target: 'late', actions: 'join' },
              { target: 'refused' },
            ],
            'submission.deferred': { actions: 'keepFull' },
            'dispatch.closed': 'late',
          },
        },
        running: { on: underWay },
        reported: { on: underWay },
        /** It stands even when an old copy was restored there and the job runs again. */
        final: { on: told },
        refused: {},
        late: {
          on: {
            ...told,
            'status.found': { guard: 'isEnd', actions: 'find' },
            'submission.answered': { actions: 'join' },
          },
        },
      },
    },
    decision: {
      initial: 'none',
      states: {
        none: { on: { 'decision.told': { target: 'sent', actions: 'keepTold' } } },
        sent: {
          always: { guard: 'hasFenceMoved', target: 'contradicted' },
          on: {
            ...toldAgain,
            'decision.told': { actions: 'keepTold' },
            'ack.received': [{ guard: 'isObeyed', target: 'accepted' }, ...unheeded],
            'status.corrected': [
              { guard: 'isCorrected', target: 'contradicted' },
              { guard: 'isRefusedAgain', target: 'deferred' },
            ],
          },
        },
        accepted: { on: toldAgain },
        contradicted: { on: toldAgain },
        deferred: { on: { ...toldAgain, ...heardAgain } },
        gone: { on: { ...toldAgain, ...heardAgain } },
      },
    },
    contact: {
      initial: 'heard',
      states: {
        heard: {
          on: {
            'progress.reported': seesAgain,
            'timeout.reported': seesAgain,
            'leader.transferred': seesAgain,
            'final.reported': sees,
            'status.corrected': [{ guard: 'isEnd', ...sees }, ...seesAgain],
            'ack.received': { guard: 'isAck', ...sees },
            'submission.answered': hadIt,
            'silence.due': [
              { guard: 'isSeenLate', ...losesTouch },
              { target: 'silent', actions: 'noteSilent' },
            ],
            'touch.lost': losesTouch,
          },
        },
        silent: {
          on: {
            'progress.reported': catchesUp,
            'timeout.reported': catchesUp,
            'leader.transferred': catchesUp,
            'final.reported': caughtUp,
            'status.corrected': [{ guard: 'isEnd', ...caughtUp }, catchesUp],
            'ack.received': { guard: 'isAck', ...catchesUp },
            'status.found': caughtUp,
            'silence.due': { actions: 'noteSilent' },
            'touch.lost': losesTouch,
          },
        },
        catchingUp: {
          on: {
            'progress.reported': meets,
            'timeout.reported': meets,
            'leader.transferred': meets,
            'final.reported': caughtUp,
            'status.corrected': [
              { guard: 'isAnswer', ...caughtUp },
              { guard: 'isReply', actions: ['meet', 'see', 'askAgain'] },
              meets,
            ],
            'ack.received': { guard: 'isAck', ...meets },
            'status.found': caughtUp,
            'datacenter.asked': { actions: 'keepQuestion' },
            'catchUp.due': [
              { guard: 'hasMet', target: 'heard', actions: 'catchUp' },
              { target: 'silent', actions: ['catchUp', 'noteSilent'] },
            ],
            'touch.lost': losesTouch,
          },
        },
      },
    },
  },
});

/** It has the job and has not ended it. */
export const isUnderWay = (run: DatacenterRecord['run']): boolean =>
  run === 'running' || run === 'reported';

/** The chart in the states that the record says. */
export function chartOf(record: DatacenterRecord, limits: GateLimits) {
  const { run, decision: order, contact } = record;
  return datacenterMachine.resolveState({
    value: { run, decision: order, contact },
    context: { ...record, limits },
  });
}

/** The record after the event. */
export function stepped(
  record: DatacenterRecord,
  event: DatacenterEvent,
  limits: GateLimits,
): DatacenterRecord {
  const [after] = transition(datacenterMachine, chartOf(record, limits), event);
  const { limits: _, ...kept } = after.context;
  return { ...kept, ...(after.value as Pick<DatacenterRecord, 'run' | 'decision' | 'contact'>) };
}
