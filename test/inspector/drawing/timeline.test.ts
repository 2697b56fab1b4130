/** Shapes of a timeline: no more of them than there is room for, folded time, and what lies under the pointer. */

import { describe, expect, test } from 'vitest';
import {
  boundsOf,
  momentsOf,
  scaleOf,
  ticksOf,
  wholeRange,
} from '../../../inspector/page/panels/timeline-range.ts';
import {
  barsIn,
  HEIGHTS,
  hitAt,
  marksIn,
  messagesIn,
  type Row,
  topsOf,
} from '../../../inspector/page/panels/timeline-shapes.ts';
import type { Lane, LaneMark, MessageLine, TimelineAnswer } from '../../../inspector/protocol.ts';

const WIDTH = 1_000;

const mark = (turn: number, at: number, sort: LaneMark['sort'] = 'turn'): LaneMark => ({
  at,
  sort,
  label: 'tick',
  turn,
});

function lane(given: Partial<Lane> = {}): Lane {
  const usual = { address: 'job/1@A', node: 'A.manager-1', state: 'running', since: 0 };
  return { ...usual, bars: [], marks: [], ...given };
}

const row = (given: Partial<Lane> = {}): Row => ({ lane: lane(given), sort: 'actor' });

function answer(lanes: readonly Lane[]): TimelineAnswer {
  return { at: 0, lanes, messages: [], more: 0, missing: [] };
}

describe('marks and bars', () => {
  const scale = scaleOf({ from: 0, to: 10_000 }, WIDTH);

  test('10,000 marks are as many shapes as there is room for, and none is forgotten', () => {
    const marks = Array.from({ length: 10_000 }, (_, index) => mark(index, index));
    const shapes = marksIn(lane({ marks }), scale);
    expect(shapes.length).toBeLessThanOrEqual(WIDTH / 4);
    expect(shapes.reduce((sum, { more }) => sum + 1 + more, 0)).toBe(10_000);
  });

  test('several at one place are shown as what stands out', () => {
    const marks = [mark(1, 100), mark(2, 101, 'failed'), mark(3, 102)];
    expect(marksIn(lane({ marks }), scale)).toEqual([{ mark: marks[1], x: scale.x(100), more: 2 }]);
  });

  test('thousands of short stays are no more shapes than pixels, and the last one lasts', () => {
    const bars = Array.from({ length: 9_000 }, (_, index) => ({
      sort: 'state' as const,
      from: index,
      to: index + 1,
      label: index % 2 === 0 ? 'on' : 'off',
    }));
    const last = { sort: 'state' as const, from: 9_000, label: 'done' };
    const shapes = barsIn(row({ bars: [...bars, last] }), scale, 10_000);
    expect(shapes.length).toBeLessThanOrEqual(WIDTH);
    expect(shapes.at(-1)).toMatchObject({ label: 'done', x: 900, width: 100, hasEnd: false });
  });

  test('what is out of range has no shape', () => {
    const bars = [{ sort: 'state' as const, from: 20_000, to: 30_000, label: 'later' }];
    expect(barsIn(row({ bars }), scale, 40_000)).toEqual([]);
    expect(marksIn(lane({ marks: [mark(1, 10_001)] }), scale)).toEqual([]);
  });
});

describe('a scale', () => {
  const moments = [1_000, 1_500, 2_000, 902_000, 903_000];
  const scale = scaleOf({ from: 900, to: 903_100 }, WIDTH, moments);

  test('folds idle time, and says for each pixel the moment that lies there', () => {
    expect(scale.pieces.filter(({ isFolded }) => isFolded)).toHaveLength(1);
    for (const at of moments) {
      expect(scale.at(scale.x(at))).toBeCloseTo(at, 3);
      expect(scale.x(at)).toBeGreaterThanOrEqual(0);
      expect(scale.x(at)).toBeLessThanOrEqual(WIDTH);
    }
    const xs = moments.map(scale.x);
    expect(xs).toEqual(xs.toSorted((one, other) => one - other));
  });

  test('folds nothing where the events are close to each other', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => 900 + index * 900);
    expect(scaleOf({ from: 900, to: 903_100 }, WIDTH, many).pieces).toHaveLength(1);
  });

  test('has ticks whose words have room', () => {
    const xs = ticksOf(scaleOf({ from: 0, to: 47_000 }, WIDTH)).ticks.map(
      (at) => (at * WIDTH) / 47_000,
    );
    expect(xs.length).toBeGreaterThan(3);
    for (const [index, x] of xs.entries())
      if (index > 0) expect(x - (xs[index - 1] as number)).toBeGreaterThanOrEqual(80);
  });
});

describe('the range of an answer', () => {
  const ended = lane({ bars: [{ sort: 'state', from: 100, to: 200, label: 'a' }], since: 100 });
  const living = lane({ bars: [{ sort: 'state', from: 150, label: 'b' }], since: 150 });
  const limit = { sort: 'deadline' as const, from: 150, to: 9_000_000, label: 'limit' };

  test('ends with the last end, or at the present while something lasts', () => {
    expect(wholeRange(boundsOf(answer([ended])), 5_000)).toEqual({ from: 0, to: 300 });
    expect(wholeRange(boundsOf(answer([ended, living])), 5_000).to).toBeGreaterThan(5_000);
  });

  test('is not stretched by a deadline that is far away', () => {
    const one = lane({ ...living, bars: [...living.bars, limit] });
    expect(wholeRange(boundsOf(answer([one])), 5_000).to).toBeLessThan(6_000);
    expect(momentsOf(answer([one]))).toEqual([150]);
  });
});

describe('under the pointer', () => {
  const scale = scaleOf({ from: 0, to: 1_000 }, WIDTH);
  const rows: readonly Row[] = [
    row({
      address: 'job/1@A',
      bars: [{ sort: 'state', from: 100, to: 900, label: 'open' }],
      marks: [mark(1, 500)],
    }),
    row({ address: 'job/2@A' }),
  ];
  const tops = topsOf(rows, 0);
  const sent = { from: 'job/1@A', to: 'job/2@A', type: 'go', sort: 'tell' as const, sentAt: 300 };
  const messages: readonly MessageLine[] = [
    { ...sent, takenAt: 300, outcome: 'taken' },
    { ...sent, sentAt: 700, outcome: 'lost' },
    { ...sent, sentAt: 800, outcome: 'underWay' },
  ];
  const [first] = rows as [Row];
  const drawn = {
    bars: barsIn(first, scale, 1_000),
    marks: marksIn(first.lane, scale),
    messages: messagesIn(messages, rows, tops, scale),
  };

  test('lies a mark before a message, and a message before a bar', () => {
    expect(hitAt(drawn, 502, 42, 0)?.sort).toBe('mark');
    expect(hitAt(drawn, 301, 44, 0)?.sort).toBe('message');
    expect(hitAt(drawn, 200, 30, 0)?.sort).toBe('bar');
    expect(hitAt(drawn, 950, 30, 0)).toBeUndefined();
    expect(hitAt(drawn, 502, 5, 0)).toBeUndefined();
  });

  test('a message that was lost ends on its way, and one under way is no line', () => {
    expect(drawn.messages).toHaveLength(2);
    const [taken, lost] = drawn.messages;
    expect(taken?.toY).toBe(HEIGHTS.actor + (taken?.y ?? 0));
    expect(lost?.toY).toBeLessThan(taken?.toY ?? 0);
  });
});
