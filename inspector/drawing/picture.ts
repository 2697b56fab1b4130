/**
 * Picture of a laid out chart: a tree of SVG elements, for a page to build and for a file to write.
 *
 * Every state has `data-state`, every label `data-transitions`, every edge `data-edge`: a page
 * that lights a state finds it by these. Text is text: nothing of a machine becomes markup.
 */

import type { ChartTransition } from '../protocol.ts';
import { MARK_SIZE } from './layout.ts';
import type { Box, ChartLayout, InitialMark, Line, Point } from './places.ts';
import { GAP, MARK_WIDTH, type Row, TAG_LENGTH_MAX, tagWidth } from './sketch.ts';
import { LINE_HEIGHT, type Measure, oneLine } from './text.ts';

export interface PictureElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children?: readonly PictureElement[];
  readonly text?: string;
}

const CORNER = 6;
const ARROW = 7;
const MARGIN = 8;

export function pictureOf(layout: ChartLayout, measure: Measure): PictureElement {
  const { width, height, boxes, lines, marks } = layout;
  return element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      class: 'chart',
      viewBox: `${-MARGIN} ${-MARGIN} ${round(width + 2 * MARGIN)} ${round(height + 2 * MARGIN)}`,
      width: round(width + 2 * MARGIN),
      height: round(height + 2 * MARGIN),
      role: 'img',
    },
    [
      hint(`Statechart of ${oneLine(boxes[0]?.sketch.state.key ?? '')}`),
      element(
        'g',
        { class: 'states' },
        boxes.map((box) => stateElement(box, boxes, measure)),
      ),
      element('g', { class: 'edges' }, [...marks.map(markElement), ...lines.map(edgeElement)]),
      element('g', { class: 'labels' }, lines.map(labelElement)),
    ],
  );
}

/** Element as text of a file. */
export function markupOf({ tag, attributes, children = [], text }: PictureElement): string {
  const written = Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('');
  const inside = text === undefined ? children.map(markupOf).join('') : escaped(text);
  return inside === '' ? `<${tag}${written}/>` : `<${tag}${written}>${inside}</${tag}>`;
}

function stateElement(box: Box, boxes: readonly Box[], measure: Measure): PictureElement {
  const { sketch, x, y, width, height, depth } = box;
  const { state, title, rows, children } = sketch;
  if (state.type === 'history') return historyElement(box);
  const isRegion = parentOf(box, boxes)?.sketch.state.type === 'parallel';
  const words = ['state', state.type, `depth-${Math.min(depth, 5)}`];
  if (isRegion) words.push('region');
  if (sketch.isCollapsed) words.push('collapsed');
  if (state.count === 0) words.push('untaken');
  const frame = {
    x: round(x),
    y: round(y),
    width: round(width),
    height: round(height),
    rx: CORNER,
  };
  const inner = {
    x: frame.x + 3,
    y: frame.y + 3,
    width: frame.width - 6,
    height: frame.height - 6,
  };
  const titleY = round(y + LINE_HEIGHT.title);
  let tagX = x + GAP + measure(title, 'title') + GAP;
  const tags = (state.tags ?? []).flatMap((tag) => {
    const at = tagX;
    tagX += tagWidth(tag, measure) + 4;
    return [
      element('rect', {
        class: 'tag',
        x: round(at),
        y: titleY - 12,
        width: round(tagWidth(tag, measure)),
        height: 15,
        rx: 7,
      }),
      element(
        'text',
        { class: 'tag-name', x: round(at + 4), y: titleY - 1 },
        oneLine(tag).slice(0, TAG_LENGTH_MAX),
      ),
    ];
  });
  const divider = round(y + sketch.height);
  return element('g', { class: words.join(' '), 'data-state': state.id }, [
    hint(stateTitle(box)),
    element('rect', { class: 'box', ...frame }),
    ...(state.type === 'final' ? [element('rect', { class: 'inner', ...inner, rx: 4 })] : []),
    element('text', { class: 'title', x: round(x + GAP), y: titleY }, title),
    ...tags,
    ...rows.map((row, index) =>
      rowElement(row, x + GAP, y + LINE_HEIGHT.title + 6 + (index + 1) * LINE_HEIGHT.label),
    ),
    ...(children.length > 0 && rows.length > 0
      ? [element('path', { class: 'divider', d: `M${frame.x} ${divider}h${frame.width}` })]
      : []),
  ]);
}

function parentOf({ sketch }: Box, boxes: readonly Box[]): Box | undefined {
  return boxes.find((box) => box.sketch.children.includes(sketch));
}

function historyElement({ sketch: { state }, x, y, width }: Box): PictureElement {
  const radius = width / 2;
  return element('g', { class: 'state history', 'data-state': state.id }, [
    hint(`${state.key}: ${state.history} history`),
    element('circle', { class: 'box', cx: round(x + radius), cy: round(y + radius), r: radius }),
    element(
      'text',
      { class: 'title', x: round(x + radius), y: round(y + radius + 4), 'text-anchor': 'middle' },
      state.history === 'deep' ? 'H*' : 'H',
    ),
  ]);
}

function stateTitle({ sketch: { state } }: Box): string {
  const { id, key, type, description, count, entry = [], exit = [] } = state;
  const does = [
    ...entry.map((action) => `\n  entry / ${action}`),
    ...exit.map((action) => `\n  exit / ${action}`),
  ].join('');
  const entered = count === undefined ? '' : `\n  entered ${count} times`;
  return `${oneLine(id === '' ? key : id)} (${type})${description === undefined ? '' : `\n${description}`}${does}${entered}`;
}

