/**
 * Searches: they tell the pool, from the store's index, who waits behind those it has in memory.
 *
 * One search at a time. Which one is worth making follows from what the pool remembers, so one that
 * was lost is made again, by whichever leader. An answer counts only for what has not changed since:
 * whatever began to wait, or stopped to, while a search was under way is kept beside it.
 */

import { knob } from '../../../runtime/base/knob.ts';
import type { LanesFound, Waiting, WaitingFound } from '../messages/local.ts';
import { laneParts, lanesOf } from '../ranks.ts';
import { inserted, isSame, type Lane, type Lanes, newLane, shareOf } from './lanes.ts';
import {
  bestWorker,
  hasRoom,
  isServed,
  type Placement,
  reserved,
  type Workers,
} from './placement.ts';

/** Questions of the pool to its program. */
export type Sought =
  /** In which lanes of these handlers anybody waits. */
  | { readonly what: 'lanes'; readonly handlers: readonly string[] }
  /** Question for those who wait next in a lane, in its order. */
  | {
      readonly what: 'next';
      readonly lane: string;
      readonly after: string;
      readonly max: number;
    }
  /** Question for those who wait there and do not avoid this worker. */
  | {
      readonly what: 'fitting';
      readonly lane: string;
      readonly after: string;
      readonly max: number;
      readonly workerId: string;
      readonly registration: number;
    };

export type Search = Sought & {
  readonly number: number;
  /** Meanwhile there came more than it can know of. */
  readonly isOutrun: boolean;
  /** Place in the order of the first that began to wait meanwhile: the search knows all that wait before it. */
  readonly knowsBefore?: string;
  /** Meanwhile these stopped to wait, of whom the pool knew nothing; null: too many to remember. */
  readonly withdrawn: ReadonlyArray<Pick<Waiting, 'jobId' | 'attemptId'>> | null;
};

export interface Known {
  readonly workers: Workers;
  readonly lanes: Lanes;
  readonly queueMax: number;
  /** Handlers that somebody offers and of which nobody has looked yet who waits. */
  readonly unexplored: readonly string[];
  readonly search: Search | null;
}

const WITHDRAWN_MAX = knob('poolWithdrawnMax', 256);

/** The search that is worth most; undefined when the pool knows all that it needs. */
export function nextSearch({ workers, lanes, queueMax, unexplored }: Known): Sought | undefined {
  if (unexplored.length > 0) return { what: 'lanes', handlers: unexplored };
  const share = shareOf(lanes, queueMax);
  let best: Sought | undefined;
  let bestLane: Lane | undefined;
  for (const [name, lane] of Object.entries(lanes)) {
    if (lane.upTo === null || lane.waiting.length > share / 2) continue;
    if (bestLane !== undefined && !isMoreUrgent(lane, bestLane)) continue;
    best = {
      what: 'next',
      lane: name,
      after: lane.upTo,
      max: Math.max(1, share - lane.waiting.length),
    };
    bestLane = lane;
  }
  return best ?? fittingSearch(workers, lanes);
}

/** Urgency of lanes: first where nobody is left, then where the earliest wait. */
function isMoreUrgent(one: Lane, other: Lane): boolean {
  const isEmpty = one.waiting.length === 0;
  if (isEmpty !== (other.waiting.length === 0)) return isEmpty;
  return (one.upTo as string) < (other.upTo as string);
}

/** A worker has room that all of a lane in memory avoid: somebody behind them may not. */
function fittingSearch(workers: Workers, lanes: Lanes): Sought | undefined {
  for (const [lane, { upTo, cores, handler, barrenFor }] of Object.entries(lanes)) {
    if (upTo === null) continue;
    for (const [workerId, worker] of Object.entries(workers)) {
      const { registration, coresTotal, coresReserved } = worker;
      if (barrenFor.includes(registration) || !hasRoom(worker, { cores, handler })) continue;
      const max = Math.floor((coresTotal - coresReserved) / cores);
      return { what: 'fitting', lane, after: upTo, max, workerId, registration };
    }
  }
  return undefined;
}

/** Somebody in that lane, or a worker with that handler, came while the search was under way. */
export function outrun(
  search: Search | null,
  { lane, handler, order }: { lane?: string; handler?: string; order?: string },
): Search | null {
  if (search === null) return null;
  const isMeant =
    search.what === 'lanes'
      ? handler !== undefined && search.handlers.includes(handler)
      : search.lane === lane;
  if (!isMeant) return search;
  const first = [search.knowsBefore, order].filter((one) => one !== undefined).sort()[0];
  return { ...search, isOutrun: true, ...(first !== undefined && { knowsBefore: first }) };
}

