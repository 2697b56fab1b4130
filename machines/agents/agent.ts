/**
 * Agent: one attempt at one task, bounded by an execution clock and asked for checkpoints.
 *
 *   starting ──process.started──▶ active ──result or failure reported──▶ terminating.exiting ──▶ … ──▶ ended ■
 *      │ refused,                   │ a limit, a stall, attempt.stop, a protocol broken
 *      │ after startLimit           ▼
 *      ▼                         terminating.stopping ──▶ … ──▶ ended ■          (process-end.ts has this part)
 *   cleaning
 *
 *   active, each limit a region of its own:
 *     clock        counting ◀──▶ paused           counting ─after agentLimit─▶ timedOut
 *     activity     working ──delegation.requested──▶ awaitingExpert ──expert.answered──▶ working
 *                  working ──question.asked──▶ awaitingHuman ──human.answered──▶ working
 *     interval     off, ticking ◀──▶ frozen       ticking ─after checkpointInterval─▶ one more is due
 *     checkpoint   idle ──due, collected──▶ requested ──answered──▶ idle; both ──▶ suspended while it waits
 *                  requested ─after checkpointWait─▶ a miss: idle, requested again, or stalled
 *     idleLimit    off, armed ─after idleLimit─▶ timedOut; frozen while it waits
 *     budget       within ──used up──▶ timedOut
 *
 * The clock counts active time: it stands while the agent waits for an expert or a human, and a request of a
 * checkpoint neither stops nor extends it. The outcome is fixed on leaving `active`: what comes later changes
 * nothing but what is known of the process. At one moment the clock goes before a miss, and a miss before the
 * next request.
 */

import { checkpoint, interval } from './agent/checkpoints.ts';
import { bornAgent } from './agent/context.ts';
import {
  exited,
  killed,
  malformed,
  notStarted,
  outOfQuota,
  overLimit,
  refusing,
  repeated,
  restarted,
  stopped,
  timeout,
  waiting,
} from './agent/edges.ts';
import * as notes from './agent/notes.ts';
import { agentSetup } from './agent/setup.ts';
import { endings, named } from './process-end.ts';

