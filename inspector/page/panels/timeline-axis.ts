/**
 * Drawing of the axis of a timeline: moments, how much time is folded, and the moment that is marked.
 */

import { clockTime, duration, plain, shortTime } from '../core/words.ts';
import type { Ink } from './timeline-canvas.ts';
import { type Scale, ticksOf } from './timeline-range.ts';

export const AXIS_HEIGHT = 24;

export function drawAxis(
  to: CanvasRenderingContext2D,
  scale: Scale,
  ink: Ink,
  mark: { readonly at: number; readonly label: string } | undefined,
): void {
  const { step, ticks } = ticksOf(scale);
  to.font = `11px ${ink.font}`;
  to.textBaseline = 'middle';
  const words = step < 1_000 ? shortTime : clockTime;
  for (const at of ticks) {
    const x = Math.round(scale.x(at));
    to.fillStyle = ink.colour('rule');
    to.fillRect(x, 0, 1, AXIS_HEIGHT);
    to.fillStyle = ink.colour('ink-soft');
    to.fillText(words(at), x + 5, 11);
  }
  to.font = `10px ${ink.font}`;
  to.textAlign = 'center';
  for (const { from, to: end, x, width, isFolded } of scale.pieces) {
    if (!isFolded) continue;
    to.fillStyle = ink.colour('paper');
    to.fillRect(x, 0, width, AXIS_HEIGHT);
    to.fillStyle = ink.colour('ink-soft');
    to.fillText(
      duration(end - from)
        .split(' ')
        .slice(0, 2)
        .join(' '),
      x + width / 2,
      11,
      width,
    );
  }
  to.textAlign = 'left';
  if (mark !== undefined) drawMoment(to, scale, ink, mark);
}

/** The words lie before the moment, or behind it where there is no room. */
function drawMoment(
  to: CanvasRenderingContext2D,
  scale: Scale,
  ink: Ink,
  { at, label }: { readonly at: number; readonly label: string },
): void {
  if (at < scale.range.from || at > scale.range.to) return;
  const x = scale.x(at);
  to.font = `600 11px ${ink.font}`;
  const text = plain(label);
  const width = to.measureText(text).width + 8;
  const left = x - width < 0 ? x : x - width;
  to.fillStyle = ink.colour('failed');
  to.fillRect(left, 2, width, 18);
  to.fillRect(x - 1, 0, 2, AXIS_HEIGHT);
  to.fillStyle = ink.colour('paper');
  to.fillText(text, left + 4, 11);
}
