/**
 * Shapes of a lane in pixels: bars, marks, messages, and which of them lies under the pointer. What lies closer
 * together than the eye can tell apart is one shape, so a lane has no more of them than its width allows. Pure.
 */

import type { Lane, LaneBar, LaneMark, MessageLine } from '../../protocol.ts';
import { stateText } from '../core/words.ts';
import type { Scale } from './timeline-range.ts';

export interface Row {
  readonly lane: Lane;
  readonly sort: 'actor' | 'node' | 'fault';
}

export const HEIGHTS: Readonly<Record<Row['sort'], number>> = { actor: 60, node: 38, fault: 26 };
/** From the lower edge of an actor's lane to where its messages leave and arrive. */
const MESSAGE_RISE = 20;

export interface BarShape {
  readonly bar: LaneBar;
  readonly label: string;
  readonly x: number;
  readonly width: number;
  readonly top: number;
  readonly height: number;
  /** False where its end is beyond the screen. */
  readonly hasEnd: boolean;
}

export interface MarkShape {
  readonly mark: LaneMark;
  readonly x: number;
  /** Marks that lie under it. */
  readonly more: number;
}

export interface MessageShape {
  readonly message: MessageLine;
  readonly x: number;
  readonly y: number;
  readonly toX: number;
  readonly toY: number;
}

/** Pixels within which marks are shown as one. */
const MARK_WIDTH = 4;
/** Pixels from a shape at which the pointer still means it. */
const REACH = 5;
const LOST_WIDTH = 14;

/** Upper edge and height of a bar. */
function placeOf(sort: LaneBar['sort'], row: Row['sort']): readonly [number, number] {
  if (row === 'node') return [20, 14];
  if (row === 'fault') return [3, 19];
  if (sort === 'state') return [24, 20];
  if (sort === 'stuck') return [54, 3];
  return sort === 'deadline' ? [50, 3] : [48, 5];
}

export function barsIn({ lane, sort: row }: Row, scale: Scale, present: number): BarShape[] {
  const { range, width } = scale;
  const shapes: BarShape[] = [];
  const reached = new Map<LaneBar['sort'], number>();
  for (const bar of lane.bars) {
    const { sort, from, to = Math.max(present, from) } = bar;
    if (to < range.from || from > range.to) continue;
    const start = Math.max(0, scale.x(from));
    const whole = scale.x(to);
    const end = Math.min(width, whole);
    // What ends within the pixel that is drawn already cannot be seen.
    if (end < (reached.get(sort) ?? 0)) continue;
    const shown = Math.max(1, end - start);
    reached.set(sort, start + shown);
    const [top, height] = placeOf(sort, row);
    const label = sort === 'state' ? stateText(bar.label) : bar.label;
    const hasEnd = bar.to !== undefined && whole <= width;
    shapes.push({ bar, label, x: start, width: shown, top, height, hasEnd });
  }
  return shapes;
}

/** Marks in the order of time; several at one place are one shape, of what stands out. */
export function marksIn({ marks }: Lane, { range, x }: Scale): MarkShape[] {
  const shapes: Array<{ mark: LaneMark; x: number; more: number }> = [];
  for (const mark of marks) {
    if (mark.at < range.from || mark.at > range.to) continue;
    const at = x(mark.at);
    const last = shapes.at(-1);
    if (last === undefined || at - last.x >= MARK_WIDTH) shapes.push({ mark, x: at, more: 0 });
    else {
      last.more += 1;
      if (last.mark.sort === 'turn') last.mark = mark;
    }
  }
  return shapes;
}

/** Upper edges of rows that lie below each other from `top` on. */
export function topsOf(rows: readonly Row[], top: number): readonly number[] {
  let at = top;
  return rows.map(({ sort }) => {
    const here = at;
    at += HEIGHTS[sort];
    return here;
  });
}

/** Lines from the sender's moment to the receiver's; one that was lost ends on its way. */
export function messagesIn(
  messages: readonly MessageLine[],
  rows: readonly Row[],
  tops: readonly number[],
  scale: Scale,
): MessageShape[] {
  const ends = new Map<string, number>();
  rows.forEach(({ lane, sort }, index) => {
    if (sort === 'actor')
      ends.set(lane.address, (tops[index] as number) + HEIGHTS.actor - MESSAGE_RISE);
  });
  const { range, x } = scale;
  const shapes: MessageShape[] = [];
  for (const message of messages) {
    const { from, to, fencedAt, outcome } = message;
    const [sentAt, takenAt] = [message.sentAt ?? fencedAt, message.takenAt ?? fencedAt];
    const [y, end] = [ends.get(from), ends.get(to)];
    if (y === undefined || end === undefined || from === to || sentAt === undefined) continue;
    if ((takenAt ?? sentAt) < range.from || sentAt > range.to) continue;
    const start = x(sentAt);
    if (takenAt !== undefined) shapes.push({ message, x: start, y, toX: x(takenAt), toY: end });
    else if (outcome === 'lost')
      shapes.push({ message, x: start, y, toX: start + LOST_WIDTH, toY: (y + end) / 2 });
  }
  return shapes;
}

export interface Drawn {
  readonly bars: readonly BarShape[];
  readonly marks: readonly MarkShape[];
  /** In pixels from the upper edge of all rows. */
  readonly messages: readonly MessageShape[];
}

export type Hit =
  | { readonly sort: 'mark'; readonly shape: MarkShape }
  | { readonly sort: 'message'; readonly shape: MessageShape }
  | { readonly sort: 'bar'; readonly shape: BarShape };

/** What lies at a place of a lane; marks before messages, these before bars. `top`: upper edge of the lane. */
export function hitAt(drawn: Drawn, x: number, y: number, top: number): Hit | undefined {
  const near = drawn.marks
    .filter((shape) => Math.abs(shape.x - x) <= REACH)
    .sort((one, other) => Math.abs(one.x - x) - Math.abs(other.x - x))[0];
  if (near !== undefined && y >= 20 && y <= 47) return { sort: 'mark', shape: near };
  const message = drawn.messages.find((shape) => distance(shape, x, y + top) <= REACH - 1);
  if (message !== undefined) return { sort: 'message', shape: message };
  const bar = drawn.bars.findLast(
    (shape) =>
      x >= shape.x &&
      x <= shape.x + shape.width &&
      y >= shape.top - 1 &&
      y <= shape.top + shape.height + 1,
  );
  return bar === undefined ? undefined : { sort: 'bar', shape: bar };
}

/** Pixels between a point and a line. */
function distance({ x, y, toX, toY }: MessageShape, atX: number, atY: number): number {
  const [wide, high] = [toX - x, toY - y];
  const along = ((atX - x) * wide + (atY - y) * high) / Math.max(1, wide ** 2 + high ** 2);
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(atX - x - share * wide, atY - y - share * high);
}
