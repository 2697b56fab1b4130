/**
 * Sketch of a chart: what is drawn of a definition, with the size of each thing and no place yet.
 *
 * A transition that leaves nothing is a row in its state; those of one state to the same target share an
 * edge. A collapsed state hides what is in it: edges from and to its inside begin and end at it.
 */

import type { ChartDefinition, ChartState, ChartTransition } from '../protocol.ts';
import { causeText, childrenByState, isInside, labelOf } from './definition.ts';
import { FONT_SIZE, fitted, LINE_HEIGHT, type Measure, oneLine } from './text.ts';

export interface Row {
  /** `more` goes on with the row before it. */
  readonly type: 'internal' | 'again' | 'leading' | 'invoke' | 'inside' | 'more';
  readonly text: string;
  /** Text in full, and what the transitions do. */
  readonly title: string;
  readonly transitions: readonly ChartTransition[];
}

export interface SketchedState {
  readonly state: ChartState;
  readonly title: string;
  readonly rows: readonly Row[];
  readonly children: readonly SketchedState[];
  readonly isCollapsed: boolean;
  readonly width: number;
  /** Height of the title and the rows. */
  readonly height: number;
}

export interface LabelLine {
  readonly text: string;
  readonly title: string;
  readonly transitions: readonly ChartTransition[];
}

export interface SketchedEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly lines: readonly LabelLine[];
  readonly width: number;
  readonly height: number;
}

export interface Sketch {
  readonly root: SketchedState;
  readonly edges: readonly SketchedEdge[];
}

export interface SketchOptions {
  readonly measure: Measure;
  /** Paths of states that are shown without what is in them. */
  readonly collapsed?: ReadonlySet<string>;
  /** True where a countdown will stand behind the name of each deadline. */
  readonly hasCountdowns?: boolean;
}

export const GAP = 8;
/** Room left of a row for its mark. */
export const MARK_WIDTH = 14;
/** Room for a countdown right of a deadline's name. */
export const COUNTDOWN_WIDTH = 48;
const LINE_WIDTH_MAX = 260;
const STATE_WIDTH_MIN = 64;

export function sketchOf(definition: ChartDefinition, options: SketchOptions): Sketch {
  const { collapsed = new Set<string>(), measure, hasCountdowns = false } = options;
  const countdown = hasCountdowns ? COUNTDOWN_WIDTH : 0;
  const children = childrenByState(definition.states);
  const shown = shownStates(definition.states, collapsed);
  const rows = new Map<string, ChartTransition[]>();
  const edges = new Map<string, { source: string; target: string; lines: ChartTransition[] }>();
  for (const transition of definition.transitions) {
    if (!shown.has(transition.source) && transition.targets.length === 0) continue;
    const source = shownAs(transition.source, shown);
    const targets = new Set(transition.targets.map((target) => shownAs(target, shown)));
    for (const target of targets.size === 0 ? [source] : targets) {
      if (isInside(target, source) || isInside(source, target) || target === source) {
        // Of a collapsed state only that is told which is its own.
        if (transition.source === source)
          rows.set(source, [...(rows.get(source) ?? []), transition]);
        continue;
      }
      const key = `${source}→${target}`;
      const edge = edges.get(key) ?? { source, target, lines: [] };
      edge.lines.push(transition);
      edges.set(key, edge);
    }
  }
  const sketchState = (state: ChartState): SketchedState => {
    const isCollapsed = collapsed.has(state.id) && (children.get(state.id) ?? []).length > 0;
    const below = isCollapsed ? [] : (children.get(state.id) ?? []);
    const hidden = isCollapsed ? countInside(definition.states, state.id) : 0;
    return sized(state, rowsOf(state, rows.get(state.id) ?? [], hidden), below.map(sketchState), {
      measure,
      isCollapsed,
      countdown,
    });
  };
  const root = sketchState(definition.states[0] as ChartState);
  return {
    root,
    edges: [...edges].map(([id, edge]) => sketchEdge(id, edge, measure, countdown)),
  };
}

/** Details of a transition for those who rest the pointer on it. */
function titleOf(transition: ChartTransition): string {
  const does = (transition.actions ?? []).map((action) => `\n  / ${action}`).join('');
  const said = transition.description === undefined ? '' : `\n${transition.description}`;
  const to = transition.targets.length === 0 ? '' : ` → ${transition.targets.join(', ')}`;
  const taken = transition.count === undefined ? '' : `\n  taken ${transition.count} times`;
  return `${labelOf(transition)}${to}${does}${said}${taken}`;
}

function shownStates(
  states: readonly ChartState[],
  collapsed: ReadonlySet<string>,
): ReadonlySet<string> {
  const shown = new Set<string>();
  for (const { id, parent } of states)
    if (parent === undefined || (shown.has(parent) && !collapsed.has(parent))) shown.add(id);
  return shown;
}

/** The state itself, or the collapsed one that hides it. */
function shownAs(id: string, shown: ReadonlySet<string>): string {
  let at = id;
  while (!shown.has(at)) at = at.includes('.') ? at.slice(0, at.lastIndexOf('.')) : '';
  return at;
}

function countInside(states: readonly ChartState[], id: string): number {
  return states.filter((state) => isInside(state.id, id)).length;
}

