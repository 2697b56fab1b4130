/**
 * Layout without ELK: boxes in boxes, in rows; for want of edges each transition is a row of its source.
 */

import type { Box, ChartLayout } from './places.ts';
import {
  COUNTDOWN_WIDTH,
  GAP,
  type Sketch,
  type SketchedEdge,
  type SketchedState,
} from './sketch.ts';

export function nest(sketch: Sketch): ChartLayout {
  const leaving = new Map<string, SketchedEdge[]>();
  for (const edge of sketch.edges)
    leaving.set(edge.source, [...(leaving.get(edge.source) ?? []), edge]);
  const boxes: Box[] = [];
  const place = (sketched: SketchedState, x: number, y: number, depth: number): Box => {
    const told = withRows(sketched, leaving.get(sketched.state.id) ?? []);
    const index = boxes.push({ sketch: told, x, y, depth, width: 0, height: 0 }) - 1;
    let right = x + told.width;
    let top = y + told.height + GAP;
    let left = x + 12;
    let bottom = top - GAP;
    for (const child of told.children) {
      if (left > x + NESTED_WIDTH) {
        left = x + 12;
        top = bottom + 12;
      }
      const box = place(child, left, top, depth + 1);
      left += box.width + 12;
      right = Math.max(right, left);
      bottom = Math.max(bottom, top + box.height);
    }
    const padding = told.children.length > 0 ? 12 : 0;
    const box = { sketch: told, x, y, depth, width: right - x, height: bottom + padding - y };
    boxes[index] = box;
    return box;
  };
  const { width, height } = place(sketch.root, 12, 12, 0);
  const size = { width: width + 24, height: height + 24 };
  return { ...size, direction: 'RIGHT', boxes, lines: [], marks: [], hasEdges: false };
}

const NESTED_WIDTH = 900;

function withRows(sketched: SketchedState, edges: readonly SketchedEdge[]): SketchedState {
  const rows = edges.flatMap(({ lines, target }) =>
    lines.map(({ text, title, transitions }) => ({
      type: 'leading' as const,
      text: `${text} → ${target}`,
      title,
      transitions,
    })),
  );
  const widths = edges.map(({ width, target }) => width + target.length * 7 + COUNTDOWN_WIDTH);
  return {
    ...sketched,
    rows: [...sketched.rows, ...rows],
    width: Math.max(sketched.width, ...widths),
    height: sketched.height + rows.length * 16 + 4,
  };
}
