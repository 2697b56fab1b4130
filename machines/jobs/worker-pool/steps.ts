/**
 * Steps of a worker pool: what each event does to its workers, to its lanes, and to what it looks for. The
 * statechart is in worker-pool.ts.
 */

import type {
  RegistrationTold,
  SlotReleased,
  SlotRequested,
  WorkerChanged,
  WorkerLost,
} from '../messages/local.ts';
import type { WorkerRegistered } from '../messages/worker.ts';
import { laneName } from '../ranks.ts';
import type { WorkerPoolContext, WorkerPoolEvent } from './context.ts';
import {
  asWaiting,
  inserted,
  isCovered,
  isSame,
  type Lanes,
  newLane,
  within,
  withMore,
} from './lanes.ts';
import {
  bestWorker,
  isServed,
  type Placement,
  type PooledWorker,
  place,
  reserved,
  type Workers,
} from './placement.ts';
import {
  isUnexplored,
  outrun,
  type Search,
  servedLanes,
  takeFound,
  takeLanes,
  withdrawnFrom,
  withoutBarren,
} from './searching.ts';

/** Changes of the pool, and the placements made. */
export interface Settled {
  readonly workers?: Workers;
  readonly lanes?: Lanes;
  readonly search?: Search | null;
  readonly unexplored?: readonly string[];
  readonly placements?: readonly Placement[];
}

const NOTHING: Settled = {};

/** An attempt that has not been placed before is the first run of its workflow. */
const isFirstRun = ({ attemptId }: { readonly attemptId: string }): boolean =>
  attemptId.endsWith('#1');

export const laneOf = (asked: Pick<SlotRequested, 'handler' | 'cores' | 'attemptId'>): string =>
  laneName(asked.handler, asked.cores, isFirstRun(asked));

export function settled(context: WorkerPoolContext, event: WorkerPoolEvent): Settled {
  const { workers, lanes } = context;
  switch (event.type) {
    case 'slot.requested':
      return requested(context, event);
    case 'slot.withdrawn':
      return withdrawn(context, event);
    case 'slot.released':
    case 'message.refused': {
      const given = givenBack(event);
      return given === undefined ? untold(context, event) : released(context, given);
    }
    case 'worker.changed':
      return changed(context, event);
    case 'worker.lost':
      return lost(context, event);
    case 'worker.registered':
      return place(workers, lanes);
    case 'lanes.found':
      return { ...takeLanes(context, event), search: null };
    case 'waiting.found': {
      const { workers: left, lanes: longer, placements } = takeFound(context, event);
      const placed = place(left, longer);
      const all = [...placements, ...placed.placements];
      return { ...kept(context, placed.lanes, null), workers: placed.workers, placements: all };
    }
    default:
      return NOTHING;
  }
}

/** A new request: placed at once, among those in memory, or left to the index, which has it already. */
function requested(context: WorkerPoolContext, asked: SlotRequested): Settled {
  const { workers, lanes, search } = context;
  const name = laneOf(asked);
  const lane = lanes[name] ?? newLane(name, !isUnexplored(context, name));
  // When a worker comes that is large enough it is found.
  if (!isServed(workers, lane)) return NOTHING;
  const one = asWaiting(asked);
  if (!isCovered(lane, one.order)) {
    const { order } = one;
    const now = outrun(search, { lane: name, order });
    return { lanes: { ...lanes, [name]: withMore(lane) }, search: now };
  }
  if (lane.waiting.some((other) => isSame(one, other))) return NOTHING;
  const workerId = bestWorker(workers, lane, one);
  if (workerId === undefined)
    return kept(context, { ...lanes, [name]: inserted(lane, one) }, search);
  const { cores } = lane;
  return {
    workers: reserved(workers, workerId, cores),
    placements: [{ request: one, cores, workerId }],
  };
}

/** No more than there is room for: what is too much is left to the index. */
function kept({ queueMax }: WorkerPoolContext, lanes: Lanes, search: Search | null): Settled {
  const { lanes: now, changed } = within(lanes, queueMax);
  return { lanes: now, search: changed.reduce((known, lane) => outrun(known, { lane }), search) };
}

function withdrawn(
  { lanes, search }: WorkerPoolContext,
  one: { readonly jobId: string; readonly attemptId: string },
): Settled {
  for (const [name, lane] of Object.entries(lanes)) {
    const waiting = lane.waiting.filter((other) => !isSame(one, other));
    if (waiting.length < lane.waiting.length)
      return { lanes: { ...lanes, [name]: { ...lane, waiting } } };
  }
  return { search: withdrawnFrom(search, one) };
}

