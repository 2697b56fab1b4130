/**
 * A job in one datacenter: from its acceptance to its one end, on time.
 *
 * job
 * ├─ assembling ──job.assembled──▶ active
 * ├─ active (parallel)
 * │  ├─ phase      submitted ──first workflow DISPATCHED──▶ running
 * │  │             awaitingGate (its submission was late) ──acknowledged by its gate──▶ submitted
 * │  ├─ authority  suspended ◀─leadership.lost── leading ◀─leadership.acquired── suspended
 * │  │     leading.localAuthority.tracking  ──overall|stuck due──────────▶ ending(timedOut)
 * │  │     leading.gateCoordinated.tracking ──overall|stuck due──▶ reported
 * │  │     leading.gateCoordinated.reported ──fallback due───────────────▶ ending(timedOut)
 * │  │     leading.gateCoordinated.*        ──timeout.declared [valid]───▶ ending(timedOut)
 * │  │     leading.*.tracking               ──due, not enforced──────────▶ shadowed
 * │  └─ reporting  (gate jobs) ──after reportInterval──▶ reporting
 * ├─ active ──all succeeded | final failure | cancel.requested──▶ ending(outcome)
 * └─ ending ──every workflow terminal, and the gate knows──▶ completed | failed | cancelled | timedOut ■
 *
 * What a gate has given up must not begin. Its submission says by this datacenter's own clock until when
 * the job may begin by itself; one that was on its way for longer begins no work before the gate has
 * acknowledged a report of it and so counts on this datacenter. Its time runs all the same.
 *
 * The two strategies stand side by side below. The first end counts, later ones are noted. What an
 * event says is taken by `phase`, the first region; those of the deadlines only begin to wait anew
 * where it may have moved them.
 */

import { bornJob } from './job/context.ts';
import { jobSetup } from './job/setup.ts';
import type { LocalReason, Outcome } from './words.ts';

export type { JobContext, JobEvent, JobInput } from './job/context.ts';

/** A deadline may have moved: it is waited for anew. */
const moved = { target: 'armed', reenter: true } as const;

const byCredit = {
  'extension.credited': moved,
  'job.extend': moved,
  'worker.lost': moved,
  'leadership.acquired': moved,
  'deadlines.renew': moved,
} as const;

const byProgress = {
  ...byCredit,
  'workflow.changed': moved,
  'workflow.progressed': moved,
  'message.refused': moved,
} as const;

/** A word of the gate, though not one to be obeyed. */
const refused = { guard: 'isRefused', ...moved, actions: 'answerDecision' } as const;

const SHADOWED = '#job.active.authority.leading.shadowed';

/** What follows when a deadline is due: nothing but a note where timeouts only watch. */
const localVerdict = (reason: LocalReason) =>
  [
    { guard: 'isShadow', target: SHADOWED, actions: { type: 'shadow', params: { reason } } },
    { target: '#job.ending', actions: { type: 'timeOut', params: { reason } } },
  ] as const;

const gateVerdict = (reason: LocalReason) =>
  [
    { guard: 'isShadow', target: SHADOWED, actions: { type: 'shadow', params: { reason } } },
    {
      target: '#job.active.authority.leading.gateCoordinated.reported',
      actions: { type: 'reportTimeout', params: { reason } },
    },
  ] as const;

/** The two deadlines that both strategies watch; each waits in a region of its own. */
const deadlines = <TVerdict>(verdict: (reason: LocalReason) => TVerdict) =>
  ({
    type: 'parallel',
    states: {
      overallLimit: {
        initial: 'armed',
        states: { armed: { on: byCredit, after: { overallLimit: verdict('overall') } } },
      },
      stuckLimit: {
        initial: 'off',
        states: {
          /** No attempt is out: a job that only waits for a worker is not stuck. */
          off: { always: { guard: 'isStuckWatched', target: 'armed' } },
          armed: {
            always: { guard: 'isNotStuckWatched', target: 'off' },
            on: byProgress,
            after: { stuckLimit: verdict('stuck') },
          },
        },
      },
    },
  }) as const;

const ended = (status: Outcome) =>
  ({ guard: { type: 'isDone', params: { status } }, target: status }) as const;

