/**
 * Layout of a chart: where each state, edge and label lies, in pixels from the upper left corner.
 *
 * ELK does the work; the caller brings it (a worker in a page, the bundled build in Node). Where it fails, or
 * is not there, states are nested boxes without edges, and their transitions are rows in them.
 */

import { isInside } from './definition.ts';
import { nest } from './nested.ts';
import type { Box, ChartLayout, Direction, InitialMark, Line, Point } from './places.ts';
import { GAP, type Sketch, type SketchedEdge, type SketchedState } from './sketch.ts';

/** Parts of an ELK graph that are read and written here. */
export interface ElkNode {
  readonly id: string;
  readonly x?: number;
  readonly y?: number;
  readonly width?: number;
  readonly height?: number;
  readonly children?: ElkNode[];
  readonly edges?: ElkEdge[];
  readonly layoutOptions?: Record<string, string>;
}

interface ElkEdge {
  readonly id: string;
  readonly sources: string[];
  readonly targets: string[];
  readonly labels?: Array<{
    id: string;
    text: string;
    x?: number;
    y?: number;
    width: number;
    height: number;
  }>;
  readonly sections?: ReadonlyArray<{
    readonly startPoint: Point;
    readonly endPoint: Point;
    readonly bendPoints?: readonly Point[];
  }>;
}

export type Elk = (graph: ElkNode) => Promise<ElkNode>;

export const MARK_SIZE = 10;
const ROOT = 'chart';
const MARK_PREFIX = 'initial of ';
const ROOT_OPTIONS: Record<string, string> = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.crossingMinimization.forceNodeModelOrder': 'false',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.edgeLabels.inline': 'true',
};
const SPACING: Record<string, string> = {
  'elk.spacing.nodeNode': '20',
  'elk.layered.spacing.nodeNodeBetweenLayers': '24',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '10',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
  'elk.spacing.edgeLabel': '2',
  'elk.spacing.labelNode': '4',
};

/** The better of both directions for a panel of this shape (width by height). */
export async function layOut(sketch: Sketch, elk: Elk, aspect = 1.4): Promise<ChartLayout> {
  const both = await Promise.all([
    layOutTo(sketch, elk, 'RIGHT').catch(() => undefined),
    layOutTo(sketch, elk, 'DOWN').catch(() => undefined),
  ]);
  const found = both.filter((layout) => layout !== undefined);
  return found.sort((one, other) => misfit(one, aspect) - misfit(other, aspect))[0] ?? nest(sketch);
}

export async function layOutTo(
  sketch: Sketch,
  elk: Elk,
  direction: Direction,
): Promise<ChartLayout> {
  const alone = standingAlone(sketch);
  const edges = new Map<string, ElkEdge[]>();
  for (const edge of [...initialEdges(sketch.root), ...sketch.edges.map(elkEdge)]) {
    const around = alone.find(({ state: { id } }) => isWithin(edge, id))?.state.id ?? ROOT;
    edges.set(around, [...(edges.get(around) ?? []), edge]);
  }
  const ids = new Set(alone.map(({ state }) => state.id));
  const layoutOptions = { ...ROOT_OPTIONS, ...SPACING, 'elk.direction': direction };
  const graph = await elk({
    id: ROOT,
    layoutOptions,
    children: [
      elkNode(sketch.root, (id) =>
        ids.has(id)
          ? {
              layoutOptions: { ...layoutOptions, 'elk.hierarchyHandling': 'SEPARATE_CHILDREN' },
              edges: edges.get(id) ?? [],
            }
          : undefined,
      ),
    ],
    edges: edges.get(ROOT) ?? [],
  });
  return placed(sketch, graph, direction);
}

/**
 * States whose edges all connect their own children, the inner ones first: each is laid out for itself, which
 * keeps charts small. ELK draws no edge over two levels there.
 */
function standingAlone({ root, edges }: Sketch): SketchedState[] {
  const found: SketchedState[] = [];
  const isSettled = ({ source, target }: SketchedEdge): boolean =>
    found.some(({ state: { id } }) => isInside(source, id) && isInside(target, id));
  const isAlone = ({ state: { id }, children }: SketchedState): boolean =>
    edges.every((edge) => {
      const { source, target } = edge;
      if (!isInside(source, id) && !isInside(target, id)) return true;
      const isOwn = [source, target].every((end) => children.some(({ state }) => state.id === end));
      return isOwn || isSettled(edge);
    });
  const visit = (sketched: SketchedState): void => {
    for (const child of sketched.children) visit(child);
    if (sketched.children.length > 0 && isAlone(sketched)) found.push(sketched);
  };
  for (const child of root.children) visit(child);
  return found;
}

