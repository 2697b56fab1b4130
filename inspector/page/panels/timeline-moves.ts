/**
 * Moves of a timeline: drag, wheel, keys, and a range that is chosen with Shift. They change the view and draw nothing.
 */

import { go } from '../core/route.ts';
import type { TimelineView } from './timeline-view.ts';

/** Listens on the element until the function that is returned is called. */
export function listenToMoves(box: HTMLElement, view: TimelineView): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const placeOf = (event: MouseEvent): readonly [x: number, y: number] => {
    const { left, top } = box.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  let pressedAt: number | undefined;
  let isDragged = false;
  box.addEventListener(
    'wheel',
    (event) => {
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      // The wheel alone scrolls the page: there may be more lanes than it has room for.
      if (event.ctrlKey || event.metaKey)
        zoomBy(view, Math.exp(event.deltaY / 300), placeOf(event)[0]);
      else if (isSideways) moveBy(view, event.deltaX || event.deltaY);
      else return;
      event.preventDefault();
    },
    { passive: false, signal },
  );
  box.addEventListener(
    'pointerdown',
    (event) => {
      isDragged = false;
      const [x, y] = placeOf(event);
      if (event.shiftKey) pressedAt = x;
      else if (event.pointerType !== 'mouse') view.point(x, y);
    },
    { signal },
  );
  box.addEventListener(
    'pointermove',
    (event) => {
      const [x, y] = placeOf(event);
      if (pressedAt !== undefined)
        view.brush.value = [Math.min(x, pressedAt), Math.max(x, pressedAt)];
      else if (event.buttons !== 1) view.point(x, y);
      else if (event.movementX !== 0) {
        if (!isDragged) box.setPointerCapture(event.pointerId);
        isDragged = true;
        view.said.value = undefined;
        moveBy(view, -event.movementX);
      }
    },
    { signal },
  );
  box.addEventListener(
    'pointerup',
    () => {
      const chosen = view.brush.peek();
      pressedAt = undefined;
      view.brush.value = undefined;
      const scale = view.scale.peek();
      if (chosen !== undefined && scale !== undefined && chosen[1] - chosen[0] > 4)
        set(view, scale.at(chosen[0]), scale.at(chosen[1]));
    },
    { signal },
  );
  box.addEventListener(
    'click',
    (event) => {
      if (isDragged || event.shiftKey || (event.target as Element).closest('a') !== null) return;
      view.point(...placeOf(event));
      const { href } = view.said.peek() ?? {};
      if (href !== undefined) go(href);
    },
    { signal },
  );
  box.addEventListener('pointerleave', () => (view.said.value = undefined), { signal });
  box.addEventListener('keydown', (event) => keyed(view, event), { signal });
  return () => ending.abort();
}

const PIXELS = 80;

function keyed(view: TimelineView, event: KeyboardEvent): void {
  // Enter on the name of an actor opens the actor.
  if ((event.target as Element).closest('a') !== null && event.key === 'Enter') return;
  const act = KEYED[event.key];
  if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  act(view);
  event.preventDefault();
  event.stopPropagation();
}

const KEYED: Readonly<Record<string, (view: TimelineView) => void>> = {
  ArrowLeft: (view) => moveBy(view, -PIXELS),
  ArrowRight: (view) => moveBy(view, PIXELS),
  '+': (view) => zoomBy(view, 0.7),
  '=': (view) => zoomBy(view, 0.7),
  '-': (view) => zoomBy(view, 1.4),
  ArrowUp: (view) => view.stepLane(-1),
  ArrowDown: (view) => view.stepLane(1),
  k: (view) => view.stepLane(-1),
  j: (view) => view.stepLane(1),
  ',': (view) => view.step(-1),
  '.': (view) => view.step(1),
  Enter: ({ said }) => {
    const { href } = said.peek() ?? {};
    if (href !== undefined) go(href);
  },
};

function moveBy(view: TimelineView, pixels: number): void {
  const scale = view.scale.peek();
  if (scale === undefined) return;
  const by = pixels / scale.perMs;
  set(view, scale.range.from + by, scale.range.to + by);
}

export function zoomBy(view: TimelineView, factor: number, pixel = view.width.peek() / 2): void {
  const scale = view.scale.peek();
  if (scale === undefined) return;
  const middle = scale.at(pixel);
  const { from, to } = scale.range;
  set(view, middle - (middle - from) * factor, middle + (to - middle) * factor);
}

function set(view: TimelineView, from: number, to: number): void {
  if (to - from >= 2) view.range.value = { from, to };
}
