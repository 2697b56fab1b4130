/**
 * Authority region of a job's chart: it says who may end the job, and by which deadline:
 * this datacenter alone, or its gate. The rest of the chart is in job.ts.
 */

import type { LocalReason, Outcome } from '../words.ts';

/** A deadline may have moved: it is armed again. */
export const moved = { target: 'armed', reenter: true } as const;

const byCredit = {
  'extension.credited': moved,
  'job.extend': moved,
  'worker.lost': moved,
  'leadership.acquired': moved,
} as const;

export const byProgress = {
  ...byCredit,
  'workflow.changed': moved,
  'workflow.progressed': moved,
  'message.refused': moved,
} as const;

type Strategy = 'localAuthority' | 'gateCoordinated';

const LEADING = '#job.active.authority.leading';
export const ending = <TStatus extends Outcome>(status: TStatus) =>
  `#job.ending.outcome.${status}` as const;

/** The two deadlines that both strategies watch; each waits in a region of its own. */
function deadlines<TStrategy extends Strategy>(strategy: TStrategy) {
  const overallDue = { target: `${LEADING}.${strategy}.overallDue` } as const;
  const stuckDue = { target: `${LEADING}.${strategy}.stuckDue` } as const;
  /** Both due in one step: the time budget comes first. */
  const whatIsDue = [{ guard: 'isOverallDue', ...overallDue }, stuckDue] as const;
  return {
    type: 'parallel',
    states: {
      overallLimit: {
        initial: 'armed',
        states: {
          armed: {
            always: { guard: 'isOverallHeld', target: 'held' },
            on: byCredit,
            after: { overallLimit: overallDue },
          },
          /** A worker's credit was taken away: nothing fires for a while because of that. */
          held: {
            on: byCredit,
            after: { holdLimit: overallDue },
          },
        },
      },
      stuckLimit: {
        initial: 'off',
        states: {
          /** No attempt is out: a job that only waits for a worker is not stuck. */
          off: { always: { guard: 'isStuckWatched', target: 'armed' } },
          armed: {
            always: [
              { guard: 'isNotStuckWatched', target: 'off' },
              { guard: 'isStuckHeld', target: 'held' },
              { guard: 'isInGrace', target: 'grace' },
            ],
            on: byProgress,
            after: { stuckLimit: whatIsDue },
          },
          held: { on: byProgress, after: { holdLimit: whatIsDue } },
          /** A new leader does not know yet what got further while nobody led. */
          grace: { on: byProgress, after: { graceLimit: whatIsDue } },
        },
      },
    },
  } as const;
}

/** Effect of a deadline that is due: nothing but a log event where timeouts only watch. */
const shadowed = (reason: LocalReason) =>
  ({
    guard: 'isShadow',
    target: `${LEADING}.shadowed`,
    actions: { type: 'shadow', params: { reason } },
  }) as const;
const timedOut = (reason: LocalReason) =>
  ({
    always: [
      shadowed(reason),
      { target: ending('timedOut'), actions: { type: 'timeOut', params: { reason } } },
    ],
  }) as const;
const reported = (reason: LocalReason) =>
  ({
    always: [
      shadowed(reason),
      { target: 'reported', actions: { type: 'reportTimeout', params: { reason } } },
    ],
  }) as const;

export const authority = {
  initial: 'leading',
  states: {
    leading: {
      initial: 'beginning',
      states: {
        beginning: {
          always: [{ guard: 'isLocal', target: 'localAuthority' }, { target: 'gateCoordinated' }],
        },
        localAuthority: {
          initial: 'tracking',
          states: {
            tracking: deadlines('localAuthority'),
            overallDue: timedOut('overall'),
            stuckDue: timedOut('stuck'),
          },
        },
        gateCoordinated: {
          initial: 'tracking',
          states: {
            tracking: deadlines('gateCoordinated'),
            overallDue: reported('overall'),
            stuckDue: reported('stuck'),
            reported: {
              initial: 'armed',
              states: {
                /** Every word of the gate puts the fallback off. */
                armed: {
                  on: {
                    'ack.received': moved,
                    'status.requested': moved,
                    'timeout.declared': moved,
                    'cancel.requested': { guard: 'isOfGate', ...moved },
                    'leadership.acquired': moved,
                  },
                  after: {
                    fallbackLimit: { target: ending('timedOut'), actions: 'fallBack' },
                  },
                },
              },
            },
          },
        },
        shadowed: {},
      },
    },
  },
} as const;
