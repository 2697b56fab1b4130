/**
 * Ranges of a timeline, and what of a lane is to be seen in one: bars in pixels, and marks, those that lie on each
 * other as one.
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

/**
 * From the first moment that is known to the present, or to the last end where all have ended. Deadlines that are far
 * away make no range: they are cut.
 */
export function rangeOf(answer: TimelineAnswer, present: number): Range {
  const lanes = answer.lanes.map((lane) => ({
    ...lane,
    bars: lane.bars.filter(({ sort }) => sort === 'state'),
  }));
  const starts = lanes.flatMap(({ bars, marks, since }) => [
    ...bars.map(({ from }) => from),
    ...marks.map(({ at }) => at),
    since,
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

export function barsIn(lane: Lane, shown: Range, width: number, present: number) {
  const scale = width / (shown.to - shown.from);
  const bars = lane.bars.flatMap(
    ({ sort, from, to = Math.max(present, from), label, outcome }, index): Visible[] => {
      if (to < shown.from || from > shown.to) return [];
      const start = Math.max(0, (from - shown.from) * scale);
      const end = Math.min(width, (to - shown.from) * scale);
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
  return { bars, marks: marksIn(lane.marks, shown, scale) };
}

function marksIn(marks: readonly LaneMark[], shown: Range, scale: number) {
  const seen: Array<{ mark: LaneMark; x: number; more: number }> = [];
  for (const mark of marks) {
    if (mark.at < shown.from || mark.at > shown.to) continue;
    const x = (mark.at - shown.from) * scale;
    const last = seen.at(-1);
    if (last === undefined || x - last.x >= MARK_WIDTH) seen.push({ mark, x, more: 0 });
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

/** Time between two marks of the axis, so that their words have room. */
export function stepOf({ from, to }: Range, width: number): number {
  const least = ((to - from) / Math.max(1, width)) * 90;
  return STEPS.find((step) => step >= least) ?? Math.ceil(least / 86_400_000) * 86_400_000;
}