function rowsOf(
  { invokes = [] }: ChartState,
  transitions: readonly ChartTransition[],
  hidden: number,
): Row[] {
  const rows = grouped(
    transitions,
    (transition) => `${rowType(transition)} ${leadsTo(transition)}`,
  );
  return [
    ...invokes.map(
      ({ id, src }): Row => ({
        type: 'invoke',
        text: src,
        title: `runs ${src} as ${id}`,
        transitions: [],
      }),
    ),
    ...rows.map(
      (group): Row => ({
        type: rowType(group[0] as ChartTransition),
        text: `${groupText(group)}${leadsTo(group[0] as ChartTransition)}`,
        title: group.map(titleOf).join('\n'),
        transitions: group,
      }),
    ),
    ...(hidden === 0
      ? []
      : [
          {
            type: 'inside',
            text: hidden === 1 ? '1 state' : `${hidden} states`,
            title: 'Show the states in it',
            transitions: [],
          } as const,
        ]),
  ];
}

function rowType({ source, targets }: ChartTransition): Row['type'] {
  if (targets.length === 0) return 'internal';
  return targets.every((target) => target === source) ? 'again' : 'leading';
}

/** An edge from a state to one around it or in it would cross both: it is a row that names its target. */
function leadsTo(transition: ChartTransition): string {
  const { source, targets } = transition;
  if (rowType(transition) !== 'leading') return '';
  const names = targets.map((target) =>
    isInside(target, source) && source !== '' ? target.slice(source.length + 1) : target,
  );
  return ` → ${names.join(', ') || 'the whole'}`;
}

/** Transitions by cause, and by `key` where one is given. */
function grouped(
  transitions: readonly ChartTransition[],
  key: (transition: ChartTransition) => string = () => '',
): ChartTransition[][] {
  const groups = new Map<string, ChartTransition[]>();
  for (const transition of transitions) {
    const name = `${causeText(transition)} ${key(transition)}`;
    groups.set(name, [...(groups.get(name) ?? []), transition]);
  }
  return [...groups.values()];
}

/** The cause once, with the guards of all, and how often each was taken where that is known. */
function groupText(group: readonly ChartTransition[]): string {
  const cause = causeText(group[0] as ChartTransition);
  const counts = group.flatMap(({ count }) => (count === undefined ? [] : [`×${count}`]));
  const taken = counts.length === 0 ? '' : ` ${counts.join(' ')}`;
  if (group.every(({ guard }) => guard === undefined)) return `${cause}${taken}`;
  const guards = new Set(group.map(({ guard = 'else' }) => guard));
  return `${cause} [${[...guards].join(' | ')}]${taken}`;
}

/** Texts of one line each: guards that have no room go on below. */
function wrapped(text: string, max: number, measure: Measure): string[] {
  const [first = '', ...rest] = text.split(' | ');
  const lines = [first];
  for (const part of rest) {
    const longer = `${lines.at(-1)} | ${part}`;
    if (measure(longer, 'label') <= max) lines[lines.length - 1] = longer;
    else lines.push(`  | ${part}`);
  }
  return lines.map((line) => fitted(line, 'label', max, measure));
}

function sized(
  state: ChartState,
  rows: readonly Row[],
  children: readonly SketchedState[],
  {
    measure,
    isCollapsed,
    countdown,
  }: { measure: Measure; isCollapsed: boolean; countdown: number },
): SketchedState {
  const title = fitted(oneLine(state.key), 'title', LINE_WIDTH_MAX, measure);
  const fittedRows = rows.flatMap((row) =>
    wrapped(oneLine(row.text), LINE_WIDTH_MAX, measure).map(
      (text, index): Row => ({ ...row, text, type: index === 0 ? row.type : 'more' }),
    ),
  );
  const room = (row: Row): number => (row.text.startsWith('after ') ? countdown : 0);
  const widths = fittedRows.map((row) => measure(row.text, 'label') + MARK_WIDTH + room(row));
  // Tags stand behind the title, as small marks.
  const tags = (state.tags ?? []).reduce((sum, tag) => sum + tagWidth(tag, measure) + 4, 0);
  const inner = Math.max(
    measure(title, 'title') + tags + (isCollapsed ? MARK_WIDTH : 0),
    ...widths,
  );
  return {
    state,
    title,
    rows: fittedRows,
    children,
    isCollapsed,
    width: Math.ceil(Math.max(STATE_WIDTH_MIN, inner + 2 * GAP)),
    height:
      LINE_HEIGHT.title + GAP + fittedRows.length * LINE_HEIGHT.label + (rows.length > 0 ? 4 : 0),
  };
}

export function tagWidth(tag: string, measure: Measure): number {
  return measure(oneLine(tag).slice(0, TAG_LENGTH_MAX), 'label') + 8;
}
export const TAG_LENGTH_MAX = 20;

function sketchEdge(
  id: string,
  { source, target, lines }: { source: string; target: string; lines: readonly ChartTransition[] },
  measure: Measure,
  countdown: number,
): SketchedEdge {
  const texts = grouped(lines).flatMap((group): LabelLine[] =>
    wrapped(oneLine(groupText(group)), LINE_WIDTH_MAX, measure).map((text) => ({
      text,
      title: group.map(titleOf).join('\n'),
      transitions: group,
    })),
  );
  const widths = texts.map(
    ({ text }) => measure(text, 'label') + (text.startsWith('after ') ? countdown : 0),
  );
  return {
    id,
    source,
    target,
    lines: texts,
    width: Math.ceil(Math.max(...widths)) + 8,
    height: texts.length * LINE_HEIGHT.label + (FONT_SIZE.label >> 2),
  };
}
