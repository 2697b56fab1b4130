/**
 * Places of what is drawn: boxes, lines, labels and marks, in pixels from the upper left corner.
 */

import type { SketchedEdge, SketchedState } from './sketch.ts';

export type Direction = 'RIGHT' | 'DOWN';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box {
  readonly sketch: SketchedState;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}

export interface Line {
  readonly edge: SketchedEdge;
  readonly points: readonly Point[];
  readonly label: Point;
}

/** Mark of the state that is entered first. */
export interface InitialMark {
  readonly state: string;
  readonly at: Point;
  readonly points: readonly Point[];
}

export interface ChartLayout {
  readonly width: number;
  readonly height: number;
  readonly direction: Direction;
  /** Outer boxes before those in them. */
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  readonly marks: readonly InitialMark[];
  /** False for nested boxes without edges. */
  readonly hasEdges: boolean;
}
