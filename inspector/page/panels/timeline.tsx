/**
 * Timeline: one lane per actor with its states, budget, extensions and end, nodes and faults above them where they were
 * recorded; dragged, zoomed, or a range brushed.
 *
 * It follows the present until the reader moves it: then it stays where it is. Time in which nothing happened is folded.
 */

import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { TimelineAnswer } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { now } from '../core/clock.ts';
import { generation, hello, isPaused } from '../core/live.ts';
import { route } from '../core/route.ts';
import { counted, duration, plain, timeOfDay } from '../core/words.ts';
import { Empty, MissingNodes, Note } from '../parts/marks.tsx';
import { queryOf } from './actor-filters.tsx';
import { Brush, Lanes, Words } from './timeline-lanes.tsx';
import { listenToMoves, zoomBy } from './timeline-moves.ts';
import { boundsOf, momentsOf, type Range } from './timeline-range.ts';
import type { Row } from './timeline-shapes.ts';
import { TimelineView } from './timeline-view.ts';

export interface TimelineProps {
  readonly addresses?: readonly string[];
  /** Of the nearest run that holds, which has no actors to be opened. */
  readonly run?: 'other';
  /** A moment that is marked. */
  readonly mark?: { readonly at: number; readonly label: string } | undefined;
  /** Range that is shared with another timeline. */
  readonly range?: Signal<Range | undefined>;
}

export function TimelinePanel({ addresses, run, mark, range: shared }: TimelineProps) {
  const { params } = route.value;
  const asked = addresses ?? params.getAll('address');
  const query = asked.length > 0 ? { address: asked } : { ...queryOf(params), limit: '50' };
  const isLive = hello.value?.range === undefined;
  const { answer: given, error } = useAnswer<TimelineAnswer>(
    'timeline',
    { ...(query as Record<string, string>), run, round: String(generation.value) },
    isPaused.value || !isLive ? undefined : 2_000,
  );
  const own = useSignal<Range | undefined>(undefined);
  const range = shared ?? own;
  const view = useMemo(() => new TimelineView(range), [range]);
  const before = useRef<TimelineAnswer | undefined>(undefined);
  const answer = useMemo(
    () => (given === undefined ? undefined : steady(before.current, given, range.peek())),
    [given],
  );
  before.current = answer;
  if (answer === undefined)
    return error === undefined ? (
      <Note>Asking for the lanes…</Note>
    ) : (
      <Empty title="There is no timeline">
        <p>{error}</p>
      </Empty>
    );
  if ([answer.lanes, answer.nodes, answer.faults].every((lanes = []) => lanes.length === 0))
    return (
      <Empty title="There is nothing to show">
        <p>No actor matches, or none has taken a turn.</p>
      </Empty>
    );
  return (
    <div class={`panel timeline ${addresses === undefined ? '' : 'within'}`}>
      <Timeline view={view} answer={answer} mark={mark} isLinked={run === undefined} />
      {answer.more > 0 && (
        <Note>
          {counted(answer.more, 'more lane')}: narrow the list of actors to see them.{' '}
          {answer.isPartial?.why}
        </Note>
      )}
    </div>
  );
}

/** While somebody inspects a range the lanes stay, in their order; what is news of them is shown. */
function steady(
  before: TimelineAnswer | undefined,
  given: TimelineAnswer,
  range: Range | undefined,
): TimelineAnswer {
  if (before === undefined || range === undefined) return given;
  const news = new Map(given.lanes.map((lane) => [lane.address, lane]));
  return { ...given, lanes: before.lanes.map((lane) => news.get(lane.address) ?? lane) };
}

