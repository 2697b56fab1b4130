/**
 * Job in one datacenter: from its acceptance to its one end, on time.
 *
 * job
 * ├─ assembling ──job.assembled, which it says itself when all its workflows came with it──▶ active
 * ├─ active (parallel)
 * │  ├─ hearing    takes what is told, and decides nothing; a gate that has no such job is given it
 * │  ├─ decisions  of the gate, and of those who cancel: refused for the first reason that holds, or obeyed ──▶ ending
 * │  ├─ phase      submitted ──acknowledged by its gate──▶ expected
 * │  │             submitted, expected ──first workflow DISPATCHED──▶ running
 * │  │             awaitingGate (its submission was late) ──acknowledged by its gate──▶ expected
 * │  │             submitted ──a new leader──▶ awaitingGate
 * │  ├─ authority
 * │  │     leading.localAuthority.tracking  ──▶ overallDue | stuckDue ──▶ ending.timedOut
 * │  │     leading.gateCoordinated.tracking ──▶ overallDue | stuckDue ──▶ reported
 * │  │     leading.gateCoordinated.reported ──fallback due──▶ ending.timedOut
 * │  │     leading.*.overallDue | stuckDue  ──not enforced──▶ shadowed
 * │  │        tracking (parallel)
 * │  │        ├─ overallLimit  armed ──after overallLimit──▶ overallDue
 * │  │        │                held (a worker's credit is gone) ──after holdLimit──▶ overallDue
 * │  │        └─ stuckLimit    armed ──after stuckLimit──▶ overallDue, if it is, else stuckDue
 * │  │                         held, grace (of a new leader) ──after holdLimit, graceLimit──▶ the same
 * │  │                         off ◀──no attempt is out──▶ armed
 * │  └─ reporting  off, or for gate jobs on (parallel)
 * │        ├─ rhythm      armed ⟲ after reportInterval
 * │        └─ stallLimit  armed ──after stallLimit──▶ told ──it got further──▶ armed
 * ├─ active ──all succeeded | final failure | cancelled──▶ ending
 * └─ ending (parallel)
 *    ├─ hearing, decisions   as above, and all comes too late
 *    ├─ outcome    completed | failed | cancelled | timedOut ──stopped and told──▶ completed | failed | … ■
 *    ├─ stopping   underWay ──every workflow terminal──▶ stopped
 *    └─ telling    quelling ──no workflow can begin any more──▶ untold ──the gate knows──▶ told
 *
 * What a gate has given up must not begin. Its submission says by this datacenter's own clock until when
 * the job may begin by itself; one that was on its way for longer begins no work before the gate has
 * acknowledged a report of it and so counts on this datacenter. A leader that takes it over cannot know whether
 * it is still in time, and holds back what has not begun. Its time runs all the same.
 *
 * The two strategies stand side by side below. The first end counts, later ones are logged. What an
 * event says is taken by `hearing`, the first region; the deadlines are armed again only where it may
 * have moved them. A leader that is deposed is told nothing: its actors are let go, and the next leader's
 * begin with `leadership.acquired`.
 */

import { authority, byProgress, ending, moved } from './job/authority.ts';
import { initialJob } from './job/context.ts';
import { jobSetup } from './job/setup.ts';
import type { Outcome } from './words.ts';

export type { JobContext, JobEvent, JobInput } from './job/context.ts';

const refused = <TWhy extends string>(why: TWhy) => ({ type: 'refuse', params: { why } }) as const;
const forAnotherLeader = { guard: 'isForAnotherLeader', actions: refused('notLeader') } as const;

/** Rows 1, 5 and 6 of JB-7: why a decision of the gate is refused while the job goes on. */
const refusals = [
  forAnotherLeader,
  { guard: 'isForFormerLeader', actions: refused('staleLeaderFence') },
  { guard: 'isOutdated', actions: refused('staleDecision') },
] as const;

/** Rows 1, 3 and 4: the job has ended. */
const tooLate = [
  forAnotherLeader,
  { guard: 'isObeyedAlready', actions: refused('duplicate') },
  { guard: 'isOfGate', actions: refused('final') },
] as const;

/** It ends so, once its workflows have stopped and its gate knows. */
const outcome = <TStatus extends Outcome>(status: TStatus) =>
  ({ always: { guard: 'isDone', target: `#job.${status}` } }) as const;