export const jobMachine = jobSetup.createMachine({
  id: 'job',
  context: ({ input }) => bornJob(input),
  initial: 'assembling',
  states: {
    assembling: {
      on: {
        'job.assembled': [
          { guard: 'isEndedByHeld', target: 'ending', actions: ['begin', 'takeHeld'] },
          { target: 'active', actions: ['begin', 'takeHeld'] },
        ],
        'leadership.acquired': { actions: 'learnLeader' },
        'timeout.declared': { actions: 'holdDecision' },
        'cancel.requested': [
          { guard: 'isOfGate', actions: 'holdDecision' },
          { actions: 'answerUnaccepted' },
        ],
        'job.extend': { actions: 'answerUnaccepted' },
      },
      after: { assemblyLimit: { target: 'ending', actions: 'abandon' } },
    },
    active: {
      type: 'parallel',
      tags: 'tracked',
      on: {
        'timeout.declared': [
          { guard: 'isObeyed', target: 'ending', actions: 'obey' },
          { actions: 'answerDecision' },
        ],
        'cancel.requested': [
          { guard: 'isCancelObeyed', target: 'ending', actions: 'cancel' },
          { actions: 'answerDecision' },
        ],
      },
      always: [
        { guard: 'isOver', target: 'ending', actions: 'conclude' },
        { guard: 'hasFailedFast', target: 'ending', actions: 'conclude' },
      ],
      states: {
        phase: {
          initial: 'beginning',
          on: {
            'workflow.changed': { actions: 'takeChange' },
            'workflow.progressed': { actions: 'keepProgress' },
            'worker.lost': { actions: 'loseWorker' },
            'extension.credited': { actions: 'credit' },
            'job.extend': { actions: 'extend' },
            'leadership.acquired': { actions: 'takeOver' },
            'ack.received': { actions: 'takeAck' },
            'status.requested': { actions: 'answerStatus' },
            'message.refused': { actions: 'takeRefusal' },
          },
          states: {
            beginning: {
              always: [
                { guard: 'isLocal', target: 'submitted', actions: 'release' },
                { guard: 'isInTime', target: 'submitted', actions: ['release', 'report'] },
                { target: 'awaitingGate', actions: 'report' },
              ],
            },
            awaitingGate: {
              on: {
                'ack.received': {
                  guard: 'isCountedOn',
                  target: 'submitted',
                  actions: ['takeAck', 'release'],
                },
                'message.refused': {
                  guard: 'isGateJobOver',
                  target: '#job.ending',
                  actions: 'giveUp',
                },
              },
            },
            submitted: { always: { guard: 'isRunning', target: 'running' } },
            running: {},
          },
        },
        authority: {
          initial: 'leading',
          states: {
            suspended: {
              on: {
                'leadership.acquired': 'leading',
                'timeout.declared': { actions: 'answerNotLeader' },
                'cancel.requested': { actions: 'answerNotLeader' },
              },
            },
            leading: {
              initial: 'resuming',
              on: { 'leadership.lost': 'suspended' },
              states: {
                resuming: {
                  always: [
                    { guard: 'isShadowed', target: 'shadowed' },
                    { guard: 'isLocal', target: 'localAuthority' },
                    { guard: 'isReported', target: 'gateCoordinated.reported' },
                    { target: 'gateCoordinated' },
                  ],
                },
                localAuthority: {
                  initial: 'tracking',
                  states: { tracking: deadlines(localVerdict) },
                },
                gateCoordinated: {
                  initial: 'tracking',
                  states: {
                    tracking: deadlines(gateVerdict),
                    reported: {
                      initial: 'armed',
                      states: {
                        /** Every word of the gate puts the fallback off. */
                        armed: {
                          on: {
                            'ack.received': moved,
                            'status.requested': moved,
                            'timeout.declared': refused,
                            'cancel.requested': refused,
                            'leadership.acquired': moved,
                            'deadlines.renew': moved,
                          },
                          after: { fallbackLimit: { target: '#job.ending', actions: 'fallBack' } },
                        },
                      },
                    },
                  },
                },
                shadowed: {},
              },
            },
          },
        },
        reporting: {
          initial: 'resuming',
          on: { 'leadership.lost': '.suspended' },
          states: {
            resuming: { always: [{ guard: 'isLocal', target: 'off' }, { target: 'on' }] },
            off: {},
            suspended: { on: { 'leadership.acquired': 'resuming' } },
            on: {
              type: 'parallel',
              states: {
                rhythm: {
                  initial: 'armed',
                  states: {
                    armed: { after: { reportInterval: { ...moved, actions: 'report' } } },
                  },
                },
                /** The gate hears at once when it may count this datacenter as stuck. */
                stallLimit: {
                  initial: 'armed',
                  states: {
                    armed: {
                      on: byProgress,
                      after: { stallLimit: { target: 'told', actions: 'report' } },
                    },
                    told: { always: { guard: 'isNotStalled', target: 'armed' } },
                  },
                },
              },
            },
          },
        },
      },
    },
    ending: {
      entry: 'windUp',
      always: [ended('completed'), ended('failed'), ended('cancelled'), ended('timedOut')],
      on: {
        'workflow.changed': { actions: 'takeChange' },
        'extension.credited': { actions: 'credit' },
        'job.extend': { actions: 'extend' },
        'leadership.acquired': { actions: 'takeOverEnded' },
        'ack.received': { actions: 'takeAck' },
        'status.requested': { actions: 'answerStatus' },
        'message.refused': { actions: 'takeRefusal' },
        'timeout.declared': { actions: 'answerDecision' },
        'cancel.requested': { actions: 'cancelLate' },
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
    timedOut: { type: 'final' },
  },
});
