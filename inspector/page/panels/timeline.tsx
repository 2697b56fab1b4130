/**
 * Timeline: one lane per actor with its states, budget, extensions and end, nodes and faults above them where they were
 * recorded; dragged, zoomed, or a range brushed.
 *
 * It follows the present until the reader moves it: then it stays where it is. Time in which nothing happened is folded.
 */

import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { TimelineAnswer } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { now } from '../core/clock.ts';
import { generation, hello, isPaused } from '../core/live.ts';
import { route } from '../core/route.ts';
import { counted, duration, plain, timeOfDay } from '../core/words.ts';
import { Empty, MissingNodes, Note } from '../parts/marks.tsx';
import { queryOf } from './actor-filters.tsx';
import { Axis, Folds, LaneRow, Messages, type Row } from './timeline-lanes.tsx';
import { useMoves } from './timeline-moves.ts';
import { momentsOf, type Range, rangeOf, scaleOf } from './timeline-range.ts';

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
  const { answer, error } = useAnswer<TimelineAnswer>(
    'timeline',
    { ...(query as Record<string, string>), run, round: String(generation.value) },
    isPaused.value || !isLive ? undefined : 2_000,
  );
  const own = useSignal<Range | undefined>(undefined);
  const range = shared ?? own;
  const isFolded = useSignal(true);
  const isUnfolded = useSignal(false);
  const width = useSignal(800);
  const tracks = useRef<HTMLDivElement>(null);
  const whole = answer === undefined ? undefined : rangeOf(answer, now.value);
  const shown = range.value ?? whole;
  const scale =
    answer === undefined || shown === undefined
      ? undefined
      : scaleOf(shown, width.value, isFolded.value ? momentsOf(answer) : []);
  useMoves(tracks, range, scale, width);
  if (answer === undefined || shown === undefined || scale === undefined)
    return error === undefined ? (
      <Note>Asking for the lanes…</Note>
    ) : (
      <Empty title="There is no timeline">
        <p>{error}</p>
      </Empty>
    );
  const { rows, quiet } = rowsOf(answer, isUnfolded.value);
  if (rows.length === 0)
    return (
      <Empty title="There is nothing to show">
        <p>No actor matches, or none has taken a turn.</p>
      </Empty>
    );
  const isWhole = range.value === undefined;
  return (
    <div class={`panel timeline ${addresses === undefined ? '' : 'within'}`}>
      <div class="timeline-tools">
        <span class="soft">
          {timeOfDay(shown.from)} to {timeOfDay(shown.to)}, {duration(shown.to - shown.from)}
        </span>
        <button
          type="button"
          disabled={isWhole}
          onClick={() => {
            range.value = undefined;
          }}
        >
          {isLive ? (isWhole ? 'Follows the present' : 'All of it, live') : 'All of it'}
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
        <span class="soft hint">Drag to move, wheel to zoom, Shift and drag to choose a range</span>
      </div>
      <MissingNodes missing={answer.missing} />
      <div
        class="tracks"
        ref={tracks}
        tabIndex={0}
        role="group"
        aria-label="Timeline; arrows move it, + and - zoom"
      >
        <Axis scale={scale} />
        {rows.map((row) => (
          <LaneRow
            row={row}
            scale={scale}
            present={now.value}
            isLinked={run === undefined}
            key={`${row.sort} ${row.lane.address}`}
          />
        ))}
        <Folds scale={scale} />
        <Messages rows={rows} messages={answer.messages} scale={scale} />
        {mark !== undefined && mark.at >= shown.from && mark.at <= shown.to && (
          <span class="moment" style={{ transform: `translateX(${scale.x(mark.at)}px)` }}>
            <b>{plain(mark.label)}</b>
          </span>
        )}
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
      {answer.more > 0 && (
        <Note>{counted(answer.more, 'more lane')}: narrow the list of actors to see them.</Note>
      )}
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
