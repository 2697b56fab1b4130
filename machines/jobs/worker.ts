/**
 * Worker, for as long as its process lives.
 *
 * active (parallel)
 *   membership  joining ──register.answered | heartbeat.acked | leader.announced──▶ member
 *                  ▲─────────────────registerAgain | manager.lost─────────────────────┘
 *               calling ⟲ after registerPause ◀── pausing (a heartbeat goes first)
 *   manager     unheard ──register.answered | leader.announced──▶ heard
 *               heard ──after silenceLimit | manager.unreachable──▶ gone
 *                 ▲                        waiting ──after orphanGrace──▶ givenUp
 *                 └───acked | answered | announced | dispatched───┘
 *   heartbeat   quiet ──register.answered | leader.announced──▶ beating ⟲ after heartbeatPause
 *   work        open ──worker.stop──▶ draining ──after drainLimit──▶ closing ──after closingLimit──▶ stopped ■
 *                 └──turned away by the datacenter─────────────────────▲   (at once when it holds nothing)
 *
 * Guarantees: an attempt runs once, however often it is dispatched; no command of a leader is obeyed
 * once a later one was heard of; heartbeats list in turn every attempt held when they leave, and at once those
 * that got further; the free cores are what all of them leave over. Without a manager the attempts go on for the grace and are then
 * stopped without a word. It lives in memory: a worker that starts again is somebody else.
 */

import { raise } from 'xstate';
import { rangeFrom } from './worker/attempts.ts';
import { initialWorker, type WorkerContext, type WorkerEvent } from './worker/context.ts';
import { workRegion } from './worker/orders.ts';
import { workerSetup } from './worker/setup.ts';

type Args = { readonly context: WorkerContext; readonly event: WorkerEvent };

const orphaned = (cause: string) =>
  ({
    type: 'note',
    params: ({ context, event }: Args) => ({
      event: 'worker.orphaned' as const,
      at: event.at,
      datacenter: context.datacenter,
      workerId: context.workerId,
      cause,
      attempts: context.attempts.size,
    }),
  }) as const;

const composeHeartbeat = {
  type: 'composeHeartbeat',
  params: ({ context: { attempts, listsFrom } }: Args) => rangeFrom(attempts, listsFrom),
} as const;

export const workerMachine = workerSetup.createMachine({
  id: 'worker',
  context: ({ input }) => initialWorker(input),
  output: ({ context: { refusal } }) => ({ refusal }),
  initial: 'active',
  states: {
    active: {
      type: 'parallel',
      states: {
        membership: {
          initial: 'joining',
          states: {
            joining: {
              initial: 'calling',
              on: {
                'register.answered': {
                  guard: 'isWelcome',
                  target: 'member',
                },
                // It is known to the leader after all.
                'heartbeat.acked': {
                  guard: 'isKept',
                  target: 'member',
                },
                'leader.announced': { guard: 'isCurrent', target: 'member' },
                'manager.reachable': { target: '.calling', actions: 'forgetRegistrations' },
                'registration.composed': {
                  actions: 'sendRegistration',
                },
              },
              states: {
                calling: {
                  entry: ['composeRegistration', 'countRegistration'],
                  after: { registerPause: { target: 'calling', reenter: true } },
                },
                // A heartbeat goes first: a worker that is known need not register.
                pausing: { after: { registerPause: 'calling' } },
              },
            },
            member: {
              entry: 'forgetRegistrations',
              on: {
                'heartbeat.acked': {
                  guard: 'mustRegister',
                  target: 'joining',
                },
                'manager.lost': 'joining.pausing',
              },
            },
          },
        },
        manager: {
          initial: 'unheard',
          on: {
            'register.answered': {
              guard: 'isWelcome',
              target: '.heard',
            },
          },
          states: {
            unheard: {
              // The answer to its registration may have been lost with the leader before.
              on: { 'leader.announced': { guard: 'isCurrent', target: 'heard' } },
            },
            heard: {
              on: {
                'heartbeat.acked': {
                  guard: 'isCurrent',
                  target: 'heard',
                  reenter: true,
                },
                'leader.announced': {
                  guard: 'isCurrent',
                  target: 'heard',
                  reenter: true,
                },
                'manager.unreachable': {
                  target: 'gone',
                  actions: [
                    orphaned('connectionClosed'),
                    raise({ type: 'manager.lost' } as WorkerEvent),
                  ],
                },
              },
              after: {
                silenceLimit: {
                  target: 'gone',
                  actions: [orphaned('noAnswer'), raise({ type: 'manager.lost' } as WorkerEvent)],
                },
              },
            },
            gone: {
              initial: 'waiting',
              on: {
                'heartbeat.acked': {
                  guard: 'isCurrent',
                  target: 'heard',
                },
                'leader.announced': {
                  guard: 'isCurrent',
                  target: 'heard',
                },
                'dispatch.requested': {
                  guard: 'isCurrent',
                  target: 'heard',
                },
              },
              states: {
                waiting: {
                  after: {
                    orphanGrace: {
                      target: 'givenUp',
                      actions: [orphaned('graceOver'), 'dropAll'],
                    },
                  },
                },
                givenUp: {},
              },
            },
          },
        },
        heartbeat: {
          initial: 'quiet',
          states: {
            quiet: {
              on: {
                'register.answered': {
                  guard: 'isWelcome',
                  target: 'beating',
                },
                'leader.announced': { guard: 'isCurrent', target: 'beating' },
              },
            },
            beating: {
              on: {
                'heartbeat.composed': {
                  actions: 'sendHeartbeat',
                },
                'manager.lost': { actions: composeHeartbeat },
                'manager.reachable': { actions: composeHeartbeat },
              },
              after: {
                heartbeatPause: { target: 'beating', reenter: true, actions: composeHeartbeat },
              },
            },
          },
        },
        work: workRegion,
      },
    },
    stopped: { type: 'final' },
  },
});
