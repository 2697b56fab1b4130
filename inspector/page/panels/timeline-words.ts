/**
 * Words of a timeline: what a lane holds, and what a bar, a mark or a message of it means. Pure.
 */

import type { LaneMark, MessageLine } from '../../protocol.ts';
import { actorHref } from '../core/route.ts';
import { counted, duration, plain, stateText, timeOfDay } from '../core/words.ts';
import { LIVED } from './timeline-range.ts';
import type { Hit, Row } from './timeline-shapes.ts';

export interface Told {
  readonly lines: readonly string[];
  /** Where a click or Enter leads. */
  readonly href?: string;
}

/** Words beside a place of the timeline, in pixels. */
export interface Said extends Told {
  readonly x: number;
  readonly y: number;
}

/** A moment of a lane at which something happened. */
export interface Step {
  readonly at: number;
  readonly mark?: LaneMark;
  readonly label: string;
}

/** Of an actor its turns; of a node or a fault, which take none, the beginnings of its bars. */
export function stepsOf({ lane: { marks, bars }, sort }: Row): readonly Step[] {
  if (sort === 'actor') return marks.map((mark) => ({ at: mark.at, mark, label: mark.label }));
  return bars.map(({ from, label }) => ({ at: from, label }));
}

const MARKS: Readonly<Record<LaneMark['sort'], string>> = {
  turn: '',
  extension: 'more time: ',
  denied: 'no more time: ',
  failed: 'failed: ',
  timeout: 'deadline: ',
  end: 'ended: ',
};

export function wordsOfRow({ lane, sort }: Row): Told {
  const { address, node, state, marks, bars } = lane;
  const time = bars.filter((bar) => !LIVED.has(bar.sort)).map(({ label }) => plain(label));
  if (sort !== 'actor')
    return { lines: [plain(address), bars.map(({ label }) => plain(label)).join(', ')] };
  return {
    lines: [
      `${plain(address)} on ${plain(node)}`,
      `${stateText(state)}, ${counted(marks.length, 'event')}`,
      ...(time.length > 0 ? [time.join(', ')] : []),
    ],
    href: actorHref(address, 'turns'),
  };
}

export function wordsOfStep(row: Row, { at, mark, label }: Step): Told {
  if (mark !== undefined) return wordsOfMark(row, mark, 0);
  return { lines: [`${timeOfDay(at)} ${plain(label)}`, plain(row.lane.address)] };
}

export function wordsOfHit(row: Row, { sort, shape }: Hit): Told {
  if (sort === 'mark') return wordsOfMark(row, shape.mark, shape.more);
  if (sort === 'message') return wordsOfMessage(shape.message);
  const { from, to } = shape.bar;
  const until = to === undefined ? 'now' : timeOfDay(to);
  const length = to === undefined ? '' : `, ${duration(to - from)}`;
  return { lines: [plain(shape.label), `${timeOfDay(from)} to ${until}${length}`] };
}

function wordsOfMark({ lane }: Row, { at, sort, label, turn }: LaneMark, more: number): Told {
  const bar = lane.bars.findLast((each) => each.sort === 'state' && each.from <= at);
  return {
    lines: [
      `${timeOfDay(at)} ${MARKS[sort]}${plain(label)}`,
      `turn ${turn} of ${plain(lane.address)}${bar === undefined || sort === 'end' ? '' : `, then ${stateText(bar.label)}`}`,
      ...(more > 0 ? [`and ${counted(more, 'more event')} here: zoom to see them`] : []),
    ],
    href: `${actorHref(lane.address, 'turns')}&turn=${turn}`,
  };
}

/** What became known of a message, in words. */
export const OUTCOMES: Readonly<Record<MessageLine['outcome'], string>> = {
  taken: 'taken',
  underWay: 'under way',
  repeated: 'repeated',
  late: 'late',
  refused: 'refused',
  fenced: 'refused by a fence',
  lost: 'lost',
  unknown: '',
};

function wordsOfMessage({ from, to, type, sentAt, takenAt, outcome, why }: MessageLine): Told {
  const way =
    sentAt === undefined || takenAt === undefined
      ? 'never taken'
      : `${duration(takenAt - sentAt)} on its way`;
  return {
    lines: [
      `${plain(type)}, ${[OUTCOMES[outcome], way].filter(Boolean).join(', ')}`,
      `${plain(from)} → ${plain(to)}`,
      ...(why === undefined ? [] : [plain(why)]),
    ],
  };
}
