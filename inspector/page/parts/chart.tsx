/**
 * Chart of a machine: laid out once, lit as its actor moves, with countdowns on its deadlines; zoomed, panned, and
 * collapsed by hand.
 */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { pictureOf } from '../../drawing/picture.ts';
import type { ChartLayout } from '../../drawing/places.ts';
import type { ChartDefinition, Deadline } from '../../protocol.ts';
import { now } from '../core/clock.ts';
import { boxesOf, layoutOf, measureText } from '../core/definitions.ts';
import { countdown } from '../core/words.ts';
import { centre, firstView, fitted, type View, zoomed } from './chart-view.ts';
import { badge, buildChart, type ChartElements, Countdowns, light } from './picture-dom.ts';

export interface ChartProps {
  readonly definition: ChartDefinition;
  /** Paths of the active states. */
  readonly active?: readonly string[];
  /** Transitions taken last. */
  readonly taken?: readonly string[];
  readonly deadlines?: readonly Deadline[];
  /** Words on states. */
  readonly words?: ReadonlyMap<string, { text: string; title: string; isLate?: boolean }>;
  readonly onState?: (state: string) => void;
}

/** Of larger machines what is not active is collapsed at first: it is drawn in a moment, and is read in one. */
const STATES_AT_ONCE = 30;
const BOXES_AFTER_MS = 200;

export function Chart(props: ChartProps) {
  const { definition, active = [], taken = [], deadlines = [], words } = props;
  const frame = useRef<HTMLDivElement>(null);
  const built = useRef<{ elements: ChartElements; countdowns: Countdowns } | undefined>(undefined);
  const collapsed = useSignal<ReadonlySet<string>>(
    new Set(
      definition.states.length > STATES_AT_ONCE ? collapsible(definition, new Set(active)) : [],
    ),
  );
  const view = useSignal<View>({ scale: 1, x: 0, y: 0 });
  const isTouched = useRef(false);
  const { layout, isDrawn } = useLayout(definition, collapsed, frame);

  const draw = (): void => {
    const canvas = frame.current?.querySelector('.canvas');
    if (!canvas || layout.value === undefined) return;
    const elements = buildChart(pictureOf(layout.value, measureText));
    canvas.replaceChildren(elements.svg);
    built.current = { elements, countdowns: new Countdowns(elements) };
    if (!isTouched.current)
      view.value = firstView(
        layout.value,
        frame.current,
        new Set(active),
        leadingState(definition, deadlines),
      );
  };
  useLayoutEffect(draw, [layout.value]);
  useLayoutEffect(() => {
    if (built.current !== undefined) light(built.current.elements, new Set(active), new Set(taken));
  }, [layout.value, active.join('\n'), taken.join('\n')]);
  useLayoutEffect(() => {
    if (built.current !== undefined) badge(built.current.elements, words ?? new Map());
  }, [layout.value, words]);
  const present = now.value;
  useLayoutEffect(() => {
    built.current?.countdowns.show(armedOn(deadlines, present));
  }, [layout.value, deadlines, present]);

  const zoom = (factor: number, at?: { x: number; y: number }): void => {
    isTouched.current = true;
    view.value = zoomed(view.value, factor, at ?? centre(frame.current));
  };
  const fit = (): void => {
    if (layout.value !== undefined) view.value = fitted(layout.value, frame.current);
  };
  useControls(frame, view, isTouched, zoom);
  const others = collapsible(definition, new Set(active));
  const toggle = (event: MouseEvent): void => {
    const state = (event.target as Element).closest('[data-state]')?.getAttribute('data-state');
    if (!state) return;
    if (event.type === 'dblclick') {
      const next = new Set(collapsed.value);
      if (!next.delete(state) && definition.states.some(({ parent }) => parent === state))
        next.add(state);
      collapsed.value = next;
    } else props.onState?.(state);
  };
  const { scale, x, y } = view.value;
  return (
    <div class="chart-frame">
      <Tools
        scale={scale}
        zoom={zoom}
        fit={fit}
        hides={collapsed.value.size > 0}
        onHide={
          others.length === 0 && collapsed.value.size === 0
            ? undefined
            : () => {
                isTouched.current = false;
                collapsed.value = new Set(collapsed.value.size > 0 ? [] : others);
              }
        }
      />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the buttons above do the same. */}
      <div
        class="chart-view"
        ref={frame}
        tabIndex={0}
        role="group"
        aria-label={`Statechart of ${definition.machine}; arrows move it, + and - zoom`}
        onClick={toggle}
        onDblClick={toggle}
      >
        <div class="canvas" style={{ transform: `translate(${x}px,${y}px) scale(${scale})` }} />
        {!isDrawn.value && <p class="note">Drawing {definition.states.length} states…</p>}
      </div>
      {isDrawn.value && layout.value?.hasEdges === false && (
        <p class="note">
          The layout engine could not be used: states are boxes, their transitions lines of text.
        </p>
      )}
    </div>
  );
}