const ROW_MARKS: Readonly<Record<Row['type'], string>> = {
  // A dot, a loop, a triangle that points on, three dots.
  internal: 'M2 -5h4v4h-4z',
  again: 'M8 -6.5A3.5 3.5 0 1 0 8 -1.5M8 -8.5v3h-3',
  invoke: 'M2 -8l6 4l-6 4z',
  leading: 'M1 -4.5h7m-3 -3l3 3l-3 3',
  more: '',
  inside: 'M1 -4h2m1.5 0h2m1.5 0h2',
};

function rowElement(row: Row, x: number, y: number): PictureElement {
  const attributes = {
    class: `row ${row.type}${row.text.startsWith('after ') ? ' deadline' : ''}${untaken(row.transitions)}`,
    transform: `translate(${round(x)} ${round(y)})`,
    ...namesOf(row.transitions),
  };
  return element('g', attributes, [
    hint(row.title),
    element('path', { class: 'row-mark', d: ROW_MARKS[row.type] }),
    element('text', { x: MARK_WIDTH }, row.text),
  ]);
}

/** Class of what tests have left out. */
const untaken = (transitions: readonly ChartTransition[]): string =>
  transitions.some(({ count }) => count === 0) ? ' untaken' : '';

/** The ids of transitions, one per line: an id has no line break. */
function namesOf(transitions: readonly ChartTransition[]): Record<string, string> {
  if (transitions.length === 0) return {};
  return { 'data-transitions': transitions.map(({ id }) => id).join('\n') };
}

function markElement({ at, points, state }: InitialMark): PictureElement {
  const radius = MARK_SIZE / 2;
  return element('g', { class: 'initial', 'data-initial': state }, [
    element('circle', { cx: round(at.x + radius), cy: round(at.y + radius), r: radius - 1 }),
    ...pathElements(points),
  ]);
}

function edgeElement({ edge, points }: Line): PictureElement {
  return element('g', { class: edgeClass(edge.lines), 'data-edge': edge.id }, pathElements(points));
}

function edgeClass(lines: Line['edge']['lines']): string {
  return lines.every(({ transitions }) => transitions[0]?.type === 'after')
    ? 'edge deadline'
    : 'edge';
}

function labelElement({ edge, label }: Line): PictureElement {
  const { x, y } = { x: round(label.x), y: round(label.y) };
  return element('g', { class: 'label', 'data-label': edge.id }, [
    element('rect', { class: 'paper', x, y, width: edge.width, height: edge.height, rx: 3 }),
    ...edge.lines.map(({ text, title, transitions }, index) =>
      element(
        'g',
        {
          class: `line ${transitions[0]?.type ?? ''}${untaken(transitions)}`,
          transform: `translate(${x + 4} ${y + (index + 1) * LINE_HEIGHT.label - 3})`,
          ...namesOf(transitions),
        },
        [hint(title), element('text', {}, text)],
      ),
    ),
  ]);
}

/** A line with round corners and a head. */
function pathElements(points: readonly Point[]): PictureElement[] {
  const last = points.at(-1);
  const before = points.at(-2);
  if (last === undefined || before === undefined) return [];
  const length = Math.hypot(last.x - before.x, last.y - before.y) || 1;
  const dx = (last.x - before.x) / length;
  const dy = (last.y - before.y) / length;
  const base = { x: last.x - dx * ARROW, y: last.y - dy * ARROW };
  const head = [
    last,
    { x: base.x - dy * ARROW * 0.5, y: base.y + dx * ARROW * 0.5 },
    { x: base.x + dy * ARROW * 0.5, y: base.y - dx * ARROW * 0.5 },
  ];
  return [
    element('path', { class: 'path', d: roundedPath([...points.slice(0, -1), base]) }),
    element('path', { class: 'head', d: `M${head.map(pointText).join('L')}Z` }),
  ];
}

function roundedPath(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      const after = points[index + 1];
      if (before === undefined) return `M${pointText(point)}`;
      if (after === undefined) return `L${pointText(point)}`;
      const near = towards(point, before);
      const far = towards(point, after);
      return `L${pointText(near)}Q${pointText(point)} ${pointText(far)}`;
    })
    .join('');
}

/** The point a corner's width from `from` on the way to `to`, half way at most. */
function towards(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const part = Math.min(CORNER, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

const round = (value: number): number => Math.round(value * 10) / 10;
const pointText = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;

function element(
  tag: string,
  attributes: PictureElement['attributes'],
  content: readonly PictureElement[] | string = [],
): PictureElement {
  return typeof content === 'string'
    ? { tag, attributes, text: content }
    : { tag, attributes, children: content };
}

function escaped(text: string): string {
  return text.replace(
    /[<>&"]|[^\P{Cc}\n]/gu,
    (found) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' })[found] ?? '\u{FFFD}',
  );
}

const HINT_LENGTH_MAX = 1_000;

/** Words that come when the pointer rests there: lines of the drawing, and nothing that would turn them. */
function hint(text: string): PictureElement {
  const lines = text.slice(0, HINT_LENGTH_MAX).split('\n').map(oneLine);
  return element('title', {}, lines.join('\n'));
}
