/**
 * Ranges of a timeline, and its scale: where a moment lies on the screen, with idle time folded. Pure.
 */

import type { Lane, LaneBar, TimelineAnswer } from '../../protocol.ts';

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** All lanes of an answer. */
const lanesOf = ({ faults = [], nodes = [], lanes }: TimelineAnswer): readonly Lane[] => [
  ...faults,
  ...nodes,
  ...lanes,
];

/** Bars that say what was, and not what time is left. */
export const LIVED: ReadonlySet<LaneBar['sort']> = new Set([
  'state',
  'life',
  'pause',
  'lease',
  'fault',
]);

/** First and last moment that an answer tells of. */
export interface Bounds {
  readonly from: number | undefined;
  readonly last: number;
  /** True where something lasts: then the range ends at the present. */
  readonly isLiving: boolean;
}

/**
 * Deadlines that are far away bound nothing, nor do the lives of nodes before anything went on there: they are cut.
 */
export function boundsOf(answer: TimelineAnswer): Bounds {
  const { faults = [], lanes: actors } = answer;
  const lanes = actors.length > 0 ? [...faults, ...actors] : lanesOf(answer);
  let from = Number.POSITIVE_INFINITY;
  let last = 0;
  let isLiving = false;
  const see = (at: number): void => {
    from = Math.min(from, at);
    last = Math.max(last, at);
  };
  for (const { bars, marks, since } of lanes) {
    if (since !== 0) from = Math.min(from, since);
    for (const { at } of marks) see(at);
    for (const bar of bars) {
      if (!LIVED.has(bar.sort)) continue;
      see(bar.from);
      if (bar.to === undefined) isLiving = true;
      else last = Math.max(last, bar.to);
    }
  }
  return { from: Number.isFinite(from) ? from : undefined, last, isLiving };
}

/** From the first moment that is known to the present, or to the last end where all have ended. */
export function wholeRange({ from, last, isLiving }: Bounds, present: number): Range {
  const to = isLiving ? Math.max(present, last) : last;
  const start = from ?? present - 60_000;
  const room = Math.max(100, (to - start) * 0.02);
  return { from: start - room, to: to + room };
}

/** Moments at which something happened in any lane, in order. */
export function momentsOf(answer: TimelineAnswer): readonly number[] {
  const moments = new Set<number>();
  for (const { bars, marks } of lanesOf(answer)) {
    for (const { sort, from, to } of bars) {
      if (!LIVED.has(sort)) continue;
      moments.add(from);
      if (to !== undefined) moments.add(to);
    }
    for (const { at } of marks) moments.add(at);
  }
  return [...moments].sort((one, other) => one - other);
}

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly x: number;
  readonly width: number;
  readonly isFolded: boolean;
}

/** Where a moment lies on the screen. Idle time that would take much of it is folded to a narrow strip. */
export interface Scale {
  readonly range: Range;
  readonly width: number;
  readonly pieces: readonly Piece[];
  /** Pixels of a millisecond where nothing is folded. */
  readonly perMs: number;
  x(at: number): number;
  at(x: number): number;
}

/** Part of the range that has to be idle in one piece before it is folded. */
const FOLD_SHARE = 0.12;
/** What is shorter is no idle time. */
const FOLD_LEAST_MS = 2_000;
const FOLD_WIDTH = 36;

/** Without moments nothing is folded. */
export function scaleOf(range: Range, width: number, moments: readonly number[] = []): Scale {
  const gaps =
    moments.length === 0
      ? []
      : gapsIn(range, moments).slice(0, Math.floor(width / (FOLD_WIDTH * 4)));
  const folded = gaps.reduce((sum, { from, to }) => sum + to - from, 0);
  const perMs = (width - gaps.length * FOLD_WIDTH) / Math.max(1, range.to - range.from - folded);
  const pieces: Piece[] = [];
  let at = range.from;
  let x = 0;
  const add = (to: number, isFolded: boolean): void => {
    const piece = { from: at, to, x, width: isFolded ? FOLD_WIDTH : (to - at) * perMs, isFolded };
    if (to > at) pieces.push(piece);
    at = to;
    x += to > piece.from ? piece.width : 0;
  };
  for (const { from, to } of gaps) {
    add(from, false);
    add(to, true);
  }
  add(range.to, false);
  const pieceAt = (is: (piece: Piece) => boolean): Piece =>
    pieces.find(is) ?? (pieces.at(-1) as Piece);
  return {
    range,
    width,
    pieces,
    perMs,
    x: (moment) => {
      if (moment <= range.from) return (moment - range.from) * perMs;
      const piece = pieceAt(({ to }) => moment <= to);
      return piece.x + ((moment - piece.from) / (piece.to - piece.from)) * piece.width;
    },
    at: (pixel) => {
      const piece = pieceAt(({ x: left, width: wide }) => pixel <= left + wide);
      return piece.from + ((pixel - piece.x) / piece.width) * (piece.to - piece.from);
    },
  };
}

/** Idle times within a range that are long against it; a little is left at both ends. */
function gapsIn({ from, to }: Range, moments: readonly number[]): Range[] {
  const least = Math.max(FOLD_LEAST_MS, (to - from) * FOLD_SHARE);
  const room = least / 6;
  const gaps: Range[] = [];
  let at = from;
  const see = (next: number): void => {
    if (next - at >= least)
      gaps.push({ from: at === from ? at : at + room, to: next === to ? next : next - room });
    at = next;
  };
  for (let index = firstAfter(moments, from); index < moments.length; index += 1) {
    const moment = moments[index] as number;
    if (moment >= to) break;
    see(moment);
  }
  see(to);
  return gaps;
}

/** Index of the first of these moments, which are in order, that is later than `at`. */
function firstAfter(moments: readonly number[], at: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moments[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000,
];
const DAY = 86_400_000;
const TICK_WIDTH = 90;
const WORD_WIDTH = 64;

/** Marks of the axis where nothing is folded, so far from each other that their words have room. */
export function ticksOf({ pieces, perMs, x }: Scale): { step: number; ticks: readonly number[] } {
  const least = TICK_WIDTH / perMs;
  const step = STEPS.find((each) => each >= least) ?? Math.ceil(least / DAY) * DAY;
  const ticks: number[] = [];
  pieces.forEach(({ from, to, isFolded, x: left, width }, index) => {
    if (isFolded) return;
    // The words of a mark would run into what is folded behind it.
    const end = index === pieces.length - 1 ? Number.POSITIVE_INFINITY : left + width - WORD_WIDTH;
    for (let at = Math.ceil(from / step) * step; at <= to && x(at) <= end; at += step) {
      const last = ticks.at(-1);
      if (last === undefined || x(at) - x(last) >= TICK_WIDTH * 0.9) ticks.push(at);
    }
  });
  return { step, ticks };
}