export const jobMachine = jobSetup.createMachine({
  id: 'job',
  context: ({ input }) => initialJob(input),
  initial: 'assembling',
  states: {
    assembling: {
      entry: 'assemble',
      on: {
        'job.assembled': [
          {
            guard: 'isTimedOutByHeld',
            target: ending('timedOut'),
            actions: ['begin', 'takeHeld'],
          },
          {
            guard: 'isCancelledByHeld',
            target: ending('cancelled'),
            actions: ['begin', 'takeHeld'],
          },
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
      after: { assemblyLimit: { target: ending('cancelled'), actions: 'abandon' } },
    },
    active: {
      type: 'parallel',
      tags: 'tracked',
      always: [
        { guard: 'hasSucceeded', target: ending('completed'), actions: 'conclude' },
        { guard: 'isOver', target: ending('failed'), actions: 'conclude' },
        { guard: 'hasFailedFast', target: ending('failed'), actions: 'conclude' },
      ],
      states: {
        hearing: {
          on: {
            'workflow.changed': { actions: 'takeChange' },
            'workflow.progressed': { actions: 'keepProgress' },
            'worker.lost': { actions: 'loseWorker' },
            'extension.credited': { actions: 'credit' },
            'job.extend': { actions: 'extend' },
            'leadership.acquired': { actions: 'takeOver' },
            'ack.received': [
              { guard: 'isUnknownToGate', actions: ['takeAck', 'giveBack'] },
              { actions: 'takeAck' },
            ],
            'status.requested': { actions: 'answerStatus' },
            'message.refused': { actions: 'takeRefusal' },
          },
        },
        decisions: {
          on: {
            'timeout.declared': [...refusals, { target: ending('timedOut'), actions: 'obey' }],
            'cancel.requested': [
              { guard: 'isOfClient', target: ending('cancelled'), actions: 'cancel' },
              ...refusals,
              { target: ending('cancelled'), actions: 'cancel' },
            ],
          },
        },
        phase: {
          initial: 'beginning',
          states: {
            beginning: {
              always: [
                { guard: 'isLocal', target: 'submitted', actions: 'release' },
                { guard: 'isInTime', target: 'submitted', actions: ['release', 'report'] },
                { target: 'awaitingGate', actions: ['spawnWaiting', 'announce'] },
              ],
            },
            awaitingGate: {
              // It had begun, and the word of it was under way.
              always: { guard: 'isRunning', target: 'running' },
              on: {
                'ack.received': { guard: 'isCountedOn', target: 'expected', actions: 'release' },
                'message.refused': {
                  guard: 'isGateJobOver',
                  target: ending('cancelled'),
                  actions: 'giveUp',
                },
              },
            },
            submitted: {
              always: { guard: 'isRunning', target: 'running' },
              on: {
                'ack.received': { guard: 'isCountedOn', target: 'expected' },
                'leadership.acquired': {
                  guard: 'mayBeLate',
                  target: 'awaitingGate',
                  actions: ['holdBack', 'announce'],
                },
              },
            },
            expected: { always: { guard: 'isRunning', target: 'running' } },
            running: {},
          },
        },
        authority,
        reporting: {
          initial: 'beginning',
          states: {
            beginning: { always: [{ guard: 'isLocal', target: 'off' }, { target: 'on' }] },
            off: {},
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
      type: 'parallel',
      entry: 'windUp',
      states: {
        hearing: {
          on: {
            'workflow.changed': { actions: 'takeChange' },
            'extension.credited': { actions: 'credit' },
            'job.extend': { actions: 'extend' },
            'leadership.acquired': { actions: 'takeOverEnded' },
            'ack.received': { actions: 'takeAck' },
            'message.refused': { actions: 'takeRefusal' },
          },
        },
        decisions: {
          on: {
            'timeout.declared': tooLate,
            'cancel.requested': [
              ...tooLate,
              { guard: 'isCancelled', actions: 'joinCancel' },
              { actions: 'refuseCancel' },
            ],
          },
        },
        outcome: {
          initial: 'completed',
          states: {
            completed: outcome('completed'),
            failed: outcome('failed'),
            cancelled: outcome('cancelled'),
            timedOut: outcome('timedOut'),
          },
        },
        stopping: {
          initial: 'underWay',
          states: { underWay: { always: { guard: 'isOver', target: 'stopped' } }, stopped: {} },
        },
        telling: {
          initial: 'quelling',
          states: {
            /** Nothing of the job may begin after what the gate publishes: that is final. */
            quelling: {
              always: { guard: 'isQuelled', target: 'untold' },
              exit: 'answerCancelAskers',
            },
            untold: {
              entry: 'tellFinal',
              on: {
                'leadership.acquired': { guard: 'isNewTerm', actions: 'tellFinal' },
                'status.requested': { actions: 'answerStatus' },
              },
              always: { guard: 'isFinalKnown', target: 'told' },
            },
            told: { on: { 'status.requested': { actions: 'answerStatus' } } },
          },
        },
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
    timedOut: { type: 'final' },
  },
});
