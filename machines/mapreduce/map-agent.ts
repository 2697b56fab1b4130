/**
 * Map agent: one attempt at one item, bounded in time.
 *
 *   preparing ──agent.started (at once without a worktree)──▶ running ──ends with 0──▶ cleaning.done ──▶ done ■
 *      │ preparation.failed                                    │ │ └─ and nothing is left ───────────▶ done ■
 *      └──────────────▶ cleaning.failed ──▶ failed ■ ◀── … ◀───┘ ├─ out of quota ──▶ cleaning.deferred ──▶ deferred ■
 *                                          ends otherwise        │
 *   running, each limit a region of its own:                     │ after agentLimit, commandLimit, idleLimit;
 *     work          commandStarting ──command.spawned──▶         │ over its budget; agent.cancel
 *                         ▲                  commandActive       ▼
 *                         └───command.ended, more steps──┘    terminating
 *     agentLimit    untimed, armed ─after agentLimit─▶ expired   stopping ──group.emptied──▶ cleaning.timedOut,
 *     commandLimit  off, clipped,                                  │  ▲                      .cancelled, .interrupted
 *                   armed ─after commandLimit─▶ expired            │  └─after grace, next signal
 *     idleLimit     off, armed ─after idleLimit─▶ expired          ├─after grace, agent.kill──▶ killing ──▶ cleaning.…
 *                                                                  killing, killingAgain ──group.emptied──▶ …
 *     budget        within ──over it──▶ overdrawn
 *
 *   cleaning.… ──cleanup.finished, after cleanupLimit──▶ done, failed, timedOut, cancelled, interrupted, deferred ■
 *
 * The cause is fixed when `running` is left: what is reported afterwards changes nothing but what is known of
 * processes. `expired` and `overdrawn` are of shadow mode, where limits are told and nothing is stopped. Where
 * the deadlines of agent and command fall together the command's is `clipped`, and the timeout is the agent's.
 * A runner that begins again finds attempts of the one before: what was decided stays decided and its group is
 * killed, any other attempt is interrupted. A group that was gone when it was to be killed has ended by itself; of
 * one that a runner before was to kill (`killingAgain`) nobody knows. Cleaning never changes the outcome.
 */

import { initialAgent } from './map-agent/context.ts';
import {
  cleaningAs,
  commandFailed,
  emptied,
  endedAs,
  extending,
  keepFailure,
  killGroup,
  limitOfCommand,
  ranOut,
  type Said,
  unexpected,
} from './map-agent/edges.ts';
import * as notes from './map-agent/log-events.ts';
import { mapAgentSetup, named } from './map-agent/setup.ts';

export type { MapAgentContext } from './map-agent/context.ts';

