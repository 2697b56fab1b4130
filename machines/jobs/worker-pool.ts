/**
 * The workers of a datacenter, their free cores, and who waits for them.
 *
 *   suspended ──leadership.acquired──▶ serving.waiting ──slot.requested | slot.released | worker.changed──▶ serving.placing
 *       ▲                                    ▲                                                                  │
 *       └────────leadership.lost─────────────┴──────────no request in the queue fits a worker───────────────────┘
 *
 * Guarantees: a placement reserves the cores and says so in one turn; reserved cores are never
 * fewer than none nor more than there are; a worker that this leader has not heard gets nothing.
 * It numbers registrations. It does not judge workers: `worker-health` tells how they are.
 */

import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import { type Born, hint, spawnRoot, type Timed, to } from '../../runtime/machine.ts';
import { workerAddress, workerHealthAddress, workflowAddress, workflowIdOf } from './addresses.ts';
import type {
  LeadershipAcquired,
  LeadershipLost,
  MessageRefused,
  RegistrationTold,
  SlotFull,
  SlotGranted,
  SlotReleased,
  SlotRequested,
  SlotWithdrawn,
  WorkerChanged,
  WorkerLost,
} from './messages/local.ts';
import type { RegisterAnswered, WorkerRegistered } from './messages/worker.ts';
import type { HealthRules } from './rules.ts';
import {
  isSame,
  type Placed,
  type PooledWorker,
  place,
  QUEUE_MAX,
  request,
  reserved,
  type SlotRequest,
  type Workers,
} from './worker-pool/placement.ts';

export type WorkerPoolEvent = Timed<
  | WorkerRegistered
  | WorkerChanged
  | WorkerLost
  | SlotRequested
  | SlotWithdrawn
  | SlotReleased
  | LeadershipAcquired
  | LeadershipLost
  | MessageRefused
>;

export interface WorkerPoolInput {
  readonly datacenter: string;
  readonly term: number;
  /** For the workers' health, which is born here. */
  readonly rules: HealthRules;
}

export interface WorkerPoolContext extends WorkerPoolInput {
  readonly workers: Workers;
  readonly queue: readonly SlotRequest[];
  /** The number of the last registration of any worker. */
  readonly registrations: number;
  /** Somebody was turned away since room was last announced. */
  readonly hasTurnedAway: boolean;
}

/** Room is announced when the queue is half empty. */
const ROOM_AT = QUEUE_MAX / 2;

const workflowOf = ({ jobId, attemptId }: SlotRequest, datacenter: string) =>
  workflowAddress(jobId, workflowIdOf(attemptId), datacenter);

const grants = (context: WorkerPoolContext, { placements, workers }: Placed) =>
  placements.map(({ request: asked, workerId }) => {
    const { registration, bootEpoch } = workers[workerId] as Workers[string];
    const granted: SlotGranted = {
      type: 'slot.granted',
      attemptId: asked.attemptId,
      workerId,
      registration,
      bootEpoch,
      cores: asked.cores,
      term: context.term,
    };
    return { to: workflowOf(asked, context.datacenter), granted };
  });

/** What an event does to workers and queue. */
function settled(context: WorkerPoolContext, event: WorkerPoolEvent): Placed {
  const { workers, queue } = context;
  switch (event.type) {
    case 'slot.requested': {
      const { type: _, at: __, dueAt: ___, ...asked } = event;
      return request(workers, queue, asked);
    }
    case 'slot.withdrawn':
      return { workers, queue: queue.filter((asked) => !isSame(asked, event)), placements: [] };
    case 'slot.released':
      return released(context, event);
    case 'message.refused':
      // Whoever was granted a slot has ended.
      return event.event.type === 'slot.granted'
        ? released(context, event.event as unknown as SlotReleased)
        : { workers, queue, placements: [] };
    case 'worker.changed': {
      const { workerId, registration, state, heard, term } = event;
      const worker = workers[workerId];
      if (worker?.registration !== registration) return { workers, queue, placements: [] };
      // What was heard by a leader before this one does not count.
      const isHeard = worker.heard || (heard && term >= context.term);
      const now = { ...workers, [workerId]: { ...worker, state, heard: isHeard } };
      return place(now, queue, workerId);
    }
    case 'worker.lost': {
      if (workers[event.workerId]?.registration !== event.registration)
        return { workers, queue, placements: [] };
      const { [event.workerId]: _, ...rest } = workers;
      return place(rest, queue);
    }
    case 'worker.registered':
      return place(workers, queue);
    default:
      return { workers, queue, placements: [] };
  }
}

