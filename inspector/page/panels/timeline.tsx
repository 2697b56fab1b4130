/**
 * Timeline: one lane per actor with its states, budget, extensions and end; dragged, zoomed, or a range brushed.
 *
 * It follows the present until the reader moves it: then it stays where it is. Only what is in sight is in the document.
 */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Lane, TimelineAnswer } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { now } from '../core/clock.ts';
import { generation, isPaused } from '../core/live.ts';
import { actorHref, go, route } from '../core/route.ts';
import { counted, duration, plain, timeOfDay } from '../core/words.ts';
import { ActorLink, Empty, MissingNodes, Note } from '../parts/marks.tsx';
import { queryOf } from './actor-filters.tsx';
import { barsIn, type Range, rangeOf, stepOf, type Visible } from './timeline-range.ts';

const LANE_HEIGHT = 56;

export function TimelinePanel({ addresses }: { addresses?: readonly string[] }) {
  const { params } = route.value;
  const asked = addresses ?? params.getAll('address');
  const query = asked.length > 0 ? { address: asked } : { ...queryOf(params), limit: '50' };
  const { answer, error } = useAnswer<TimelineAnswer>(
    'timeline',
    { ...(query as Record<string, string>), round: String(generation.value) },
    isPaused.value ? undefined : 2_000,
  );
  const range = useSignal<Range | undefined>(undefined);
  const width = useSignal(800);
  const tracks = useRef<HTMLDivElement>(null);
  const whole = answer === undefined ? undefined : rangeOf(answer, now.value);
  const shown = range.value ?? whole;
  useMoves(tracks, range, shown, width);
  if (answer === undefined || shown === undefined)
    return error === undefined ? (
      <Note>Asking for the lanes…</Note>
    ) : (
      <Empty title="There is no timeline">
        <p>{error}</p>
      </Empty>
    );
  if (answer.lanes.length === 0)
    return (
      <Empty title="There is nothing to show">
        <p>No actor matches, or none has taken a turn.</p>
      </Empty>
    );
  return (
    <div class={`panel timeline ${addresses === undefined ? '' : 'within'}`}>
      <div class="timeline-tools">
        <span class="soft">
          {timeOfDay(shown.from)} to {timeOfDay(shown.to)}, {duration(shown.to - shown.from)}
        </span>
        <button
          type="button"
          disabled={range.value === undefined}
          onClick={() => {
            range.value = undefined;
          }}
        >
          {range.value === undefined ? 'Follows the present' : 'All of it, live'}
        </button>
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
        <Axis shown={shown} width={width.value} />
        {answer.lanes.map((lane) => (
          <LaneRow
            lane={lane}
            shown={shown}
            width={width.value}
            present={now.value}
            key={lane.address}
          />
        ))}
        <Messages answer={answer} shown={shown} width={width.value} />
      </div>
      {answer.more > 0 && (
        <Note>{counted(answer.more, 'more lane')}: narrow the list of actors to see them.</Note>
      )}
    </div>
  );
}

function Axis({ shown, width }: { shown: Range; width: number }) {
  const step = stepOf(shown, width);
  const first = Math.ceil(shown.from / step) * step;
  const many = Math.max(0, Math.floor((shown.to - first) / step) + 1);
  return (
    <div class="axis" aria-hidden="true">
      {Array.from({ length: many }, (_, index) => {
        const at = first + index * step;
        const x = ((at - shown.from) / (shown.to - shown.from)) * width;
        return (
          <span key={at} style={{ transform: `translateX(${x}px)` }}>
            {step < 1_000 ? timeOfDay(at).slice(3) : timeOfDay(at).slice(0, 8)}
          </span>
        );
      })}
    </div>
  );
}

function LaneRow({
  lane,
  shown,
  width,
  present,
}: {
  lane: Lane;
  shown: Range;
  width: number;
  present: number;
}) {
  const { bars, marks } = barsIn(lane, shown, width, present);
  const scale = width / (shown.to - shown.from);
  return (
    <div class="lane" style={{ height: `${LANE_HEIGHT}px` }} data-address={lane.address}>
      <div class="lane-name">
        <ActorLink address={lane.address} /> <small class="soft">{plain(lane.node)}</small>
      </div>
      {lane.since > shown.from && lane.since < shown.to && (
        <span
          class="unknown"
          style={{ transform: `translateX(${(lane.since - shown.from) * scale - 12}px)` }}
          title="Its history begins here"
        />
      )}
      {bars.map((bar) => (
        <Bar bar={bar} key={bar.key} />
      ))}
      {marks.map(({ mark, x, more }) => (
        <button
          type="button"
          class={`lane-mark ${mark.sort}`}
          key={`${mark.turn} ${mark.sort}`}
          style={{ transform: `translateX(${x}px)` }}
          title={`${timeOfDay(mark.at)} ${plain(mark.label)}${more > 0 ? `, and ${more} more here` : ''}`}
          aria-label={`${mark.sort}: ${plain(mark.label)}`}
          onClick={() => go(`${actorHref(lane.address, 'turns')}&turn=${mark.turn}`)}
        />
      ))}
    </div>
  );
}

