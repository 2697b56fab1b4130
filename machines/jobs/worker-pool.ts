/**
 * Worker pool: the workers of a datacenter, their free cores, and the workflows that wait for them.
 *
 *   serving (parallel), again at each leadership.acquired
 *   ├─ placing    waiting ──slot.requested | slot.released | worker.changed──▶ placing
 *   │                ▲──────────nothing in memory fits a worker──────────────────┘
 *   └─ searching  idle ──[somebody may wait of whom it does not know]──▶ looking
 *                    ▲──────lanes.found | waiting.found | searchLimit────────┘
 *
 * Guarantees: a placement reserves the cores and says so in one turn; reserved cores are never
 * fewer than none nor more than there are; a worker that this leader has not heard gets nothing.
 * Work is conserved and fair: in memory are the first of each lane (worker-pool/lanes.ts), `queueMax`
 * of them in all; the others stand in the store's index, from where they are fetched in the order of
 * acceptance as soon as half of those in memory are gone. It numbers registrations. It does not judge
 * workers: `worker-health` tells how they are.
 */

import type { WorkerPoolContext, WorkerPoolEvent } from './worker-pool/context.ts';
import type { Search } from './worker-pool/searching.ts';
import { workerPoolSetup } from './worker-pool/setup.ts';
import { overdrawn } from './worker-pool/steps.ts';

export type { WorkerPoolContext, WorkerPoolEvent, WorkerPoolInput } from './worker-pool/context.ts';

/** More is given back than there is: the miscount is to be found, so the sum stays and a log event says so. */
const miscounted = {
  guard: 'isMiscounted',
  actions: {
    type: 'note',
    params: ({ context, event }: { context: WorkerPoolContext; event: WorkerPoolEvent }) => ({
      event: 'cores.miscounted' as const,
      at: event.at,
      datacenter: context.datacenter,
      ...overdrawn(context, event),
    }),
  },
} as const;

export const workerPoolMachine = workerPoolSetup.createMachine({
  id: 'workerPool',
  context: ({ input: { datacenter, term, rules, queueMax } }) => ({
    datacenter,
    term,
    rules,
    queueMax,
    workers: {},
    lanes: {},
    unexplored: [],
    registrations: 0,
    search: null,
    searches: 0,
  }),
  initial: 'serving',
  states: {
    serving: {
      type: 'parallel',
      states: {
        placing: {
          initial: 'waiting',
          on: {
            'worker.registered': [
              // While its health has not answered there is nothing to tell again.
              { guard: 'isToldAlready' },
              { guard: 'isFirstPart', target: '.placing', actions: 'register' },
            ],
            'lanes.found': { guard: 'isAnswer', target: '.placing' },
            'waiting.found': { guard: 'isAnswer', target: '.placing' },
            'limits.told': { actions: 'keepLimits' },
          },
          states: {
            waiting: {
              on: {
                'slot.requested': 'placing',
                'slot.withdrawn': 'placing',
                'slot.released': [miscounted, { target: 'placing' }],
                'worker.changed': 'placing',
                'worker.lost': 'placing',
                'message.refused': [miscounted, { target: 'placing' }],
              },
            },
            placing: { entry: 'placeWhatFits', always: 'waiting' },
          },
        },
        searching: {
          initial: 'idle',
          states: {
            idle: { always: { guard: 'hasToSearch', target: 'looking' } },
            looking: {
              entry: [
                'beginSearch',
                { type: 'findWaiting', params: ({ context }) => context.search as Search },
              ],
              on: {
                'lanes.found': { guard: 'isAnswer', target: 'idle' },
                'waiting.found': { guard: 'isAnswer', target: 'idle' },
              },
              after: { searchLimit: 'idle' },
            },
          },
        },
      },
    },
  },
  on: {
    // A leader that is deposed is told nothing: its actors are let go.
    'leadership.acquired': { target: '.serving', actions: 'takeOver' },
  },
});
