/**
 * View of a timeline: keeps what is shown, draws the lanes that are on the screen once a frame at most, and says what
 * lies under the pointer or at the keys.
 *
 * Moving it changes one range and redraws those canvases; the document stays as it is.
 */

import { computed, type Signal, signal } from '@preact/signals';
import type { MessageLine } from '../../protocol.ts';
import { now } from '../core/clock.ts';
import { AXIS_HEIGHT, drawAxis } from './timeline-axis.ts';
import { cleared, drawLane, type Ink, inkOf } from './timeline-canvas.ts';
import { type Bounds, type Range, scaleOf, wholeRange } from './timeline-range.ts';
import {
  barsIn,
  type Drawn,
  HEIGHTS,
  hitAt,
  marksIn,
  messagesIn,
  type Row,
  topsOf,
} from './timeline-shapes.ts';
import { type Said, stepsOf, wordsOfHit, wordsOfRow, wordsOfStep } from './timeline-words.ts';

export interface Shown {
  readonly rows: readonly Row[];
  readonly messages: readonly MessageLine[];
  readonly bounds: Bounds;
  /** Moments between which idle time is folded; none where nothing is. */
  readonly moments: readonly number[];
  readonly mark: { readonly at: number; readonly label: string } | undefined;
}

/** The present has to move this far on the screen before it is drawn again. */
const DRAWN_PIXELS = 0.5;
/** Lanes are drawn before they come on the screen. */
const AHEAD_PIXELS = 200;

