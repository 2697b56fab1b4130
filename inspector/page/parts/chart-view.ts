/**
 * View of a chart: how large it is shown and from where, at first and after each move.
 */

import type { ChartLayout } from '../../drawing/places.ts';

export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}
const SCALE_MIN = 0.15;
const SCALE_MAX = 3;
/** Below it names cannot be read: then a part is shown, and the rest is a drag away. */
const READABLE = 0.85;

export function firstView(
  layout: ChartLayout,
  frame: HTMLElement | null,
  active: ReadonlySet<string>,
  focus?: string,
): View {
  const whole = fitted(layout, frame);
  if (whole.scale >= READABLE || frame === null) return whole;
  const lit = layout.boxes.filter(
    ({ sketch: { state, children } }) => active.has(state.id) && children.length === 0,
  );
  const chosen = layout.boxes.find(({ sketch: { state } }) => state.id === focus);
  const [box = layout.boxes[0]] = chosen === undefined ? lit : [chosen];
  if (box === undefined) return whole;
  const { clientWidth, clientHeight } = frame;
  const scale = READABLE;
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  return {
    scale,
    x: within(clientWidth / 2 - middle.x * scale, clientWidth - layout.width * scale),
    y: within(clientHeight / 2 - middle.y * scale, clientHeight - layout.height * scale),
  };
}

/** No margin on one side where there is more to see on the other. */
const within = (at: number, end: number): number => Math.min(8, Math.max(Math.min(8, end - 8), at));

export function fitted(layout: ChartLayout, frame: HTMLElement | null): View {
  const { clientWidth = 800, clientHeight = 600 } = frame ?? {};
  const room = { width: layout.width + 32, height: layout.height + 32 };
  const scale = Math.max(
    SCALE_MIN,
    Math.min(1, clientWidth / room.width, clientHeight / room.height),
  );
  return {
    scale,
    x: Math.max(0, (clientWidth - room.width * scale) / 2) + 8,
    y: Math.max(0, (clientHeight - room.height * scale) / 2) + 8,
  };
}

export function zoomed({ scale, x, y }: View, factor: number, at: { x: number; y: number }): View {
  const next = Math.max(SCALE_MIN, Math.min(SCALE_MAX, scale * factor));
  return {
    scale: next,
    x: at.x - ((at.x - x) * next) / scale,
    y: at.y - ((at.y - y) * next) / scale,
  };
}

export const centre = (frame: HTMLElement | null) => ({
  x: (frame?.clientWidth ?? 0) / 2,
  y: (frame?.clientHeight ?? 0) / 2,
});
