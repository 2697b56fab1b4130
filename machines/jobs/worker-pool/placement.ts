/**
 * Which request goes to which worker, as pure sums over what the worker pool remembers.
 *
 * Between two turns nothing in the queue fits anywhere. So a new request is tried alone, and when
 * a worker changes only that worker is tried, for the whole queue in its order.
 */

import type { SlotRequested } from '../messages/local.ts';
import type { WorkerState } from '../words.ts';

export type SlotRequest = Omit<SlotRequested, 'type'>;

export interface PooledWorker {
  readonly registration: number;
  readonly bootEpoch: number;
  readonly coresTotal: number;
  readonly coresReserved: number;
  readonly handlers: readonly string[];
  readonly state: WorkerState;
  /** It has been heard since this leader took over: nothing is placed on one that was not. */
  readonly heard: boolean;
}

/** By worker id. */
export type Workers = Readonly<Record<string, PooledWorker>>;

export interface Placement {
  readonly request: SlotRequest;
  readonly workerId: string;
}

export interface Placed {
  readonly workers: Workers;
  readonly queue: readonly SlotRequest[];
  readonly placements: readonly Placement[];
}

/** Requests waiting at once; beyond it the last in order is turned away. */
export const QUEUE_MAX = 2_048;

/** A new request: placed, queued, or one too many, which is then the last in order. */
export function request(
  workers: Workers,
  queue: readonly SlotRequest[],
  asked: SlotRequest,
): Placed & { readonly turnedAway: SlotRequest | undefined } {
  if (queue.some((waiting) => isSame(waiting, asked)))
    return { workers, queue, placements: [], turnedAway: undefined };
  const workerId = bestWorker(workers, asked);
  if (workerId !== undefined) {
    const placements = [{ request: asked, workerId }];
    return {
      workers: reserved(workers, workerId, asked.cores),
      queue,
      placements,
      turnedAway: undefined,
    };
  }
  const at = queue.findIndex((waiting) => isBefore(asked, waiting));
  const longer = at < 0 ? [...queue, asked] : [...queue.slice(0, at), asked, ...queue.slice(at)];
  if (longer.length <= QUEUE_MAX)
    return { workers, queue: longer, placements: [], turnedAway: undefined };
  return { workers, queue: longer.slice(0, -1), placements: [], turnedAway: longer.at(-1) };
}

/**
 * Goes through the queue in its order: for the one worker that has more to give than before, or,
 * where one has gone or come, for all of them, because who was to be avoided may be the only one left.
 */
export function place(workers: Workers, queue: readonly SlotRequest[], only?: string): Placed {
  const placements: Placement[] = [];
  const waiting: SlotRequest[] = [];
  let now = workers;
  for (const asked of queue) {
    const workerId = bestWorker(now, asked, only);
    if (workerId === undefined) {
      waiting.push(asked);
      continue;
    }
    placements.push({ request: asked, workerId });
    now = reserved(now, workerId, asked.cores);
  }
  return { workers: now, queue: placements.length === 0 ? queue : waiting, placements };
}

/** Cores change hands: never below zero, never above what there is. */
export function reserved(workers: Workers, workerId: string, cores: number): Workers {
  const worker = workers[workerId];
  if (worker === undefined) return workers;
  const coresReserved = Math.min(Math.max(worker.coresReserved + cores, 0), worker.coresTotal);
  return { ...workers, [workerId]: { ...worker, coresReserved } };
}

/** Most free cores first, then the lowest id; `only` leaves the choice to one worker. */
function bestWorker(workers: Workers, asked: SlotRequest, only?: string): string | undefined {
  const avoidsNone = asked.avoid.length === 0 && asked.avoidWorkers.length === 0;
  const mustTakeAvoided = avoidsNone || !hasOther(workers, asked);
  let best: string | undefined;
  let bestFree = -1;
  for (const workerId of only === undefined ? Object.keys(workers) : [only]) {
    const worker = workers[workerId];
    if (worker === undefined || !isEligible(worker, asked)) continue;
    if (!mustTakeAvoided && isAvoided(workerId, worker, asked)) continue;
    const free = worker.coresTotal - worker.coresReserved;
    if (free < bestFree || (free === bestFree && best !== undefined && workerId > best)) continue;
    best = workerId;
    bestFree = free;
  }
  return best;
}

/** Whether another registered worker is large enough, so that those to avoid need not be taken. */
function hasOther(workers: Workers, asked: SlotRequest): boolean {
  return Object.entries(workers).some(
    ([workerId, worker]) => isLargeEnough(worker, asked) && !isAvoided(workerId, worker, asked),
  );
}

function isAvoided(workerId: string, worker: PooledWorker, asked: SlotRequest): boolean {
  return asked.avoidWorkers.includes(workerId) || asked.avoid.includes(worker.registration);
}

function isLargeEnough({ handlers, coresTotal }: PooledWorker, asked: SlotRequest): boolean {
  return coresTotal >= asked.cores && handlers.includes(asked.handler);
}

function isEligible(worker: PooledWorker, asked: SlotRequest): boolean {
  const { state, heard, coresTotal, coresReserved } = worker;
  if (!heard || state === 'suspect' || state === 'evicted') return false;
  return isLargeEnough(worker, asked) && coresTotal - coresReserved >= asked.cores;
}

export function isSame(
  one: Pick<SlotRequest, 'jobId' | 'attemptId'>,
  other: Pick<SlotRequest, 'jobId' | 'attemptId'>,
): boolean {
  return one.jobId === other.jobId && one.attemptId === other.attemptId;
}

/** Older jobs first, then by id, then by place in the submission. */
function isBefore(one: SlotRequest, other: SlotRequest): boolean {
  if (one.acceptedAt !== other.acceptedAt) return one.acceptedAt < other.acceptedAt;
  if (one.jobId !== other.jobId) return one.jobId < other.jobId;
  return one.index < other.index;
}
