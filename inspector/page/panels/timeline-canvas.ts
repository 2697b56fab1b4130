/**
 * Drawing of the lanes of a timeline, each on a canvas of its own, in the colours of the page.
 *
 * It draws shapes and decides nothing: timeline-shapes.ts says where they lie.
 */

import { plain } from '../core/words.ts';
import type { Scale } from './timeline-range.ts';
import type { BarShape, Drawn, MarkShape, MessageShape, Row } from './timeline-shapes.ts';

/** Colours of the page as they are now, and its font. */
export interface Ink {
  readonly colour: (name: string) => string;
  readonly font: string;
}

export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const known = new Map<string, string>();
  return {
    font: style.fontFamily,
    colour: (name) => {
      const colour = known.get(name) ?? style.getPropertyValue(`--${name}`).trim();
      known.set(name, colour);
      return colour;
    },
  };
}

const SOLID: Readonly<Record<string, string>> = {
  state: 'hover',
  life: 'rule-soft',
  pause: 'late-soft',
  lease: 'now-soft',
  fault: 'failed-soft',
  base: 'edge',
  extension: 'now',
  stuck: 'late',
  deadline: 'late',
  grace: 'rule',
};
const WORDED: ReadonlySet<string> = new Set(['state', 'life', 'pause', 'lease', 'fault']);
const MARKS: Readonly<Record<MarkShape['mark']['sort'], string>> = {
  turn: 'edge',
  extension: 'now',
  denied: 'late',
  failed: 'failed',
  timeout: 'failed',
  end: 'ink',
};
const LINES: Readonly<Record<string, string>> = {
  lost: 'failed',
  refused: 'failed',
  fenced: 'failed',
  late: 'late',
  repeated: 'late',
};
const BARRED: ReadonlySet<string> = new Set(['refused', 'fenced']);
const DASHED: ReadonlySet<string> = new Set(['lost', 'repeated']);

