/**
 * Lanes of a worker pool: the first waiting workflows of each, in the order of acceptance.
 *
 * Every waiting workflow stands in the store's index under its lane (ranks.ts); the pool has the
 * first ones of each in memory, and knows up to where it has all of them.
 */

import type { SlotRequested, Waiting } from '../messages/local.ts';
import { laneParts, orderOf } from '../ranks.ts';

export interface Lane {
  readonly handler: string;
  readonly cores: number;
  /** The first in order, at most as many as the pool has room for. */
  readonly waiting: readonly Waiting[];
  /** All that wait up to here are in `waiting`, and none behind; null: all that wait are. */
  readonly upTo: string | null;
  /** Registrations that none behind `upTo` would take. */
  readonly barrenFor: readonly number[];
}

/** Lanes by name. */
export type Lanes = Readonly<Record<string, Lane>>;

/** A lane nobody has looked into yet, or one that is known to be empty. */
export function newLane(name: string, isKnown: boolean): Lane {
  const { handler, cores } = laneParts(name);
  return { handler, cores, waiting: [], upTo: isKnown ? null : '', barrenFor: [] };
}

export const isCovered = ({ upTo }: Lane, order: string): boolean => upTo === null || order <= upTo;

export const isSame = (
  one: Pick<Waiting, 'jobId' | 'attemptId'>,
  other: Pick<Waiting, 'jobId' | 'attemptId'>,
): boolean => one.jobId === other.jobId && one.attemptId === other.attemptId;

export function asWaiting(asked: Omit<SlotRequested, 'type'>): Waiting {
  const { jobId, attemptId, avoid, avoidWorkers } = asked;
  return {
    jobId,
    attemptId,
    order: orderOf(asked),
    ...(avoid.length > 0 && { avoid }),
    ...(avoidWorkers.length > 0 && { avoidWorkers }),
  };
}

/** Lane with one more in its place; the same lane when it is there already. */
export function inserted(lane: Lane, one: Waiting): Lane {
  const { waiting } = lane;
  let at = waiting.length;
  while (at > 0 && one.order < (waiting[at - 1] as Waiting).order) at -= 1;
  if (waiting.some((other) => isSame(one, other))) return lane;
  return { ...lane, waiting: [...waiting.slice(0, at), one, ...waiting.slice(at)] };
}

/** Somebody stands behind `upTo` of whom nothing is known. */
export const withMore = (lane: Lane): Lane =>
  lane.barrenFor.length === 0 ? lane : { ...lane, barrenFor: [] };

/** The last one is left to the index. */
function shortened(lane: Lane): Lane {
  const waiting = lane.waiting.slice(0, -1);
  return { ...lane, waiting, upTo: waiting.at(-1)?.order ?? '', barrenFor: [] };
}

const waitingCount = (lanes: Lanes): number =>
  Object.values(lanes).reduce((total, { waiting }) => total + waiting.length, 0);

/** No more than `max` in all, but for one of each lane: the longest lanes give up their last. */
export function within(lanes: Lanes, max: number): { lanes: Lanes; changed: readonly string[] } {
  const changed = new Set<string>();
  let now = lanes;
  for (let over = waitingCount(lanes) - max; over > 0; over -= 1) {
    const [name, lane] = Object.entries(now).reduce((longest, other) =>
      other[1].waiting.length > longest[1].waiting.length ? other : longest,
    );
    if (lane.waiting.length <= 1) break;
    now = { ...now, [name]: shortened(lane) };
    changed.add(name);
  }
  return { lanes: now, changed: [...changed] };
}

/** Without lanes that are known to be empty. */
export function withoutEmpty(lanes: Lanes): Lanes {
  const isEmpty = ({ waiting, upTo }: Lane) => waiting.length === 0 && upTo === null;
  if (!Object.values(lanes).some(isEmpty)) return lanes;
  return Object.fromEntries(Object.entries(lanes).filter(([, lane]) => !isEmpty(lane)));
}

/** Number of workflows of each lane that the pool has room for. */
export const shareOf = (lanes: Lanes, max: number): number =>
  Math.max(1, Math.floor(max / Math.max(1, Object.keys(lanes).length)));
