/**
 * Moves of a timeline: drag, wheel, keys, and a range that is chosen with Shift. They set a range and draw nothing.
 */

import { useEffect, useRef } from 'preact/hooks';
import type { Range, Scale } from './timeline-range.ts';

export function useMoves(
  tracks: { readonly current: HTMLDivElement | null },
  range: { value: Range | undefined },
  scale: Scale | undefined,
  width: { value: number },
): void {
  const latest = useRef(scale);
  latest.current = scale;
  const element = tracks.current;
  const isThere = scale !== undefined;
  useEffect(() => {
    const box = tracks.current;
    if (box === null) return undefined;
    const measure = (): void => {
      width.value = box.clientWidth;
    };
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(box);
    const set = (from: number, to: number): void => {
      if (to - from >= 2) range.value = { from, to };
    };
    const move = (pixels: number): void => {
      const { range: shown, perMs } = latest.current as Scale;
      const by = pixels / perMs;
      set(shown.from + by, shown.to + by);
    };
    const zoom = (factor: number, pixel: number): void => {
      const { range: shown, at } = latest.current as Scale;
      const middle = at(pixel);
      set(middle - (middle - shown.from) * factor, middle + (shown.to - middle) * factor);
    };
    let brush: number | undefined;
    const pixelOf = (event: MouseEvent): number => event.clientX - box.getBoundingClientRect().left;
    const wheel = (event: WheelEvent): void => {
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX);
      else zoom(Math.exp(event.deltaY / 300), pixelOf(event));
      event.preventDefault();
    };
    const press = (event: PointerEvent): void => {
      if (event.shiftKey) brush = pixelOf(event);
    };
    const drag = (event: PointerEvent): void => {
      if (event.buttons !== 1 || brush !== undefined || Math.abs(event.movementX) === 0) return;
      box.setPointerCapture(event.pointerId);
      move(-event.movementX);
    };
    const release = (event: PointerEvent): void => {
      if (brush === undefined) return;
      const { at } = latest.current as Scale;
      const [one = 0, other = 0] = [brush, pixelOf(event)].sort((a, b) => a - b);
      brush = undefined;
      if (other - one > 4) set(at(one), at(other));
    };
    const key = (event: KeyboardEvent): void => {
      if (event.key === 'ArrowLeft') move(-80);
      else if (event.key === 'ArrowRight') move(80);
      else if (event.key === '+' || event.key === '=') zoom(0.7, width.value / 2);
      else if (event.key === '-') zoom(1.4, width.value / 2);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    box.addEventListener('wheel', wheel, { passive: false });
    box.addEventListener('pointerdown', press);
    box.addEventListener('pointermove', drag);
    box.addEventListener('pointerup', release);
    box.addEventListener('keydown', key);
    return () => {
      watching.disconnect();
      box.removeEventListener('wheel', wheel);
      box.removeEventListener('pointerdown', press);
      box.removeEventListener('pointermove', drag);
      box.removeEventListener('pointerup', release);
      box.removeEventListener('keydown', key);
    };
  }, [element, isThere]);
}