/** The canvas in its size, emptied, with one unit for each pixel of the page. */
export function cleared(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext('2d');
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

export interface LaneDrawing {
  readonly row: Row;
  /** Upper edge and height of the lane. */
  readonly top: number;
  readonly height: number;
  readonly drawn: Drawn;
  /** Moment that is marked through all lanes. */
  readonly moment: number | undefined;
  /** Place in this lane that the keys are at. */
  readonly cursor: number | undefined;
}

export function drawLane(
  to: CanvasRenderingContext2D,
  { row, top, height, drawn, moment, cursor }: LaneDrawing,
  scale: Scale,
  ink: Ink,
): void {
  const { since } = row.lane;
  if (since > scale.range.from && since < scale.range.to) drawUnknown(to, scale.x(since), ink);
  to.textBaseline = 'middle';
  for (const shape of drawn.bars) drawBar(to, shape, row, ink);
  drawMarks(to, drawn.marks, ink);
  drawFolds(to, scale, height, ink);
  drawMessages(to, drawn.messages, top, height, ink);
  if (moment !== undefined && moment >= scale.range.from && moment <= scale.range.to) {
    to.fillStyle = ink.colour('failed');
    to.fillRect(scale.x(moment) - 1, 0, 2, height);
  }
  if (cursor === undefined) return;
  to.strokeStyle = ink.colour('now');
  to.lineWidth = 2;
  to.strokeRect(cursor - 5, 21, 10, 27);
}

/** Where the history begins: what was before is not known. */
function drawUnknown(to: CanvasRenderingContext2D, x: number, ink: Ink): void {
  to.fillStyle = ink.colour('rule');
  for (let step = 0; step < 4; step += 1) {
    to.globalAlpha = 0.15 + step * 0.15;
    to.fillRect(x - 12 + step * 3, 24, 2, 20);
  }
  to.globalAlpha = 1;
}

function drawBar(
  to: CanvasRenderingContext2D,
  { bar: { sort, outcome }, x, width, top, height, label, hasEnd }: BarShape,
  row: Row,
  ink: Ink,
): void {
  const isOver = sort === 'deadline' && outcome === 'cancelled';
  to.fillStyle = ink.colour(
    outcome === 'fired' ? 'failed' : isOver ? 'rule' : (SOLID[sort] ?? 'rule'),
  );
  // A deadline that is armed is not late yet: a thin line to where it is due.
  if (sort === 'deadline' && outcome === 'armed') to.globalAlpha = 0.5;
  to.fillRect(x, top, width, height);
  to.globalAlpha = 1;
  if (hasEnd && (sort === 'deadline' || sort === 'stuck'))
    to.fillRect(x + width - 2, top - 2, 2, height + 4);
  if (!WORDED.has(sort)) return;
  to.fillStyle = ink.colour('rule');
  to.fillRect(x, top, 1, height);
  if (width <= 24) return;
  const size = row.sort === 'node' ? 10 : 11;
  to.font = `${size}px ${ink.font}`;
  to.fillStyle = ink.colour('ink');
  const text = shortened(to, plain(label), width - 8);
  if (text !== '')
    to.fillText(text, x + 5, row.sort === 'actor' ? top + 8 : top + height / 2 + 0.5);
}

/** As much of a text as there is room for. */
function shortened(to: CanvasRenderingContext2D, text: string, width: number): string {
  const whole = widthOf(to, text);
  if (whole <= width) return text;
  const letters = Math.floor((text.length * width) / whole) - 2;
  return letters < 1 ? '' : `${text.slice(0, letters)}…`;
}

const widths = new Map<string, number>();
const WIDTHS_MAX = 2_000;

function widthOf(to: CanvasRenderingContext2D, text: string): number {
  const key = `${to.font} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  if (widths.size >= WIDTHS_MAX) widths.clear();
  const { width } = to.measureText(text);
  widths.set(key, width);
  return width;
}

/** Turns as ticks at the lower edge of the states; what stands out takes the whole height. */
function drawMarks(to: CanvasRenderingContext2D, marks: readonly MarkShape[], ink: Ink): void {
  to.fillStyle = ink.colour(MARKS.turn);
  for (const { mark, x, more } of marks)
    if (mark.sort === 'turn')
      to.fillRect(x - 1, more > 0 ? 38 : 40, more > 0 ? 3 : 2, more > 0 ? 6 : 4);
  for (const { mark, x } of marks) {
    if (mark.sort === 'turn') continue;
    to.fillStyle = ink.colour(MARKS[mark.sort]);
    to.fillRect(x - 1.5, 21, 3, 26);
  }
}

const FOLD_STEP = 6;

/** Strips of folded time. */
function drawFolds(to: CanvasRenderingContext2D, scale: Scale, height: number, ink: Ink): void {
  for (const { x, width, isFolded } of scale.pieces) {
    if (!isFolded) continue;
    to.save();
    to.beginPath();
    to.rect(x, 0, width, height);
    to.clip();
    to.globalAlpha = 0.75;
    to.fillStyle = ink.colour('paper');
    to.fillRect(x, 0, width, height);
    to.globalAlpha = 1;
    to.strokeStyle = ink.colour('rule-soft');
    to.lineWidth = 1;
    to.beginPath();
    for (let at = x - height; at < x + width; at += FOLD_STEP) {
      to.moveTo(at, height);
      to.lineTo(at + height, 0);
    }
    to.stroke();
    to.restore();
  }
}

/** The parts of lines that cross this lane; all of one outcome with one stroke. */
function drawMessages(
  to: CanvasRenderingContext2D,
  messages: readonly MessageShape[],
  top: number,
  height: number,
  ink: Ink,
): void {
  const paths = new Map<string, Path2D>();
  for (const shape of messages) {
    const { message, x, y, toX, toY } = shape;
    if (Math.max(y, toY) < top - 4 || Math.min(y, toY) > top + height + 4) continue;
    const path = paths.get(message.outcome) ?? new Path2D();
    paths.set(message.outcome, path);
    path.moveTo(x, y - top);
    path.lineTo(toX, toY - top);
    if (message.outcome === 'lost') cross(path, toX, toY - top);
    else if (BARRED.has(message.outcome)) bar(path, shape, top);
  }
  to.globalAlpha = 0.7;
  to.lineWidth = 1;
  for (const [outcome, path] of paths) {
    to.strokeStyle = ink.colour(LINES[outcome] ?? 'now');
    to.setLineDash(DASHED.has(outcome) ? [4, 3] : []);
    to.stroke(path);
  }
  to.setLineDash([]);
  to.globalAlpha = 1;
}

function cross(path: Path2D, x: number, y: number): void {
  path.moveTo(x - 3, y - 3);
  path.lineTo(x + 3, y + 3);
  path.moveTo(x + 3, y - 3);
  path.lineTo(x - 3, y + 3);
}

/** A short bar before the receiver, which did not let it in. */
function bar(path: Path2D, { y, toX, toY }: MessageShape, top: number): void {
  const before = toY - top + (toY > y ? -4 : 4);
  path.moveTo(toX - 4, before);
  path.lineTo(toX + 4, before);
}
