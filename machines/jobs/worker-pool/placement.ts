/**
 * Placement of workflows on workers, as pure sums over what the worker pool remembers.
 *
 * Between two turns nothing that the pool has in memory fits anywhere. So a new request is tried
 * alone, and when a worker changes only that worker is tried, for all lanes in the order of acceptance.
 */

import type { Waiting } from '../messages/local.ts';
import type { WorkerState } from '../words.ts';
import type { Lane, Lanes } from './lanes.ts';

export interface PooledWorker {
  readonly registration: number;
  readonly bootEpoch: number;
  readonly coresTotal: number;
  readonly coresReserved: number;
  readonly handlers: readonly string[];
  readonly state: WorkerState;
  /** It has been heard since this leader took over: nothing is placed on one that was not. */
  readonly heard: boolean;
  /** Its health was told of the registration and has not answered yet: one that comes again adds nothing. */
  readonly isTold?: boolean;
}

/** Workers by id. */
export type Workers = Readonly<Record<string, PooledWorker>>;

export interface Placement {
  readonly request: Waiting;
  readonly cores: number;
  readonly workerId: string;
}

export interface Placed {
  readonly workers: Workers;
  readonly lanes: Lanes;
  readonly placements: readonly Placement[];
}

/** Demands of a lane on a worker. */
type Wanted = Pick<Lane, 'handler' | 'cores'>;

/**
 * Goes through all lanes in the order of acceptance: for the one worker that has more to give than
 * before, or, where one has gone or come, for all of them, because who was to be avoided may be the
 * only one left.
 */
export function place(workers: Workers, lanes: Lanes, only?: string): Placed {
  const placements: Placement[] = [];
  const left: Record<string, Waiting[]> = {};
  const open = Object.entries(lanes).filter(
    ([, lane]) => lane.waiting.length > 0 && (only === undefined || hasRoom(workers[only], lane)),
  );
  const next = open.map(() => 0);
  let now = workers;
  while (true) {
    const index = firstInOrder(open, next);
    if (index === undefined) break;
    const [name, lane] = open[index] as [string, Lane];
    const at = next[index] as number;
    const request = lane.waiting[at] as Waiting;
    next[index] = at + 1;
    const workerId = bestWorker(now, lane, request, only);
    if (workerId !== undefined) {
      placements.push({ request, cores: lane.cores, workerId });
      now = reserved(now, workerId, lane.cores);
    } else {
      // One that avoids nobody has no room anywhere: then none of its lane has.
      const end = isAvoiding(request) ? at + 1 : lane.waiting.length;
      next[index] = end;
      left[name] = [...(left[name] ?? []), ...lane.waiting.slice(at, end)];
    }
  }
  if (placements.length === 0) return { workers, lanes, placements };
  const changed = { ...lanes };
  for (const [name, lane] of open) changed[name] = { ...lane, waiting: left[name] ?? [] };
  return { workers: now, lanes: changed, placements };
}

/** Earliest accepted of the workflows that are next in their lanes. */
function firstInOrder(
  open: ReadonlyArray<readonly [string, Lane]>,
  next: readonly number[],
): number | undefined {
  let first: number | undefined;
  let order = '';
  for (let index = 0; index < open.length; index += 1) {
    const candidate = open[index]?.[1].waiting[next[index] as number];
    if (candidate === undefined || (first !== undefined && candidate.order >= order)) continue;
    first = index;
    order = candidate.order;
  }
  return first;
}

/** Cores change hands. Nothing is placed that does not fit, and what gives back too much is not taken. */
export function reserved(workers: Workers, workerId: string, cores: number): Workers {
  const worker = workers[workerId];
  if (worker === undefined) return workers;
  const coresReserved = worker.coresReserved + cores;
  return { ...workers, [workerId]: { ...worker, coresReserved } };
}

/** Most free cores first, then the lowest id; `only` leaves the choice to one worker. */
export function bestWorker(
  workers: Workers,
  lane: Wanted,
  asked: Waiting,
  only?: string,
): string | undefined {
  const mustTakeAvoided = !isAvoiding(asked) || !hasOther(workers, lane, asked);
  let best: string | undefined;
  let bestFree = -1;
  for (const workerId of only === undefined ? Object.keys(workers) : [only]) {
    const worker = workers[workerId];
    if (worker === undefined || !hasRoom(worker, lane)) continue;
    if (!mustTakeAvoided && isAvoided(workerId, worker, asked)) continue;
    const free = worker.coresTotal - worker.coresReserved;
    if (free < bestFree || (free === bestFree && best !== undefined && workerId > best)) continue;
    best = workerId;
    bestFree = free;
  }
  return best;
}

/** True when some registered worker could ever take what is in the lane. */
export const isServed = (workers: Workers, lane: Wanted): boolean =>
  Object.values(workers).some((worker) => isLargeEnough(worker, lane));

/** True when the worker may be given something of the lane now. */
export function hasRoom(worker: PooledWorker | undefined, lane: Wanted): boolean {
  if (worker === undefined) return false;
  const { state, heard, coresTotal, coresReserved } = worker;
  if (!heard || state === 'suspect' || state === 'evicted') return false;
  return isLargeEnough(worker, lane) && coresTotal - coresReserved >= lane.cores;
}

/** True when nothing but a lack of room keeps it from that worker. */
export function mayTake(workers: Workers, lane: Wanted, asked: Waiting, workerId: string): boolean {
  const worker = workers[workerId];
  if (worker === undefined || !isLargeEnough(worker, lane)) return false;
  return !isAvoided(workerId, worker, asked) || !hasOther(workers, lane, asked);
}

/** True when another registered worker is large enough, so that those to avoid need not be taken. */
function hasOther(workers: Workers, lane: Wanted, asked: Waiting): boolean {
  return Object.entries(workers).some(
    ([workerId, worker]) => isLargeEnough(worker, lane) && !isAvoided(workerId, worker, asked),
  );
}

const isAvoiding = ({ avoid, avoidWorkers }: Waiting): boolean =>
  avoid !== undefined || avoidWorkers !== undefined;

function isAvoided(workerId: string, worker: PooledWorker, asked: Waiting): boolean {
  const { avoid = [], avoidWorkers = [] } = asked;
  return avoidWorkers.includes(workerId) || avoid.includes(worker.registration);
}

function isLargeEnough(
  { handlers, coresTotal }: PooledWorker,
  { cores, handler }: Wanted,
): boolean {
  return coresTotal >= cores && handlers.includes(handler);
}
