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

import { assign, enqueueActions, setup } from 'xstate';
import { hint, type Spawned, spawnRoot, type Timed, to } from '../../runtime/machine.ts';
import { givenEvents } from '../given.ts';
import { workerAddress, workerHealthAddress, workflowAddress, workflowIdOf } from './addresses.ts';
import type { LogEvent } from './log-events.ts';
import type {
  LanesFound,
  LeadershipAcquired,
  LimitsTold,
  MessageRefused,
  RegistrationTold,
  SlotGranted,
  SlotReleased,
  SlotRequested,
  SlotWithdrawn,
  WaitingFound,
  WorkerChanged,
  WorkerLost,
} from './messages/local.ts';
import type { RegisterAnswered, WorkerRegistered } from './messages/worker.ts';
import type { HealthRules } from './rules.ts';
import { type Lanes, withoutEmpty } from './worker-pool/lanes.ts';
import type { Placement, PooledWorker, Workers } from './worker-pool/placement.ts';
import { type Known, nextSearch, type Search } from './worker-pool/searching.ts';
import {
  isToldAlready,
  offeredHandlers,
  overdrawn,
  settled,
  withWorker,
} from './worker-pool/steps.ts';

export type WorkerPoolEvent = Timed<
  | WorkerRegistered
  | WorkerChanged
  | WorkerLost
  | SlotRequested
  | SlotWithdrawn
  | SlotReleased
  | LanesFound
  | WaitingFound
  | LimitsTold
  | LeadershipAcquired
  | MessageRefused
>;

export interface WorkerPoolInput {
  readonly datacenter: string;
  readonly term: number;
  /** Rules for the workers' health, which is created here. */
  readonly rules: HealthRules;
  /** Workflows kept in memory that wait. */
  readonly queueMax: number;
}

export interface WorkerPoolContext extends WorkerPoolInput, Known {
  readonly workers: Workers;
  readonly lanes: Lanes;
  /** The number of the last registration of any worker. */
  readonly registrations: number;
  /** The number of the last search. */
  readonly searches: number;
}

const isAnswer = ({ search }: WorkerPoolContext, event: WorkerPoolEvent): boolean =>
  (event.type === 'lanes.found' || event.type === 'waiting.found') &&
  event.search === search?.number;

const grants = (context: WorkerPoolContext, placements: readonly Placement[], workers: Workers) =>
  placements.map(({ request: { jobId, attemptId }, cores, workerId }) => {
    const { registration, bootEpoch } = workers[workerId] as Workers[string];
    const { datacenter, term } = context;
    const granted: SlotGranted = {
      type: 'slot.granted',
      ...{ attemptId, workerId, registration, bootEpoch, cores, term },
    };
    return { to: workflowAddress(jobId, workflowIdOf(attemptId), datacenter), granted };
  });

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

const { keep, doing } = givenEvents<WorkerPoolContext, WorkerPoolEvent>();

export const workerPoolMachine = setup({
  types: {
    context: {} as WorkerPoolContext,
    events: {} as WorkerPoolEvent,
    input: {} as Spawned<WorkerPoolInput>,
  },
  actions: {
    note: (_, _params: LogEvent) => {},
    /** Done by the program: looks into the store's index, and answers with `lanes.found` or `waiting.found`. */
    findWaiting: (_, _params: Search) => {},
    placeWhatFits: enqueueActions(({ context, event, enqueue }) => {
      const { placements = [], ...next } = settled(context, event);
      enqueue.assign({ ...next, lanes: withoutEmpty(next.lanes ?? context.lanes) });
      const { workers = context.workers } = next;
      for (const { to: workflow, granted } of grants(context, placements, workers))
        enqueue.sendTo(to(workflow), granted);
    }),
    beginSearch: assign(({ context }) => {
      const sought = nextSearch(context);
      const number = context.searches + 1;
      const search = sought && { ...sought, number, isOutrun: false, withdrawn: [] };
      return { search: search ?? null, searches: number };
    }),
    register: doing('worker.registered', ({ context, event, enqueue }) => {
      const { workerId, bootEpoch, coresTotal, handlers } = event;
      const known = context.workers[workerId];
      if (known !== undefined && known.bootEpoch > bootEpoch) {
        const refusal: RegisterAnswered = {
          type: 'register.answered',
          workerId,
          bootEpoch,
          accepted: false,
          reason: 'duplicateNode',
          term: context.term,
          deadlineInMs: 0,
          stopAttempts: [],
        };
        enqueue.sendTo(hint(workerAddress(workerId, bootEpoch)), refusal);
        return;
      }
      const isAgain = known?.bootEpoch === bootEpoch;
      const registration = isAgain ? known.registration : context.registrations + 1;
      // One that comes again keeps what it had, but may have begun to stop: then it has no handlers any more.
      const worker: PooledWorker = isAgain
        ? { ...known, handlers, isTold: true }
        : {
            ...{ registration, bootEpoch, coresTotal, handlers },
            ...{ coresReserved: 0, state: 'healthy', heard: false, isTold: true },
          };
      enqueue.assign({
        ...withWorker(context, workerId, worker),
        registrations: Math.max(registration, context.registrations),
      });
      const { datacenter, term, rules } = context;
      const health = workerHealthAddress(workerId, datacenter);
      enqueue(spawnRoot(health, () => ({ workerId, datacenter, rules })));
      const told: RegistrationTold = {
        type: 'registration.told',
        registration,
        bootEpoch,
        coresTotal,
        handlers,
        term,
        attempts: event.attempts.map(({ jobId, attemptId }) => `${jobId}/${attemptId}`),
      };
      enqueue.sendTo(to(health), told);
    }),
    takeOver: keep('leadership.acquired', ({ context, event }) => {
      const unheard = Object.entries(context.workers).map(
        ([workerId, worker]) => [workerId, { ...worker, heard: false, isTold: false }] as const,
      );
      const workers = Object.fromEntries(unheard);
      return { term: event.fence, workers, search: null, unexplored: offeredHandlers(workers) };
    }),
    keepLimits: keep('limits.told', ({ event }) => ({ queueMax: event.queueMax })),
  },
  guards: {
    isToldAlready: ({ context, event }) =>
      event.type === 'worker.registered' && isToldAlready(context, event),
    isFirstPart: ({ event }) => event.type === 'worker.registered' && event.page === 1,
    isAnswer: ({ context, event }) => isAnswer(context, event),
    isMiscounted: ({ context, event }) => overdrawn(context, event) !== undefined,
    hasToSearch: ({ context }) => nextSearch(context) !== undefined,
  },
  delays: {
    /** An answer takes some milliseconds; one that was lost is asked for again. */
    searchLimit: 1_000,
  },
}).createMachine({
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