function isWithin({ sources, targets }: ElkEdge, id: string): boolean {
  return [...sources, ...targets].every((node) => {
    const isMark = node.startsWith(MARK_PREFIX);
    const state = node.slice(isMark ? MARK_PREFIX.length : NODE_PREFIX.length);
    return isInside(state, id) || (isMark && state === id);
  });
}

/** The scale at which it would fit: the panel shows the larger one. */
function misfit({ width, height }: ChartLayout, aspect: number): number {
  return Math.max(width / aspect, height);
}

const hasMark = ({ state, children }: SketchedState): boolean =>
  state.initial !== undefined && children.length > 0;

function elkNode(
  sketched: SketchedState,
  settings: (state: string) => Pick<ElkNode, 'layoutOptions' | 'edges'> | undefined,
): ElkNode {
  const { state, children, width, height } = sketched;
  const id = nodeId(state.id);
  if (state.type === 'history') return { id, width: 24, height: 24 };
  if (children.length === 0) return { id, width, height };
  const mark = { id: `${MARK_PREFIX}${state.id}`, width: MARK_SIZE, height: MARK_SIZE };
  const own = settings(state.id);
  return {
    id,
    ...own,
    layoutOptions: {
      ...own?.layoutOptions,
      ...SPACING,
      'elk.padding': `[top=${height + GAP},left=12,bottom=12,right=12]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width},${height})`,
    },
    children: [
      ...(hasMark(sketched) ? [mark] : []),
      ...children.map((child) => elkNode(child, settings)),
    ],
  };
}

function initialEdges(sketched: SketchedState): ElkEdge[] {
  const { state, children } = sketched;
  const inner = children.flatMap(initialEdges);
  if (!hasMark(sketched)) return inner;
  const mark = `${MARK_PREFIX}${state.id}`;
  const target = children.find(
    ({ state: { id } }) => id === state.initial || state.initial?.startsWith(`${id}.`),
  );
  if (target === undefined) return inner;
  return [{ id: mark, sources: [mark], targets: [nodeId(target.state.id)] }, ...inner];
}

function elkEdge({ id, source, target, width, height }: SketchedEdge): ElkEdge {
  return {
    id: `edge ${id}`,
    sources: [nodeId(source)],
    targets: [nodeId(target)],
    labels: [{ id: `label ${id}`, text: 'label', width, height }],
  };
}

const NODE_PREFIX = 'state ';
const nodeId = (state: string): string => `${NODE_PREFIX}${state}`;

function placed(sketch: Sketch, graph: ElkNode, direction: Direction): ChartLayout {
  const nodes = new Map<string, ElkNode>();
  const edges = new Map<string, ElkEdge>();
  const collect = (node: ElkNode): void => {
    nodes.set(node.id, node);
    for (const edge of node.edges ?? []) edges.set(edge.id, edge);
    for (const child of node.children ?? []) collect(child);
  };
  collect(graph);
  const boxes: Box[] = [];
  const marks: InitialMark[] = [];
  const visit = (sketched: SketchedState, depth: number): void => {
    const { state } = sketched;
    boxes.push({ sketch: sketched, depth, ...frameOf(nodes.get(nodeId(state.id))) });
    const mark = nodes.get(`${MARK_PREFIX}${state.id}`);
    if (mark !== undefined) {
      const { x, y } = frameOf(mark);
      marks.push({ state: state.id, at: { x, y }, points: pointsOf(edges.get(mark.id)) });
    }
    for (const child of sketched.children) visit(child, depth + 1);
  };
  visit(sketch.root, 0);
  const lines = sketch.edges.map((edge): Line => {
    const found = edges.get(`edge ${edge.id}`);
    const { x = 0, y = 0 } = found?.labels?.[0] ?? {};
    return { edge, points: pointsOf(found), label: { x, y } };
  });
  const { width, height } = frameOf(graph);
  return { width, height, direction, boxes, lines, marks, hasEdges: true };
}

function frameOf(node: ElkNode | undefined): Point & { width: number; height: number } {
  const { x = 0, y = 0, width = 0, height = 0 } = node ?? {};
  return { x, y, width, height };
}

function pointsOf(edge: ElkEdge | undefined): Point[] {
  return (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
}