/** Somebody of whom the pool knows nothing stopped to wait: he may be among those that are being found. */
export function withdrawnFrom(
  search: Search | null,
  { jobId, attemptId }: Pick<Waiting, 'jobId' | 'attemptId'>,
): Search | null {
  if (search === null || search.what === 'lanes' || search.withdrawn === null) return search;
  const isFull = search.withdrawn.length >= WITHDRAWN_MAX.value;
  return { ...search, withdrawn: isFull ? null : [...search.withdrawn, { jobId, attemptId }] };
}

export interface Found {
  readonly workers: Workers;
  readonly lanes: Lanes;
  readonly unexplored: readonly string[];
  readonly placements: readonly Placement[];
}

/** The lanes that there are; those that no worker serves are left alone. */
export function takeLanes(known: Known, { lanes: found }: LanesFound): Found {
  const { workers, lanes, unexplored, search } = known;
  const all: Record<string, Lane> = { ...lanes };
  for (const name of found)
    if (all[name] === undefined && isServed(workers, laneParts(name)))
      all[name] = newLane(name, false);
  const isDone = search?.what === 'lanes' && !search.isOutrun;
  const explored = isDone ? search.handlers : [];
  return {
    workers,
    lanes: all,
    unexplored: unexplored.filter((handler) => !explored.includes(handler)),
    placements: [],
  };
}

/** Those who were found, as far as they still wait. What the lane has become meanwhile counts. */
export function takeFound(known: Known, event: WaitingFound): Found {
  const { workers, lanes, unexplored, search } = known;
  const nothing = { workers, lanes, unexplored, placements: [] };
  if (search === null || search.what === 'lanes' || search.withdrawn === null) return nothing;
  const lane = lanes[search.lane];
  if (lane === undefined || lane.upTo !== search.after) return nothing;
  const { withdrawn, isOutrun } = search;
  const found = event.found.filter((one) => !withdrawn.some((other) => isSame(one, other)));
  if (search.what === 'fitting') return takeFitting(known, lane, search, found, event.isAll);
  const { knowsBefore = null } = search;
  const isCut = knowsBefore !== null && knowsBefore <= event.upTo;
  const sure = isCut ? found.filter(({ order }) => order < knowsBefore) : found;
  let longer = lane;
  for (const one of sure) longer = inserted(longer, one);
  const upTo = isCut ? (sure.at(-1)?.order ?? search.after) : event.upTo;
  const isWhole = event.isAll && !isOutrun;
  return {
    ...nothing,
    lanes: { ...lanes, [search.lane]: { ...longer, upTo: isWhole ? null : upTo } },
  };
}

/** They stand behind others that cannot use the worker, so they get it at once or not at all. */
function takeFitting(
  { workers, lanes, unexplored }: Known,
  lane: Lane,
  search: Search & { readonly what: 'fitting' },
  found: readonly Waiting[],
  isAll: boolean,
): Found {
  const placements: Placement[] = [];
  let now = workers;
  const { workerId, registration } = search;
  const isThere = workers[workerId]?.registration === registration;
  for (const request of isThere ? found : []) {
    if (bestWorker(now, lane, request, workerId) === undefined) continue;
    placements.push({ request, cores: lane.cores, workerId });
    now = reserved(now, workerId, lane.cores);
  }
  const isBarren = isAll && !search.isOutrun && placements.length === found.length;
  const barrenFor = isBarren ? [...lane.barrenFor, registration] : lane.barrenFor;
  return {
    workers: now,
    lanes: { ...lanes, [search.lane]: { ...lane, barrenFor } },
    unexplored,
    placements,
  };
}

/** Without lanes that no worker serves any more: who waits there is found again when one comes. */
export function servedLanes(workers: Workers, lanes: Lanes): Lanes {
  return Object.fromEntries(Object.entries(lanes).filter(([, lane]) => isServed(workers, lane)));
}

/** Workers came or went: whom one would avoid may be another one now. */
export function withoutBarren(lanes: Lanes): Lanes {
  return Object.fromEntries(
    Object.entries(lanes).map(([name, lane]) => [
      name,
      lane.barrenFor.length === 0 ? lane : { ...lane, barrenFor: [] },
    ]),
  );
}

/** True when lanes of this handler that the pool does not have may have somebody waiting. */
export const isUnexplored = ({ unexplored }: Known, lane: string): boolean =>
  unexplored.some((handler) => lane.startsWith(lanesOf(handler)));
