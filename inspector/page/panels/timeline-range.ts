/**
 * Ranges of a timeline, its scale with idle time folded, and what of a lane is to be seen: bars in pixels, and marks,
 * those that lie on each other as one.
 */

import type { Lane, LaneBar, LaneMark, TimelineAnswer } from '../../protocol.ts';
import { stateText } from '../core/words.ts';

export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Visible {
  readonly key: string;
  readonly sort: LaneBar['sort'];
  readonly x: number;
  readonly width: number;
  readonly label: string;
  readonly outcome?: LaneBar['outcome'];
}

/** Pixels within which marks are shown as one. */
const MARK_WIDTH = 4;

/** All lanes of an answer. */
const lanesOf = ({ faults = [], nodes = [], lanes }: TimelineAnswer): readonly Lane[] => [
  ...faults,
  ...nodes,
  ...lanes,
];

/** Bars that say what was, and not what time is left. */
const LIVED: ReadonlySet<LaneBar['sort']> = new Set(['state', 'life', 'pause', 'lease', 'fault']);

/**
 * From the first moment that is known to the present, or to the last end where all have ended. Deadlines that are far
 * away make no range, nor do the lives of nodes before anything went on there: they are cut.
 */
export function rangeOf(answer: TimelineAnswer, present: number): Range {
  const { faults = [], lanes: actors } = answer;
  const begun = actors.length > 0 ? [...faults, ...actors] : lanesOf(answer);
  const lanes = begun.map((lane) => ({
    ...lane,
    bars: lane.bars.filter(({ sort }) => LIVED.has(sort)),
  }));
  const starts = lanes.flatMap(({ bars, marks, since }) => [
    ...bars.map(({ from }) => from),
    ...marks.map(({ at }) => at),
    ...(since === 0 ? [] : [since]),
  ]);
  const isOver = lanes.every(({ bars }) => bars.every(({ to }) => to !== undefined));
  const ends = lanes.flatMap(({ bars, marks }) => [
    ...bars.map(({ to }) => to ?? present),
    ...marks.map(({ at }) => at),
  ]);
  const from = starts.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const last = ends.reduce((most, at) => Math.max(most, at), 0);
  const to = isOver ? last : Math.max(present, last);
  const start = Number.isFinite(from) ? from : present - 60_000;
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

export function scaleOf(range: Range, width: number, moments: readonly number[] = []): Scale {
  const gaps = gapsIn(range, moments).slice(0, Math.floor(width / (FOLD_WIDTH * 4)));
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
  const within = [from, ...moments.filter((at) => at > from && at < to), to];
  return within.flatMap((at, index): Range[] => {
    const next = within[index + 1];
    if (next === undefined || next - at < least) return [];
    const gap = { from: index === 0 ? at : at + room, to: next === to ? next : next - room };
    return [gap];
  });
}

export function barsIn(lane: Lane, scale: Scale, present: number) {
  const { range, width } = scale;
  const bars = lane.bars.flatMap(
    ({ sort, from, to = Math.max(present, from), label, outcome }, index): Visible[] => {
      if (to < range.from || from > range.to) return [];
      const start = Math.max(0, scale.x(from));
      const end = Math.min(width, scale.x(to));
      return [
        {
          key: `${sort} ${index}`,
          sort,
          x: start,
          width: Math.max(1, end - start),
          label: sort === 'state' ? stateText(label) : label,
          ...(outcome !== undefined && { outcome }),
        },
      ];
    },
  );
  return { bars, marks: marksIn(lane.marks, scale) };
}

function marksIn(marks: readonly LaneMark[], { range, x }: Scale) {
  const seen: Array<{ mark: LaneMark; x: number; more: number }> = [];
  for (const mark of marks) {
    if (mark.at < range.from || mark.at > range.to) continue;
    const at = x(mark.at);
    const last = seen.at(-1);
    if (last === undefined || at - last.x >= MARK_WIDTH) seen.push({ mark, x: at, more: 0 });
    else {
      last.more += 1;
      // What stands out counts more than a turn like any other.
      if (last.mark.sort === 'turn') last.mark = mark;
    }
  }
  return seen;
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