export class TimelineView {
  readonly range: Signal<Range | undefined>;
  readonly width = signal(800);
  readonly shown: Signal<Shown | undefined> = signal(undefined);
  readonly said = signal<Said | undefined>(undefined);
  /** Range that is being chosen, in pixels. */
  readonly brush = signal<readonly [from: number, to: number] | undefined>(undefined);
  readonly #present = signal(0);
  readonly scale = computed(() => {
    const { bounds, moments = [] } = this.shown.value ?? {};
    if (bounds === undefined) return undefined;
    const range = this.range.value ?? wholeRange(bounds, this.#present.value);
    return scaleOf(range, this.width.value, moments);
  });

  #box: HTMLElement | undefined;
  #ink: Ink | undefined;
  #frame = 0;
  readonly #seen = new Set<Element>();
  readonly #drawn = new Map<Row, Drawn>();
  #at: { readonly row: number; readonly step: number } | undefined;

  constructor(range: Signal<Range | undefined>) {
    this.range = range;
  }

  /** Begins to draw into an element whose canvases are marked by `data-row`; returns the end of it. */
  begin(box: HTMLElement): () => void {
    this.#box = box;
    this.#ink = inkOf(box);
    const sizes = new ResizeObserver(() => {
      this.width.value = box.clientWidth;
    });
    sizes.observe(box);
    const nearby = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries)
          if (isIntersecting) this.#seen.add(target);
          else this.#seen.delete(target);
        this.draw();
      },
      { rootMargin: `${AHEAD_PIXELS}px` },
    );
    for (const canvas of box.querySelectorAll('canvas')) nearby.observe(canvas);
    const colours = matchMedia('(prefers-color-scheme: dark)');
    const recolour = (): void => {
      this.#ink = inkOf(box);
      this.draw();
    };
    colours.addEventListener('change', recolour);
    const ends = [
      this.scale.subscribe(() => this.draw()),
      now.subscribe((at) => this.#passTo(at)),
      () => sizes.disconnect(),
      () => nearby.disconnect(),
      () => colours.removeEventListener('change', recolour),
      () => cancelAnimationFrame(this.#frame),
    ];
    return () => {
      for (const end of ends) end();
      this.#seen.clear();
      this.#frame = 0;
    };
  }

  /** Shows another answer; the keys stay at the lane where they were. */
  show(shown: Shown): void {
    const at = this.#at;
    const lane = at === undefined ? undefined : this.shown.peek()?.rows[at.row]?.lane.address;
    const row = shown.rows.findIndex((each) => each.lane.address === lane);
    this.#at = at === undefined || row < 0 ? undefined : { ...at, row };
    this.shown.value = shown;
    this.draw();
  }

  /** Draws with the next frame, once. */
  draw(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#drawNow();
    });
  }

  #passTo(at: number): void {
    const perMs = this.scale.peek()?.perMs ?? 0;
    const bounds = this.shown.peek()?.bounds;
    const isFirst = this.#present.peek() === 0;
    if (!isFirst && bounds?.isLiving !== true) return;
    if (isFirst || (at - this.#present.peek()) * perMs >= DRAWN_PIXELS) {
      this.#present.value = at;
      this.draw();
    }
  }

  #drawNow(): void {
    const [scale, shown, ink] = [this.scale.peek(), this.shown.peek(), this.#ink];
    if (this.#box === undefined || scale === undefined || shown === undefined || !ink) return;
    const { rows, mark } = shown;
    const tops = topsOf(rows, 0);
    const messages = messagesIn(shown.messages, rows, tops, scale);
    this.#drawn.clear();
    for (const canvas of this.#seen) {
      const index = Number((canvas as HTMLElement).dataset.row);
      const row = rows[index];
      const height = row === undefined ? AXIS_HEIGHT : HEIGHTS[row.sort];
      const to = cleared(canvas as HTMLCanvasElement, scale.width, height);
      if (to === null) continue;
      if (row === undefined) {
        drawAxis(to, scale, ink, mark);
        continue;
      }
      const drawn: Drawn = {
        bars: barsIn(row, scale, this.#present.peek()),
        marks: marksIn(row.lane, scale),
        messages,
      };
      this.#drawn.set(row, drawn);
      const top = tops[index] as number;
      const cursor = this.#cursorIn(index);
      drawLane(to, { row, top, height, drawn, moment: mark?.at, cursor }, scale, ink);
    }
  }

  #cursorIn(index: number): number | undefined {
    if (this.#at?.row !== index) return undefined;
    const row = this.shown.peek()?.rows[index];
    const step = row === undefined ? undefined : stepsOf(row)[this.#at.step];
    return step === undefined ? undefined : this.scale.peek()?.x(step.at);
  }

  /** Says what is at a place of the box, in pixels from its corner. */
  point(x: number, y: number): void {
    this.said.value = this.#saidAt(x, y);
  }

  #saidAt(x: number, y: number): Said | undefined {
    const rows = this.shown.peek()?.rows ?? [];
    const tops = topsOf(rows, AXIS_HEIGHT);
    const index = tops.findLastIndex((top) => top <= y);
    const row = rows[index];
    const drawn = row === undefined ? undefined : this.#drawn.get(row);
    if (row === undefined || drawn === undefined) return undefined;
    const top = tops[index] as number;
    const hit = hitAt(drawn, x, y - top, top - AXIS_HEIGHT);
    return hit === undefined
      ? undefined
      : { ...wordsOfHit(row, hit), x, y: top + HEIGHTS[row.sort] };
  }

  /** Goes to another lane by the keys, and says what it holds. */
  stepLane(by: number): void {
    const rows = this.shown.peek()?.rows ?? [];
    const row = Math.min(rows.length - 1, Math.max(0, (this.#at?.row ?? (by > 0 ? -1 : 1)) + by));
    const found = rows[row];
    if (found === undefined) return;
    this.#at = { row, step: -1 };
    this.said.value = { ...wordsOfRow(found), ...this.#below(row, 8) };
    this.#box?.querySelector(`canvas[data-row="${row}"]`)?.scrollIntoView({ block: 'nearest' });
    this.draw();
  }

  /** Goes to the next or the previous event of the lane, and moves the view to it. */
  step(by: number): void {
    const rows = this.shown.peek()?.rows ?? [];
    if (this.#at === undefined) this.stepLane(1);
    const at = this.#at;
    const row = at === undefined ? undefined : rows[at.row];
    if (at === undefined || row === undefined) return;
    const steps = stepsOf(row);
    const wanted = at.step < 0 && by < 0 ? steps.length - 1 : at.step + by;
    const step = Math.min(steps.length - 1, Math.max(0, wanted));
    const found = steps[step];
    if (found === undefined) return;
    this.#at = { row: at.row, step };
    this.#show(found.at);
    const x = this.scale.peek()?.x(found.at) ?? 0;
    this.said.value = { ...wordsOfStep(row, found), ...this.#below(at.row, x) };
    this.draw();
  }

  #below(index: number, x: number): { x: number; y: number } {
    const rows = this.shown.peek()?.rows ?? [];
    const top = topsOf(rows, AXIS_HEIGHT)[index] ?? 0;
    return { x, y: top + HEIGHTS[rows[index]?.sort ?? 'actor'] };
  }

  /** Moves the view so that a moment is within it. */
  #show(at: number): void {
    const range = this.scale.peek()?.range;
    if (range === undefined || (at >= range.from && at <= range.to)) return;
    const half = (range.to - range.from) / 2;
    this.range.value = { from: at - half, to: at + half };
  }
}