function released(
  { workers, queue }: WorkerPoolContext,
  { workerId, registration, cores }: Pick<SlotReleased, 'workerId' | 'registration' | 'cores'>,
): Placed {
  // Of a registration that is gone nothing is reserved.
  if (workers[workerId]?.registration !== registration) return { workers, queue, placements: [] };
  return place(reserved(workers, workerId, -cores), queue, workerId);
}

export const workerPoolMachine = setup({
  types: {
    context: {} as WorkerPoolContext,
    events: {} as WorkerPoolEvent,
    input: {} as Born<WorkerPoolInput>,
  },
  actions: {
    /** Done by the program: tells workflows that were turned away that there is room. */
    announceRoom: () => {},
    placeWhatFits: enqueueActions(({ context, event, enqueue }) => {
      const placed = settled(context, event);
      const { workers, queue } = placed;
      enqueue.assign({ workers, queue });
      for (const { to: workflow, granted } of grants(context, placed))
        enqueue.sendTo(to(workflow), granted);
      const { turnedAway } = placed as Partial<ReturnType<typeof request>>;
      if (turnedAway !== undefined) {
        const full: SlotFull = { type: 'slot.full', attemptId: turnedAway.attemptId };
        enqueue.sendTo(to(workflowOf(turnedAway, context.datacenter)), full);
        enqueue.assign({ hasTurnedAway: true });
      } else if (context.hasTurnedAway && queue.length <= ROOM_AT) {
        enqueue.assign({ hasTurnedAway: false });
        enqueue('announceRoom');
      }
    }),
    register: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'worker.registered');
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
        ? { ...known, handlers }
        : {
            ...{ registration, bootEpoch, coresTotal, handlers },
            ...{ coresReserved: 0, state: 'healthy', heard: false },
          };
      enqueue.assign({
        workers: { ...context.workers, [workerId]: worker },
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
    takeOver: assign(({ context, event }) => {
      assertEvent(event, 'leadership.acquired');
      const unheard = Object.entries(context.workers).map(
        ([workerId, worker]) => [workerId, { ...worker, heard: false }] as const,
      );
      return { term: event.fence, workers: Object.fromEntries(unheard) };
    }),
  },
  guards: {
    isFirstPage: ({ event }) => event.type === 'worker.registered' && event.page === 1,
  },
}).createMachine({
  id: 'workerPool',
  context: ({ input: { datacenter, term, rules } }) => ({
    datacenter,
    term,
    rules,
    workers: {},
    queue: [],
    registrations: 0,
    hasTurnedAway: false,
  }),
  initial: 'serving',
  states: {
    suspended: {},
    serving: {
      initial: 'waiting',
      on: {
        'leadership.lost': 'suspended',
        'worker.registered': { guard: 'isFirstPage', target: '.placing', actions: 'register' },
      },
      states: {
        waiting: {
          on: {
            'slot.requested': 'placing',
            'slot.withdrawn': 'placing',
            'slot.released': 'placing',
            'worker.changed': 'placing',
            'worker.lost': 'placing',
            'message.refused': 'placing',
          },
        },
        placing: { entry: 'placeWhatFits', always: 'waiting' },
      },
    },
  },
  on: {
    // Also of one that led before: a leader that died sent no `leadership.lost`.
    'leadership.acquired': { target: '.serving', actions: ['takeOver', 'announceRoom'] },
  },
});