function Bar({ bar: { sort, x, width, label, outcome } }: { bar: Visible }) {
  return (
    <span
      class={`lane-bar ${sort} ${outcome ?? ''}`}
      style={{ transform: `translateX(${x}px)`, width: `${width}px` }}
      title={plain(label)}
    >
      {sort === 'state' && width > 40 ? plain(label) : ''}
    </span>
  );
}

/** Messages between lanes as lines from the sender's moment to the receiver's. */
function Messages({
  answer,
  shown,
  width,
}: {
  answer: TimelineAnswer;
  shown: Range;
  width: number;
}) {
  const row = new Map(answer.lanes.map(({ address }, index) => [address, index]));
  const scale = width / (shown.to - shown.from);
  const top = (address: string): number =>
    24 + (row.get(address) ?? 0) * LANE_HEIGHT + LANE_HEIGHT - 16;
  const lines = answer.messages.filter(
    ({ from, to, sentAt, takenAt }) =>
      row.has(from) &&
      row.has(to) &&
      from !== to &&
      sentAt !== undefined &&
      takenAt !== undefined &&
      takenAt >= shown.from &&
      sentAt <= shown.to,
  );
  return (
    <svg
      class="lane-messages"
      width={width}
      height={24 + answer.lanes.length * LANE_HEIGHT}
      aria-hidden="true"
    >
      {lines.slice(0, 500).map(({ from, to, counter, sentAt = 0, takenAt = 0, outcome, type }) => (
        <path
          key={`${from} ${counter} ${to}`}
          class={outcome}
          d={`M${(sentAt - shown.from) * scale} ${top(from)}L${(takenAt - shown.from) * scale} ${top(to)}`}
        >
          <title>{`${plain(type)}, ${duration(takenAt - sentAt)} on its way`}</title>
        </path>
      ))}
    </svg>
  );
}

function useMoves(
  tracks: { readonly current: HTMLDivElement | null },
  range: { value: Range | undefined },
  shown: Range | undefined,
  width: { value: number },
): void {
  const latest = useRef(shown);
  latest.current = shown;
  const element = tracks.current;
  const isThere = shown !== undefined;
  useEffect(() => {
    const box = tracks.current;
    if (box === null) return undefined;
    const measure = (): void => {
      width.value = box.clientWidth;
    };
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(box);
    const set = (from: number, to: number): void => {
      if (to - from >= 2) range.value = { from, to };
    };
    const move = (pixels: number): void => {
      const { from, to } = latest.current as Range;
      const by = (pixels / width.value) * (to - from);
      set(from + by, to + by);
    };
    const zoom = (factor: number, share: number): void => {
      const { from, to } = latest.current as Range;
      const at = from + (to - from) * share;
      set(at - (at - from) * factor, at + (to - at) * factor);
    };
    let brush: number | undefined;
    const shareOf = (event: MouseEvent): number =>
      (event.clientX - box.getBoundingClientRect().left) / width.value;
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX);
      else zoom(Math.exp(event.deltaY / 300), shareOf(event));
    };
    const press = (event: PointerEvent): void => {
      if (event.shiftKey) brush = shareOf(event);
    };
    const drag = (event: PointerEvent): void => {
      if (event.buttons !== 1 || brush !== undefined || Math.abs(event.movementX) === 0) return;
      box.setPointerCapture(event.pointerId);
      move(-event.movementX);
    };
    const release = (event: PointerEvent): void => {
      if (brush === undefined) return;
      const { from, to } = latest.current as Range;
      const [one = 0, other = 0] = [brush, shareOf(event)].sort((a, b) => a - b);
      brush = undefined;
      if ((other - one) * width.value > 4)
        set(from + (to - from) * one, from + (to - from) * other);
    };
    const key = (event: KeyboardEvent): void => {
      if (event.key === 'ArrowLeft') move(-80);
      else if (event.key === 'ArrowRight') move(80);
      else if (event.key === '+' || event.key === '=') zoom(0.7, 0.5);
      else if (event.key === '-') zoom(1.4, 0.5);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    box.addEventListener('wheel', wheel, { passive: false });
    box.addEventListener('pointerdown', press);
    box.addEventListener('pointermove', drag);
    box.addEventListener('pointerup', release);
    box.addEventListener('keydown', key);
    return () => {
      watching.disconnect();
      box.removeEventListener('wheel', wheel);
      box.removeEventListener('pointerdown', press);
      box.removeEventListener('pointermove', drag);
      box.removeEventListener('pointerup', release);
      box.removeEventListener('keydown', key);
    };
  }, [element, isThere]);
}