export const mapAgentMachine = mapAgentSetup.createMachine({
  id: 'mapAgent',
  context: ({ input }) => initialAgent(input),
  initial: 'preparing',
  on: unexpected,
  states: {
    preparing: {
      initial: 'choosing',
      on: {
        'agent.started': 'running',
        'preparation.failed': {
          target: 'cleaning.failed',
          actions: keepFailure('WorktreeError', ({ message }: Said) => message),
        },
        'agent.cancel': [
          { guard: 'isInterruption', target: 'cleaning.interrupted' },
          { target: 'cleaning.cancelled' },
        ],
        'leadership.acquired': 'cleaning.interrupted',
      },
      states: {
        choosing: {
          always: [
            { guard: 'needsPreparation', target: 'waiting' },
            { target: '#mapAgent.running' },
          ],
        },
        waiting: { entry: { type: 'prepare', params: named } },
      },
    },
    running: {
      type: 'parallel',
      tags: 'running',
      entry: ['begin', notes.started],
      on: {
        'agent.cancel': { target: 'terminating', actions: 'keepStopCause' },
        'leadership.acquired': { target: 'terminating.killing', actions: 'keepStopCause' },
      },
      states: {
        work: {
          initial: 'commandStarting',
          on: {
            'command.ended': [
              {
                guard: 'isOutOfQuota',
                target: '#mapAgent.cleaning.deferred',
                actions: ['keepEnded', notes.commandCompleted],
              },
              {
                guard: 'endsWellWithMore',
                target: '.commandStarting',
                actions: ['keepEnded', notes.commandCompleted],
              },
              {
                guard: 'endsWellAndClean',
                target: '#mapAgent.done',
                actions: ['keepEnded', notes.commandCompleted],
              },
              {
                guard: 'endsWell',
                target: '#mapAgent.cleaning.done',
                actions: ['keepEnded', notes.commandCompleted],
              },
              {
                guard: 'isCurrent',
                target: '#mapAgent.cleaning.failed',
                actions: [commandFailed, 'keepEnded', notes.commandCompleted],
              },
            ],
            'command.refused': {
              guard: 'isCurrent',
              target: '#mapAgent.cleaning.failed',
              actions: keepFailure('ValidationFailed', ({ message }: Said) => message),
            },
          },
          states: {
            commandStarting: {
              entry: [
                'beginCommand',
                'changeLimits',
                notes.commandStarted,
                {
                  type: 'startCommand',
                  params: (args) => ({
                    ...named(args),
                    index: args.context.command?.index ?? 0,
                    isUntimed: args.context.enforcementFailure !== null,
                  }),
                },
              ],
              on: {
                'command.spawned': {
                  guard: 'isCurrent',
                  target: 'commandActive',
                  actions: 'keepGroup',
                },
                'registration.refused': [
                  {
                    guard: 'runsUntimed',
                    target: 'commandStarting',
                    reenter: true,
                    actions: ['keepUnavailable', notes.unavailable],
                  },
                  {
                    target: '#mapAgent.cleaning.failed',
                    actions: [
                      'keepUnavailable',
                      notes.unavailable,
                      keepFailure('Unknown', ({ message }: Said) => message),
                    ],
                  },
                ],
              },
            },
            commandActive: {},
          },
        },
        agentLimit: {
          initial: 'choosing',
          states: {
            choosing: {
              always: [{ guard: 'hasAgentLimit', target: 'armed' }, { target: 'untimed' }],
            },
            untimed: {
              on: { 'timeout.extend': { guard: 'isExtensible', actions: extending } },
            },
            armed: {
              on: {
                'timeout.extend': {
                  guard: 'isExtensible',
                  target: 'armed',
                  reenter: true,
                  actions: extending,
                },
                'registration.refused': 'untimed',
              },
              after: { agentLimit: ranOut('agent', 'expired') },
            },
            expired: {},
          },
        },
        commandLimit: {
          initial: 'off',
          on: { 'limits.changed': limitOfCommand },
          states: {
            off: {},
            clipped: {},
            armed: { after: { commandLimit: ranOut('command', 'expired') } },
            expired: {},
          },
        },
        idleLimit: {
          initial: 'off',
          on: {
            'limits.changed': [{ guard: 'hasIdleLimit', target: '.armed' }, { target: '.off' }],
          },
          states: {
            off: {},
            armed: {
              on: {
                'output.seen': {
                  guard: 'isCurrent',
                  target: 'armed',
                  reenter: true,
                  actions: 'keepOutput',
                },
              },
              after: { idleLimit: ranOut('idle', 'expired') },
            },
            expired: {},
          },
        },
        budget: {
          initial: 'within',
          states: {
            within: {
              always: [
                { ...ranOut('budget', 'overdrawn')[0], guard: 'isOverdrawnAndEnforced' },
                { ...ranOut('budget', 'overdrawn')[1], guard: 'isOverdrawn' },
              ],
            },
            overdrawn: {},
          },
        },
      },
    },
    terminating: {
      initial: 'choosing',
      on: {
        'command.ended': { guard: 'isCurrent', actions: 'keepEnded' },
        'leadership.acquired': '.killing',
      },
      states: {
        choosing: {
          always: [{ guard: 'hasSignalLeft', target: 'stopping' }, { target: 'killing' }],
        },
        stopping: {
          entry: [
            'countSignal',
            {
              type: 'signalGroup',
              params: (args) => ({
                ...named(args),
                signal:
                  args.context.rules.termination[args.context.signalsSent - 1]?.signal ?? 'SIGTERM',
              }),
            },
          ],
          on: { 'group.emptied': emptied('GracefulTermination'), 'agent.kill': 'killing' },
          after: { grace: 'choosing' },
        },
        killing: {
          entry: killGroup,
          on: {
            'group.emptied': [
              { ...emptied('GracefulTermination')[0], guard: 'timedOutAndEndedItself' },
              ...emptied('ForceTermination'),
            ],
            'leadership.acquired': 'killingAgain',
          },
          after: { killLimit: emptied('ForceTermination') },
        },
        killingAgain: {
          entry: killGroup,
          on: {
            'group.emptied': emptied('ForceTermination'),
            'leadership.acquired': { target: 'killingAgain', reenter: true },
          },
          after: { killLimit: emptied('ForceTermination') },
        },
      },
    },
    cleaning: {
      initial: 'done',
      states: {
        done: cleaningAs('done'),
        failed: cleaningAs('failed'),
        timedOut: cleaningAs('timedOut'),
        cancelled: cleaningAs('cancelled'),
        interrupted: cleaningAs('interrupted'),
        deferred: cleaningAs('deferred'),
      },
    },
    done: endedAs('done'),
    failed: endedAs('failed'),
    timedOut: endedAs('timedOut'),
    cancelled: endedAs('cancelled'),
    interrupted: endedAs('interrupted'),
    deferred: endedAs('deferred'),
  },
});