function Timeline({
  view,
  answer,
  mark,
  isLinked,
}: {
  view: TimelineView;
  answer: TimelineAnswer;
  mark: TimelineProps['mark'];
  isLinked: boolean;
}) {
  const isFolded = useSignal(true);
  const isUnfolded = useSignal(false);
  const tracks = useRef<HTMLDivElement>(null);
  const { rows, quiet } = rowsOf(answer, isUnfolded.value);
  const shown = useMemo(() => ({ bounds: boundsOf(answer), moments: momentsOf(answer) }), [answer]);
  useLayoutEffect(() => {
    const { bounds, moments } = shown;
    const { messages } = answer;
    view.show({ rows, messages, bounds, moments: isFolded.value ? moments : [], mark });
  }, [view, shown, isFolded.value, isUnfolded.value, mark?.at]);
  const names = rows.map(({ lane }) => lane.address).join('\n');
  useLayoutEffect(() => {
    const box = tracks.current;
    if (box === null) return undefined;
    const ends = [view.begin(box), listenToMoves(box, view)];
    return () => {
      for (const end of ends) end();
    };
  }, [view, names]);
  return (
    <>
      <Tools view={view} isFolded={isFolded} />
      <MissingNodes missing={answer.missing} />
      <div
        class="tracks"
        ref={tracks}
        tabIndex={0}
        role="group"
        aria-label="Timeline; left and right move it, + and - zoom, up and down choose a lane, comma and full stop an event of it"
      >
        <Lanes rows={rows} isLinked={isLinked} />
        {mark !== undefined && (
          <p class="hidden moment">
            {plain(mark.label)} at {timeOfDay(mark.at)}
          </p>
        )}
        <Brush view={view} />
        <Words view={view} />
      </div>
      {quiet > 0 && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            isUnfolded.value = true;
          }}
        >
          {counted(quiet, 'node')} on which nothing of this happened
        </button>
      )}
    </>
  );
}

const MINUTE = 60_000;

function Tools({ view, isFolded }: { view: TimelineView; isFolded: Signal<boolean> }) {
  const isLive = hello.value?.range === undefined;
  const isWhole = view.range.value === undefined;
  const range = view.scale.value?.range;
  return (
    <div class="timeline-tools">
      {range !== undefined && (
        <span class="soft">
          {timeOfDay(range.from)} to {timeOfDay(range.to)}, {duration(range.to - range.from)}
        </span>
      )}
      <span class="zoom">
        <button type="button" aria-label="Zoom out" onClick={() => zoomBy(view, 1.6)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => zoomBy(view, 0.6)}>
          +
        </button>
      </span>
      <button
        type="button"
        disabled={isWhole}
        onClick={() => {
          view.range.value = undefined;
        }}
      >
        {isLive ? (isWhole ? 'Follows the present' : 'All of it, live') : 'All of it'}
      </button>
      <button
        type="button"
        title="Those that took a turn last, the newest on top"
        onClick={() => {
          view.range.value = { from: now.peek() - MINUTE, to: now.peek() };
        }}
      >
        The last minute
      </button>
      <label>
        <input
          type="checkbox"
          checked={isFolded.value}
          onChange={({ currentTarget }) => {
            isFolded.value = currentTarget.checked;
          }}
        />{' '}
        Fold idle time
      </label>
      <span class="soft hint">
        Drag to move, Ctrl and wheel to zoom, Shift and drag to choose a range
      </span>
    </div>
  );
}

/** Nodes that host none of the actors, and to which nothing happened, are folded: `quiet` of them. */
function rowsOf(
  { faults = [], nodes = [], lanes }: TimelineAnswer,
  isUnfolded: boolean,
): { rows: readonly Row[]; quiet: number } {
  const hosts = new Set(lanes.map(({ node }) => node));
  const shown = nodes.filter(
    ({ address, bars }) => isUnfolded || hosts.has(address) || bars.length > QUIET_BARS,
  );
  const rows = [
    ...faults.map((lane): Row => ({ sort: 'fault', lane })),
    ...shown.map((lane): Row => ({ sort: 'node', lane })),
    ...lanes.map((lane): Row => ({ sort: 'actor', lane })),
  ];
  return { rows, quiet: nodes.length - shown.length };
}

/** One life and one lease. */
const QUIET_BARS = 2;
