/**
 * Lanes of a timeline in the document: the name of each with its canvas, the words beside the pointer, and the range
 * that is being chosen. They stay as they are while the timeline moves.
 */

import { addressParts, plain, stateText } from '../core/words.ts';
import { ActorLink } from '../parts/marks.tsx';
import { AXIS_HEIGHT } from './timeline-axis.ts';
import { HEIGHTS, type Row } from './timeline-shapes.ts';
import type { TimelineView } from './timeline-view.ts';

export function Lanes({ rows, isLinked }: { rows: readonly Row[]; isLinked: boolean }) {
  return (
    <>
      <canvas class="axis" data-row="-1" style={{ height: `${AXIS_HEIGHT}px` }} />
      <ul>
        {rows.map((row, index) => (
          <LaneRow
            row={row}
            index={index}
            isLinked={isLinked}
            key={`${row.sort} ${row.lane.address}`}
          />
        ))}
      </ul>
    </>
  );
}

function LaneRow({
  row: { lane, sort },
  index,
  isLinked,
}: {
  row: Row;
  index: number;
  isLinked: boolean;
}) {
  return (
    <li class={`lane ${sort}`} style={{ height: `${HEIGHTS[sort]}px` }} data-address={lane.address}>
      <canvas data-row={index} />
      <div class="lane-name">
        {sort === 'actor' && isLinked ? (
          <ActorLink address={lane.address} />
        ) : (
          <span>{plain(lane.address)}</span>
        )}{' '}
        {sort === 'actor' && (
          <small class="soft">
            {addressParts(lane.address).place !== lane.node && plain(lane.node)}
            <span class="hidden">, {stateText(lane.state)}</span>
          </small>
        )}
      </div>
    </li>
  );
}

const SAID_WIDTH = 420;
/** Between the words and what they speak of, and the edge. */
const SAID_GAP = 12;

/** Words are read out by screen readers as the keys go from event to event. */
export function Words({ view }: { view: TimelineView }) {
  const said = view.said.value;
  const { x = 0, y = 0 } = said ?? {};
  const isRight = x > view.width.value / 2;
  const room = (isRight ? x : view.width.value - x) - SAID_GAP;
  return (
    <div
      class={`lane-said ${said === undefined ? 'none' : ''} ${isRight ? 'right' : ''}`}
      role="status"
      style={{ transform: `translate(${x}px,${y}px)` }}
    >
      {said !== undefined && (
        <div style={{ maxWidth: `${Math.min(SAID_WIDTH, room)}px` }}>
          {said.lines.map((line, index) => (
            <p key={index}>{line}</p>
          ))}
          {said.href !== undefined && <p class="soft">Click or Enter opens it</p>}
        </div>
      )}
    </div>
  );
}

export function Brush({ view }: { view: TimelineView }) {
  const [from, to] = view.brush.value ?? [0, 0];
  if (to === from) return null;
  return (
    <span
      class="brush"
      style={{ transform: `translateX(${from}px)`, width: `${to - from}px` }}
      aria-hidden="true"
    />
  );
}
