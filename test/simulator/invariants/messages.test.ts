/** Good and bad histories for what holds of messages: once, in order, bounded. */

import { describe, expect, test } from 'vitest';
import {
  boundsOfMessages,
  effectOnce,
  oneNumberEach,
  orderOfPairs,
} from '../../../simulator/invariants/messages.ts';
import {
  actor,
  commit,
  fault,
  frame,
  history,
  howOften,
  record,
  type Story,
  sent,
  started,
  turn,
  whatBroke,
} from './builders.ts';

const J1 = 'job/j1@A';
const J2 = 'job/j2@B';
const DAY = 86_400_000;
const FAILED = { code: 'TURN_FAILED', message: 'No.', retryable: false } as const;

const from = (counter: number, parts: object = {}) => ({ from: J2, counter, ...parts });

/** J1 takes three messages of J2. */
function taking(): Story {
  return history()
    .add('a-1', started(), commit('A', 1))
    .add('a-1', commit('A', 1, { [J1]: record(1) }), actor(J1, 'born'), turn(J1))
    .add('a-1', commit('A', 1, { [J1]: record(2, { inbox: { [J2]: [1, 0] } }) }))
    .add('a-1', turn(J1, { turn: 2, ...from(1) }))
    .add('a-1', commit('A', 1, { [J1]: record(3, { inbox: { [J2]: [2, 0] } }) }))
    .add('a-1', turn(J1, { turn: 3, ...from(2) }));
}

/** Another node takes over after one that was never heard of again. */
function takeover(story: Story): Story {
  return story.add('a-2', started(), commit('A', 2));
}

describe('MS-2, a message has one effect', () => {
  test.each<[string, Story]>([
    ['messages of one sender, each once', taking()],
    ['hints have no identity', taking().add('a-1', turn(J1, from(0)), turn(J1, from(0)))],
    [
      'a replaced node shows late what it had taken',
      takeover(
        taking().add('a-1', commit('A', 1, { [J1]: record(4, { inbox: { [J2]: [3, 0] } }) })),
      )
        .add('a-2', commit('A', 2, { [J1]: record(5, { inbox: { [J2]: [3, 0] } }) }))
        .add('a-1', turn(J1, { turn: 4, ...from(3) })),
    ],
    ['another receiver', taking().add('b-1', turn('job/j3@B', from(2)))],
    ['another sender', taking().add('a-1', turn(J1, { turn: 4, from: 'job/j3@B', counter: 2 }))],
    [
      'a receiver that was removed and is born again',
      taking().add('a-1', commit('A', 1, { [J1]: null }), turn(J1, { turn: 1, ...from(2) })),
    ],
    [
      'a receiver that was born again unseen, after its disk was lost',
      takeover(
        taking()
          .add('', fault('diskLost', { place: 'A' }, 'hit'))
          .add('a-1', commit('A', 1)),
      ).add('a-2', commit('A', 2, { [J1]: record(4) }), turn(J1, from(2, { turn: 4 }))),
    ],
    [
      'a sender that was removed and counts from 1 again',
      taking()
        .add('b-1', commit('B', 1, { [J2]: null }))
        .add('a-1', turn(J1, from(1, { turn: 4 }))),
    ],
    ['a silent sender is forgotten', taking().add('a-1', turn(J1, from(2, { takenAt: 8 * DAY })))],
    [
      'an actor in memory only is born again',
      history().add('w-1', turn('run/1@w-1', from(1)), turn('run/1@w-1', from(1))),
    ],
  ])('holds: %s', (_, story) => {
    expect(whatBroke(effectOnce, story)).toEqual([]);
  });

  test.each<[string, Story]>([
    ['at once', taking().add('a-1', turn(J1, { turn: 4, ...from(2) }))],
    ['an earlier one', taking().add('a-1', turn(J1, { turn: 4, ...from(1) }))],
    ['after a takeover', takeover(taking()).add('a-2', turn(J1, { turn: 4, ...from(2) }))],
    [
      'although the turn failed',
      taking().add('a-1', turn(J1, { ...from(2), turn: 4, error: FAILED })),
    ],
  ])('broken: a message is taken again, %s', (_, story) => {
    expect(whatBroke(effectOnce, story)).toEqual([expect.stringContaining('again')]);
  });

  test('broken: nobody saw the first turn, because its node died before telling', () => {
    const story = takeover(
      taking().add('a-1', commit('A', 1, { [J1]: record(4, { inbox: { [J2]: [3, 0] } }) })),
    );
    story.add('a-2', commit('A', 2, { [J1]: record(5, { inbox: { [J2]: [3, 0] } }) }));
    expect(whatBroke(effectOnce, story)).toEqual([]);
    story.add('a-2', turn(J1, { turn: 5, ...from(3) }));
    expect(whatBroke(effectOnce, story)).toEqual([`${J1} took message 3 of ${J2} (told) again.`]);
  });

  test('broken: any taken message, copied to the end', () => {
    const good = taking();
    const taken = good.records.filter((one) => one.type === 'turn' && (one.counter ?? 0) > 0);
    expect(taken).toHaveLength(2);
    expect(howOften(effectOnce, good)).toBe(2);
    for (const copy of taken)
      expect(whatBroke(effectOnce, { records: [...good.records, copy], endsAtMs: 0 })).toHaveLength(
        1,
      );
  });
});