export const agentMachine = agentSetup.createMachine({
  id: 'agent',
  context: ({ input }) => bornAgent(input),
  initial: 'starting',
  on: {
    // What the state that an attempt is in does not expect.
    'process.started': {},
    'process.refused': {},
    'process.exited': {},
    'group.emptied': {},
    'cleanup.finished': {},
    'line.malformed': {},
    'limit.exceeded': {},
    'result.reported': {},
    'failure.reported': {},
    'attempt.stop': {},
    'attempt.kill': {},
    'leadership.acquired': {},
    'checkpoint.reported': { actions: ['keepCheckpoint', notes.received] },
    'delegation.requested': { actions: notes.discarded('late') },
    'question.asked': { actions: notes.discarded('late') },
    'usage.reported': { actions: ['addUsage', 'tellUsage'] },
    'quota.exhausted': { actions: notes.discarded('late') },
    'progress.made': { actions: notes.progress },
    'line.seen': {},
    // Of an expert that was at work when the outcome was fixed.
    'expert.answered': {
      guard: 'isOwnDelegation',
      actions: ['addExpertUsage', 'forgetDelegation'],
    },
    'human.answered': {},
    'checkpoint.collect': { actions: 'tellCollected' },
    'clock.stop': {},
    'clock.continue': {},
    'checkpoint.due': {},
    'message.refused': {},
  },
  states: {
    starting: {
      entry: {
        type: 'startProcess',
        params: ({ context }) => ({ ...named({ context }), attempt: context.attempt }),
      },
      on: {
        'process.started': { target: 'active', actions: ['keepProcess', notes.started] },
        'process.refused': { target: 'cleaning', actions: 'decideFailure' },
        'attempt.stop': { target: 'terminating.stopping', actions: stopped },
        'attempt.kill': { target: 'terminating.killing', actions: killed },
        'leadership.acquired': { target: 'terminating.killing', actions: restarted },
      },
      after: { startLimit: { target: 'terminating.killing', actions: notStarted } },
    },
    active: {
      type: 'parallel',
      tags: 'active',
      exit: 'leaveRequest',
      on: {
        'result.reported': { target: 'terminating.exiting', actions: 'decideResult' },
        'failure.reported': { target: 'terminating.exiting', actions: 'decideFailure' },
        'process.exited': [
          { guard: 'isClean', target: 'ended', actions: ['keepExit', exited] },
          { guard: 'isEmpty', target: 'cleaning', actions: ['keepExit', exited] },
          { target: 'terminating.stopping', actions: ['keepExit', exited] },
        ],
        'limit.exceeded': {
          target: 'terminating.stopping',
          actions: [notes.overLimit, overLimit],
        },
        'line.malformed': malformed,
        'attempt.stop': { target: 'terminating.stopping', actions: stopped },
        'attempt.kill': { target: 'terminating.killing', actions: killed },
        'leadership.acquired': { target: 'terminating.killing', actions: restarted },
        'usage.reported': { actions: ['addUsage', 'tellUsage'] },
        'quota.exhausted': { target: 'terminating.stopping', actions: ['tellQuota', outOfQuota] },
        'progress.made': { actions: ['keepAction', notes.progress] },
      },
      states: {
        clock: {
          initial: 'counting',
          states: {
            counting: {
              on: { 'clock.stop': { target: 'paused', actions: 'stopClock' } },
              after: {
                agentLimit: {
                  target: '#agent.terminating.stopping',
                  actions: [notes.timedOut, timeout('agent_timeout')],
                },
              },
            },
            paused: {
              on: { 'clock.continue': { target: 'counting', actions: 'continueClock' } },
            },
          },
        },
        activity: {
          initial: 'working',
          states: {
            working: {
              on: {
                'delegation.requested': [
                  repeated,
                  { guard: 'isUnknownExpert', actions: refusing('unknownExpert') },
                  { guard: 'isAtDelegationLimit', actions: refusing('delegationLimit') },
                  {
                    target: 'awaitingExpert',
                    actions: ['keepSeen', 'keepAction', 'delegate', 'beginDelegation'],
                  },
                ],
                'question.asked': [
                  repeated,
                  {
                    target: 'awaitingHuman',
                    actions: ['keepSeen', 'keepAction', 'keepQuestion', 'tellQuestion'],
                  },
                ],
              },
            },
            awaitingExpert: {
              tags: 'waiting',
              entry: 'sayStopClock',
              exit: 'sayContinueClock',
              on: {
                ...waiting,
                'expert.answered': {
                  guard: 'isOwnDelegation',
                  target: 'working',
                  actions: ['passExpertAnswer', 'addExpertUsage', 'forgetDelegation'],
                },
              },
            },
            awaitingHuman: {
              tags: 'waiting',
              entry: 'sayStopClock',
              exit: 'sayContinueClock',
              on: {
                ...waiting,
                'human.answered': {
                  guard: 'isOwnQuestion',
                  target: 'working',
                  actions: ['passHumanAnswer', 'forgetQuestion'],
                },
              },
            },
          },
        },
        interval,
        checkpoint,
        idleLimit: {
          initial: 'choosing',
          states: {
            choosing: {
              always: [{ guard: 'hasIdleLimit', target: 'armed' }, { target: 'off' }],
            },
            off: {},
            armed: {
              on: {
                'line.seen': { target: 'armed', reenter: true, actions: 'keepLine' },
                'clock.stop': 'frozen',
              },
              after: {
                idleLimit: {
                  target: '#agent.terminating.stopping',
                  actions: [notes.idle, timeout('idle')],
                },
              },
            },
            frozen: { on: { 'clock.continue': { target: 'armed', actions: 'keepLine' } } },
          },
        },
        budget: {
          initial: 'within',
          states: {
            within: {
              always: {
                guard: 'isUsedUp',
                target: '#agent.terminating.stopping',
                actions: [notes.overBudget, timeout('budget')],
              },
            },
          },
        },
      },
    },
    ...endings('agent', 'ended'),
    ended: {
      type: 'final',
      entry: ['keepEnd', notes.ended, 'noteRecovered', 'releaseDelegation', 'tellTask'],
    },
  },
});
