/**
 * Virtual list: of any number of rows only those on the screen are in the document, in rows of one height.
 */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Browsers draw no element higher than this: longer lists are scrolled in proportion. */
const HEIGHT_MAX = 15_000_000;
const BEYOND = 6;

export interface RowsProps {
  readonly count: number;
  readonly height: number;
  readonly label: string;
  readonly row: (index: number) => ComponentChildren;
  /** Rows that are on the screen now. */
  readonly onWindow?: (first: number, last: number) => void;
  /** Row that is kept in sight. */
  readonly selected?: number;
}

export function Rows({ count, height, label, row, onWindow, selected }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  const shown = useSignal(30);
  const whole = count * height;
  const stretch = whole > HEIGHT_MAX ? whole / HEIGHT_MAX : 1;

  const look = (): void => {
    const { scrollTop = 0, clientHeight = 600 } = box.current ?? {};
    const top = Math.floor((scrollTop * stretch) / height);
    first.value = Math.max(0, top - BEYOND);
    shown.value = Math.ceil(clientHeight / height) + 2 * BEYOND;
    onWindow?.(top, Math.min(count, top + Math.ceil(clientHeight / height)));
  };
  useEffect(() => {
    look();
    const watching = new ResizeObserver(look);
    if (box.current !== null) watching.observe(box.current);
    return () => watching.disconnect();
  }, [count, height]);
  useEffect(() => {
    const element = box.current;
    if (element === null || selected === undefined || selected < 0) return;
    const top = (selected * height) / stretch;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight)
      element.scrollTop = top + height - element.clientHeight;
  }, [selected]);

  const last = Math.min(count, first.value + shown.value);
  // A long list moves in proportion, and the rows stay where the reader sees them.
  const top =
    stretch === 1 ? first.value * height : (box.current?.scrollTop ?? 0) - BEYOND * height;
  return (
    <div
      class="rows"
      ref={box}
      onScroll={look}
      role="grid"
      aria-label={label}
      aria-rowcount={count}
    >
      <div class="rows-height" style={{ height: `${Math.min(whole, HEIGHT_MAX)}px` }}>
        <div class="rows-window" style={{ transform: `translateY(${Math.max(0, top)}px)` }}>
          {Array.from({ length: Math.max(0, last - first.value) }, (_, slot) => (
            // The slot is the key: elements are used again and only their text changes.
            <div class="slot" key={slot} style={{ height: `${height}px` }}>
              {row(first.value + slot)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