type GivenBack = Pick<SlotReleased, 'workerId' | 'registration' | 'cores'>;

/** Also by one who was granted cores and has ended. */
function givenBack(event: WorkerPoolEvent): GivenBack | undefined {
  if (event.type === 'slot.released') return event;
  const isGrant = event.type === 'message.refused' && event.event.type === 'slot.granted';
  return isGrant ? (event.event as unknown as GivenBack) : undefined;
}

/** Cores that are given back, when they are more than are reserved. */
export function overdrawn(
  { workers }: WorkerPoolContext,
  event: WorkerPoolEvent,
): (GivenBack & { readonly coresReserved: number }) | undefined {
  const { workerId = '', registration, cores = 0 } = givenBack(event) ?? {};
  const worker = workers[workerId];
  if (worker?.registration !== registration || registration === undefined) return undefined;
  const { coresReserved } = worker as PooledWorker;
  if (cores <= coresReserved) return undefined;
  return { workerId, registration, cores, coresReserved };
}

function released(
  { workers, lanes }: WorkerPoolContext,
  { workerId, registration, cores }: GivenBack,
): Settled {
  // Of a registration that is gone nothing is reserved.
  if (workers[workerId]?.registration !== registration) return NOTHING;
  return place(reserved(workers, workerId, -cores), lanes, workerId);
}

function changed({ workers, lanes, term: ours }: WorkerPoolContext, event: WorkerChanged): Settled {
  const { workerId, registration, state, heard, term } = event;
  const worker = workers[workerId];
  if (worker?.registration !== registration) return NOTHING;
  // What was heard by a leader before this one does not count.
  const isHeard = worker.heard || (heard && term >= ours);
  const known = { ...worker, state, heard: isHeard, isTold: false };
  return place({ ...workers, [workerId]: known }, lanes, workerId);
}

/** A registration that comes again before its health has answered; one with other handlers is news. */
export function isToldAlready({ workers }: WorkerPoolContext, event: WorkerRegistered): boolean {
  const known = workers[event.workerId];
  if (known?.bootEpoch !== event.bootEpoch || known.isTold !== true) return false;
  const { handlers } = event;
  return (
    known.handlers.length === handlers.length &&
    handlers.every((one) => known.handlers.includes(one))
  );
}

/** A registration that its health did not take: the next one that comes is told again. */
function untold({ workers }: WorkerPoolContext, event: WorkerPoolEvent): Settled {
  if (event.type !== 'message.refused' || event.event.type !== 'registration.told') return NOTHING;
  const { registration } = event.event as unknown as RegistrationTold;
  const found = Object.entries(workers).find(([, worker]) => worker.registration === registration);
  if (found === undefined) return NOTHING;
  const [workerId, worker] = found;
  return { workers: { ...workers, [workerId]: { ...worker, isTold: false } } };
}

function lost({ workers, lanes, search }: WorkerPoolContext, event: WorkerLost): Settled {
  const { workerId, registration } = event;
  if (workers[workerId]?.registration !== registration) return NOTHING;
  const { [workerId]: _, ...rest } = workers;
  return { ...place(rest, withoutBarren(servedLanes(rest, lanes))), search: recast(search) };
}

/** Search to make again, since who avoids whom may have changed. */
const recast = (search: Search | null): Search | null =>
  search?.what === 'fitting' ? outrun(search, search) : search;

/** A worker came, or came again with other handlers: in what he can do somebody may wait already. */
export function withWorker(
  { workers, lanes, search, unexplored }: WorkerPoolContext,
  workerId: string,
  worker: PooledWorker,
): Pick<WorkerPoolContext, 'workers' | 'lanes' | 'search' | 'unexplored'> {
  const before = workers[workerId];
  const isSameOne = before?.registration === worker.registration;
  const known = isSameOne ? before.handlers : [];
  const added = worker.handlers.filter((handler) => !known.includes(handler));
  const now = { ...workers, [workerId]: worker };
  return {
    workers: now,
    lanes: withoutBarren(servedLanes(now, lanes)),
    unexplored: [...new Set([...unexplored, ...added])],
    search: added.reduce((under, handler) => outrun(under, { handler }), recast(search)),
  };
}

/**
 * Handlers that workers offer: a new leader looks for all of them, as it does not know what the one
 * before had found.
 */
export const offeredHandlers = (workers: Workers): readonly string[] => [
  ...new Set(Object.values(workers).flatMap(({ handlers }) => handlers)),
];