describe('MS-3, messages of a pair come in order', () => {
  const story = (...counters: number[]): Story =>
    history().add(
      'a-1',
      ...counters.map((counter, index) => turn(J1, { turn: index + 2, ...from(counter) })),
    );

  test('holds with gaps, which are messages to others', () => {
    expect(whatBroke(orderOfPairs, story(1, 2, 5, 9))).toEqual([]);
  });

  test('broken by any swap', () => {
    expect(whatBroke(orderOfPairs, story(1, 5, 2, 9))).toHaveLength(1);
    expect(whatBroke(orderOfPairs, story(2, 1))).toHaveLength(1);
  });

  test('what performers send has no order', () => {
    const effect = { from: `effect:${J1}#4.0` };
    const told = history().add('a-1', turn(J1, { ...effect, turn: 2, counter: 2 }));
    told.add('a-1', turn(J1, { ...effect, turn: 3, counter: 1 }));
    expect(whatBroke(orderOfPairs, told)).toEqual([]);
  });
});

describe('MS-4, messages are bounded', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ from: J1, to: J2, counter: index + 1 }));

  test('64 of a pair may be under way', () => {
    const story = history().add('a-1', frame('b-1', { envelopes: many(64) }));
    expect(whatBroke(boundsOfMessages, story)).toEqual([]);
    expect(howOften(boundsOfMessages, story)).toBe(1);
    story.add('b-1', frame('a-1', { receipts: many(1) }, 'delivered'));
    story.add('a-1', frame('b-1', { envelopes: [{ from: J1, to: J2, counter: 65 }] }));
    expect(whatBroke(boundsOfMessages, story)).toEqual([]);
    story.add('a-1', frame('b-1', { envelopes: [{ from: J1, to: J2, counter: 66 }] }));
    expect(whatBroke(boundsOfMessages, story)).toHaveLength(1);
  });

  test('what was under way before a crash or a loss of the lease does not count', () => {
    const lost = { type: 'lease', place: 'A', change: 'lost', fence: 1 } as const;
    for (const between of [started(2), lost]) {
      const story = history().add('a-1', frame('b-1', { envelopes: many(64) }), between);
      story.add('a-1', frame('b-1', { envelopes: [{ from: J1, to: J2, counter: 65 }] }));
      expect(whatBroke(boundsOfMessages, story)).toEqual([]);
    }
  });

  describe('a copy of a message that was answered', () => {
    const old = { from: J1, to: J2, counter: 1 };
    const send = (story: Story, count: number, after = 1) =>
      story.add(
        story.records.at(-1)?.node ?? '',
        frame('b-1', { envelopes: many(count + after).slice(after) }),
      );
    /** Sent, answered, and sent again by a fault whose copy is lost. */
    const copied = (error?: unknown) =>
      history()
        .add('a-1', frame('b-1', { envelopes: [old] }))
        .add(
          'b-1',
          frame('a-1', { receipts: [error === undefined ? old : { ...old, error }] }, 'delivered'),
        );
    const copy = frame('b-1', { envelopes: [old] });
    const refusal = (code: string) => ({ code, message: '', retryable: false });

    test.each<[string, Story]>([
      ['it was taken', copied().add('a-1', copy)],
      ['its turn failed', copied(refusal('TURN_FAILED')).add('a-1', copy)],
      ['it was refused for good', copied(refusal('EVENT_REFUSED')).add('a-1', copy)],
      ['its node has started again since', copied().add('a-1', started(2), copy)],
      [
        'its answer came after the lease was lost',
        history()
          .add('a-1', frame('b-1', { envelopes: [old] }))
          .add('a-1', { type: 'lease', place: 'A', change: 'lost', fence: 1 })
          .add('b-1', frame('a-1', { receipts: [old] }, 'delivered'))
          .add('a-2', copy),
      ],
    ])('does not count: %s', (_, story) => {
      expect(whatBroke(boundsOfMessages, send(story, 64))).toEqual([]);
      expect(whatBroke(boundsOfMessages, send(story, 1, 65))).toHaveLength(1);
    });

    test.each<[string, Story]>([
      ['it may be sent again', copied(refusal('MAILBOX_FULL')).add('a-1', copy)],
      ['its receiver may come yet', copied(refusal('ACTOR_UNKNOWN')).add('a-1', copy)],
      [
        'its counter is used again',
        copied()
          .add('', fault('diskLost', { place: 'A' }))
          .add('a-1', copy),
      ],
    ])('counts: %s', (_, story) => {
      expect(whatBroke(boundsOfMessages, send(story, 64))).toHaveLength(1);
    });
  });

  test('broken by a frame that no peer would take', () => {
    const frame = ' '.repeat(5 * 2 ** 20);
    const large = { type: 'frame', to: 'b-1', change: 'sent', frame } as const;
    expect(whatBroke(boundsOfMessages, history().add('a-1', large))).toHaveLength(1);
  });

  test('broken by an inbox that remembers too many counters', () => {
    const above = Array.from({ length: 65 }, (_, index) => index + 3);
    const stored = (counters: number[]) => record(1, { inbox: { [J2]: [1, 0, ...counters] } });
    const full = history().add('a-1', commit('A', 1, { [J1]: stored(above.slice(1)) }));
    expect(whatBroke(boundsOfMessages, full)).toEqual([]);
    const over = history().add('a-1', commit('A', 1, { [J1]: stored(above) }));
    expect(whatBroke(boundsOfMessages, over)).toHaveLength(1);
  });
});

describe('MS-16 a number for each message, over all lives', () => {
  /** J1 sends two messages and is spawned again, seen or not. */
  const twice = () => history().add('a-1', actor(J1, 'born'), sent(J1, 7, J2), sent(J1, 8, J2));

  test('holds: a later life goes on above the earlier one', () => {
    const story = twice().add('a-1', actor(J1, 'born'), sent(J1, 9, J2), sent(J1, 10, J2));
    expect(whatBroke(oneNumberEach, story)).toEqual([]);
    expect(howOften(oneNumberEach, story)).toBe(2);
  });

  test('holds: a message of one life that a crash had undone is sent again', () => {
    expect(whatBroke(oneNumberEach, twice().add('a-1', sent(J1, 8, J2)))).toEqual([]);
  });

  test.each([1, 8])('broken: a later life begins at %i', (counter) => {
    const story = twice().add('a-1', actor(J1, 'born'), sent(J1, counter, J2));
    expect(whatBroke(oneNumberEach, story)).toEqual([
      `${J1} sent message ${counter} to ${J2} (told) after an earlier life had sent 8.`,
    ]);
  });
});