/** The layout of what is not collapsed: boxes while the better one takes its time. */
function useLayout(
  definition: ChartDefinition,
  collapsed: Signal<ReadonlySet<string>>,
  frame: { readonly current: HTMLDivElement | null },
) {
  const layout = useSignal<ChartLayout | undefined>(undefined);
  const isDrawn = useSignal(false);
  useEffect(() => {
    const { clientWidth = 800, clientHeight = 600 } = frame.current ?? {};
    let isWanted = true;
    // A better layout may take a moment: boxes can be read meanwhile.
    const soon = setTimeout(() => {
      layout.value = boxesOf(definition, collapsed.value);
    }, BOXES_AFTER_MS);
    void layoutOf(definition, collapsed.value, clientWidth / Math.max(1, clientHeight))
      .catch(() => boxesOf(definition, collapsed.value))
      .then((found) => {
        clearTimeout(soon);
        if (isWanted) layout.value = found;
        if (isWanted) isDrawn.value = true;
      });
    return () => {
      isWanted = false;
      clearTimeout(soon);
    };
  }, [definition.hash, collapsed.value]);
  return { layout, isDrawn };
}

interface ToolsProps {
  readonly scale: number;
  readonly zoom: (factor: number) => void;
  readonly fit: () => void;
  readonly hides: boolean;
  readonly onHide: (() => void) | undefined;
}

function Tools({ scale, zoom, fit, hides, onHide }: ToolsProps) {
  return (
    <div class="chart-tools" role="toolbar" aria-label="Chart">
      <button type="button" onClick={() => zoom(1.25)} title="Larger">
        +
      </button>
      <button type="button" onClick={() => zoom(0.8)} title="Smaller">
        −
      </button>
      <button type="button" onClick={fit} title="The whole chart">
        Fit
      </button>
      <button type="button" onClick={() => zoom(1 / scale)} title="Names at their size">
        {Math.round(scale * 100)} %
      </button>
      {onHide !== undefined && (
        <button
          type="button"
          aria-pressed={hides}
          onClick={onHide}
          title="Hide what is in states that are not active. A double click hides one state."
        >
          {hides ? 'Show all states' : 'Active only'}
        </button>
      )}
    </div>
  );
}

/** State whose deadline leads on first: a rhythm that only begins again says less. */
function leadingState(
  { transitions }: ChartDefinition,
  deadlines: readonly Deadline[],
): string | undefined {
  const leads = deadlines.filter((deadline) =>
    transitions.some(
      ({ id, source, targets }) =>
        deadline.transitions.includes(id) && targets.some((target) => target !== source),
    ),
  );
  return leads.toSorted((one, other) => one.dueAt - other.dueAt)[0]?.state;
}

/** Compound states without an active one in them, the outermost of each. */
function collapsible(definition: ChartDefinition, active: ReadonlySet<string>): string[] {
  const parents = new Set(definition.states.map(({ parent }) => parent));
  const idle = definition.states.filter(
    ({ id }) => id !== '' && parents.has(id) && !active.has(id),
  );
  const isOuter = ({ parent = '' }: { parent?: string }): boolean =>
    parent === '' || active.has(parent);
  return active.size < 2 ? [] : idle.filter(isOuter).map(({ id }) => id);
}

function armedOn(deadlines: readonly Deadline[], present: number) {
  const armed = new Map<string, { text: string; share: number | undefined; isLate: boolean }>();
  for (const { transitions, dueAt, armedAt, child } of deadlines) {
    const [first] = transitions;
    if (first === undefined || child !== undefined || present === 0) continue;
    const share =
      armedAt === undefined ? undefined : (present - armedAt) / Math.max(1, dueAt - armedAt);
    for (const id of transitions)
      armed.set(id, { text: countdown(dueAt, present), share, isLate: dueAt < present });
  }
  return armed;
}

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [60, 0],
  ArrowRight: [-60, 0],
  ArrowUp: [0, 60],
  ArrowDown: [0, -60],
};

function useControls(
  frame: { readonly current: HTMLDivElement | null },
  view: { value: View },
  isTouched: { current: boolean },
  zoom: (factor: number, at?: { x: number; y: number }) => void,
): void {
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const move = (dx: number, dy: number): void => {
      isTouched.current = true;
      const { scale, x, y } = view.value;
      view.value = { scale, x: x + dx, y: y + dy };
    };
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey)
        zoom(Math.exp(-event.deltaY / 200), { x: event.clientX - left, y: event.clientY - top });
      else move(-event.deltaX, -event.deltaY);
    };
    const drag = (event: PointerEvent): void => {
      if (event.buttons !== 1) return;
      if (Math.abs(event.movementX) + Math.abs(event.movementY) > 0)
        element.setPointerCapture(event.pointerId);
      move(event.movementX, event.movementY);
    };
    const press = (event: KeyboardEvent): void => {
      const by = ARROWS[event.key];
      if (by !== undefined) move(...by);
      else if (event.key === '+' || event.key === '=') zoom(1.25);
      else if (event.key === '-') zoom(0.8);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    element.addEventListener('wheel', wheel, { passive: false });
    element.addEventListener('pointermove', drag);
    element.addEventListener('keydown', press);
    return () => {
      element.removeEventListener('wheel', wheel);
      element.removeEventListener('pointermove', drag);
      element.removeEventListener('keydown', press);
    };
  }, []);
}
