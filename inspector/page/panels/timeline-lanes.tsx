/**
 * Lanes of a timeline: axis, bars and marks of actors, nodes and faults, and the messages between actors.
 */

import type { Lane, MessageLine } from '../../protocol.ts';
import { actorHref, go } from '../core/route.ts';
import { clockTime, duration, plain, shortTime, timeOfDay } from '../core/words.ts';
import { ActorLink } from '../parts/marks.tsx';
import { barsIn, type Scale, ticksOf, type Visible } from './timeline-range.ts';

export interface Row {
  readonly lane: Lane;
  readonly sort: 'actor' | 'node' | 'fault';
}

const AXIS_HEIGHT = 24;
const HEIGHTS: Readonly<Record<Row['sort'], number>> = { actor: 56, node: 36, fault: 22 };
/** From the lower edge of an actor's lane to where its messages leave and arrive. */
const MESSAGE_RISE = 16;
const MESSAGES_MAX = 500;

export function Axis({ scale }: { scale: Scale }) {
  const { step, ticks } = ticksOf(scale);
  return (
    <div class="axis" aria-hidden="true">
      {ticks.map((at) => (
        <span key={at} style={{ transform: `translateX(${scale.x(at)}px)` }}>
          {step < 1_000 ? shortTime(at) : clockTime(at)}
        </span>
      ))}
      {scale.pieces
        .filter(({ isFolded }) => isFolded)
        .map(({ from, to, x, width }) => (
          <i
            key={from}
            style={{ transform: `translateX(${x}px)`, width: `${width}px` }}
            title={`${duration(to - from)} in which nothing happened`}
          >
            {duration(to - from)
              .split(' ')
              .slice(0, 2)
              .join(' ')}
          </i>
        ))}
    </div>
  );
}

/** Strips of folded time, over all lanes. */
export function Folds({ scale }: { scale: Scale }) {
  return (
    <>
      {scale.pieces
        .filter(({ isFolded }) => isFolded)
        .map(({ from, x, width }) => (
          <span
            class="fold"
            key={from}
            style={{ transform: `translateX(${x}px)`, width: `${width}px` }}
          />
        ))}
    </>
  );
}

export function LaneRow({
  row: { lane, sort },
  scale,
  present,
  isLinked,
}: {
  row: Row;
  scale: Scale;
  present: number;
  isLinked: boolean;
}) {
  const { bars, marks } = barsIn(lane, scale, present);
  return (
    <div
      class={`lane ${sort}`}
      style={{ height: `${HEIGHTS[sort]}px` }}
      data-address={lane.address}
    >
      <div class="lane-name">
        {sort === 'actor' && isLinked ? (
          <ActorLink address={lane.address} />
        ) : (
          <span>{plain(lane.address)}</span>
        )}{' '}
        {sort === 'actor' && <small class="soft">{plain(lane.node)}</small>}
      </div>
      {lane.since > scale.range.from && lane.since < scale.range.to && (
        <span
          class="unknown"
          style={{ transform: `translateX(${scale.x(lane.since) - 12}px)` }}
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
          disabled={!isLinked}
          onClick={() => go(`${actorHref(lane.address, 'turns')}&turn=${mark.turn}`)}
        />
      ))}
    </div>
  );
}

const WORDED: ReadonlySet<Visible['sort']> = new Set(['state', 'life', 'pause', 'lease']);

function Bar({ bar: { sort, x, width, label, outcome } }: { bar: Visible }) {
  return (
    <span
      class={`lane-bar ${sort} ${outcome ?? ''}`}
      style={{ transform: `translateX(${x}px)`, width: `${width}px` }}
      title={plain(label)}
    >
      {WORDED.has(sort) && width > 40 ? plain(label) : ''}
    </span>
  );
}

/** Messages between lanes as lines from the sender's moment to the receiver's; one that was lost ends on its way. */
export function Messages({
  rows,
  messages,
  scale,
}: {
  rows: readonly Row[];
  messages: readonly MessageLine[];
  scale: Scale;
}) {
  const tops = new Map<string, number>();
  let height = AXIS_HEIGHT;
  for (const { lane, sort } of rows) {
    height += HEIGHTS[sort];
    if (sort === 'actor') tops.set(lane.address, height - MESSAGE_RISE);
  }
  const lines = messages.filter(
    ({ from, to, sentAt, takenAt, outcome }) =>
      tops.has(from) &&
      tops.has(to) &&
      from !== to &&
      sentAt !== undefined &&
      (takenAt !== undefined || outcome === 'lost') &&
      (takenAt ?? sentAt) >= scale.range.from &&
      sentAt <= scale.range.to,
  );
  return (
    <svg class="lane-messages" width={scale.width} height={height} aria-hidden="true">
      {lines.slice(0, MESSAGES_MAX).map((message) => (
        <MessagePath
          key={`${message.from} ${message.counter} ${message.to} ${message.sentAt}`}
          message={message}
          scale={scale}
          tops={tops}
        />
      ))}
    </svg>
  );
}

const LOST_WIDTH = 14;

function MessagePath({
  message: { from, to, sentAt = 0, takenAt, outcome, type, why },
  scale,
  tops,
}: {
  message: MessageLine;
  scale: Scale;
  tops: ReadonlyMap<string, number>;
}) {
  const [top, bottom] = [tops.get(from) ?? 0, tops.get(to) ?? 0];
  const start = scale.x(sentAt);
  const words = takenAt === undefined ? 'never taken' : `${duration(takenAt - sentAt)} on its way`;
  const way =
    takenAt === undefined
      ? `L${start + LOST_WIDTH} ${(top + bottom) / 2}m-3 -3l6 6m0 -6l-6 6`
      : `L${scale.x(takenAt)} ${bottom}`;
  return (
    <path class={outcome} d={`M${start} ${top}${way}`}>
      <title>{[`${plain(type)}, ${words}`, why && plain(why)].filter(Boolean).join('\n')}</title>
    </path>
  );
}
