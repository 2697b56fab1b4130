/** Good and bad histories for what has to be durable before it is seen, and who may write. */

import { describe, expect, test } from 'vitest';
import {
  acknowledgedIsDurable,
  deposedIsRefused,
  durableBeforeShown,
} from '../../../simulator/invariants/commits.ts';
import {
  commit,
  fault,
  frame,
  history,
  howOften,
  node,
  record,
  type Story,
  sent,
  started,
  turn,
  whatBroke,
} from './builders.ts';

const J1 = 'job/j1@A';
const J2 = 'job/j2@B';

describe('MS-5, what was acknowledged is durable', () => {
  const receipt = (error?: object) =>
    frame('b-1', { receipts: [{ from: J2, to: J1, counter: 7, ...(error && { error }) }] });
  const withMark = (...mark: number[]) =>
    history().add('a-1', started(), commit('A', 1, { [J1]: record(3, { inbox: { [J2]: mark } }) }));
  const ended = { code: 'ACTOR_ENDED' };

  test.each<[string, Story]>([
    ['marked', withMark(7, 0).add('a-1', receipt())],
    ['marked, and others after it', withMark(9, 0).add('a-1', receipt())],
    ['marked out of order', withMark(2, 0, 5, 7).add('a-1', receipt())],
    ['marked, its turn failed', withMark(7, 0).add('a-1', receipt({ code: 'TURN_FAILED' }))],
    ['not taken', withMark(6, 0).add('a-1', receipt({ code: 'MESSAGE_EARLY' }))],
    [
      'ended',
      history().add('a-1', commit('A', 1, { [J1]: record(3, { status: 'done' }) }), receipt(ended)),
    ],
    [
      'removed long after its end',
      history().add('a-1', commit('A', 1, { [J1]: null }), receipt(ended)),
    ],
    ['of a place without a disk', history().add('a-1', receipt())],
    [
      'the name of the sender in a context too',
      history().add(
        'a-1',
        commit('A', 1, {
          [J1]: record(3, {
            snapshot: { value: 'open', context: { [J2]: [1] } },
            inbox: { [J2]: [7, 0] },
          }),
        }),
        receipt(),
      ),
    ],
  ])('holds: %s', (_, story) => {
    expect(whatBroke(acknowledgedIsDurable, story)).toEqual([]);
  });

  /** Message 8 only asks, and names the one before it that has to be there. */
  const asking = (after: number) =>
    withMark(5, 0)
      .add('b-1', frame('a-1', { envelopes: [{ from: J2, to: J1, counter: 8, after }] }))
      .add('a-1', { ...turn(J1, { from: J2, counter: 8 }), type: 'question' }, receipt());

  test('holds: its sender had given it up before a question', () => {
    expect(whatBroke(acknowledgedIsDurable, asking(5))).toEqual([]);
  });

  /** Message 6 only asks; 7 comes after it, asks something under the same address, and is not performed. */
  const askedAgain = (type: string) => {
    const envelope = (counter: number, type: string) => ({
      ...{ from: J2, to: J1, counter, after: 0, event: { type, replyTo: 'ask/1@b-1' } },
    });
    const question = { type: 'job.asked', replyTo: 'ask/1@b-1' };
    return withMark(5, 0)
      .add('a-1', turn(J1, { event: { type: 'jobCancel.requested' } }))
      .add('b-1', frame('a-1', { envelopes: [envelope(6, 'job.asked')] }))
      .add('a-1', { ...turn(J1, { from: J2, counter: 6, event: question }), type: 'question' })
      .add('b-1', frame('a-1', { envelopes: [envelope(7, type)] }))
      .add('a-1', receipt());
  };

  test('holds: the same question under another number, while the first is being answered', () => {
    expect(whatBroke(acknowledgedIsDurable, askedAgain('job.asked'))).toEqual([]);
  });

  test('holds: another question under the address of one that is being answered', () => {
    expect(whatBroke(acknowledgedIsDurable, askedAgain('jobs.asked'))).toEqual([]);
  });

  test('holds: it comes in another session than the question that is being answered', () => {
    const asked = { type: 'job.asked', replyTo: 'ask/1@b-1' };
    const taken = turn(J1, { from: 'session:other@b-1', counter: 1, event: asked });
    const envelope = { from: J2, to: J1, counter: 7, after: 0, event: asked };
    const story = withMark(5, 0)
      .add('a-1', { ...taken, type: 'question' })
      .add('b-1', frame('a-1', { envelopes: [envelope] }))
      .add('a-1', receipt());
    expect(whatBroke(acknowledgedIsDurable, story)).toEqual([]);
  });

  test('broken: what takes a turn names the address of a question', () => {
    expect(whatBroke(acknowledgedIsDurable, askedAgain('jobCancel.requested'))).toHaveLength(1);
  });

  test('broken: a question came after it that does not go without it', () => {
    expect(whatBroke(acknowledgedIsDurable, asking(7))).toHaveLength(1);
  });

  test.each<[string, Story]>([
    ['not marked yet', withMark(6, 0).add('a-1', receipt())],
    ['a gap below the window', withMark(2, 0, 5, 8).add('a-1', receipt())],
    ['its turn failed', withMark(6, 0).add('a-1', receipt({ code: 'TURN_FAILED' }))],
    ['no mark at all', history().add('a-1', commit('A', 1, { [J1]: record(3) }), receipt())],
    ['no record', history().add('a-1', commit('A', 1), receipt())],
    ['an end that is not durable', withMark(7, 0).add('a-1', receipt(ended))],
  ])('broken: %s', (_, story) => {
    expect(whatBroke(acknowledgedIsDurable, story)).toHaveLength(1);
  });

  test('broken: the commit that holds the mark comes after the receipt', () => {
    const story = withMark(6, 0).add('a-1', receipt());
    story.add('a-1', commit('A', 1, { [J1]: record(4, { inbox: { [J2]: [7, 0] } }) }));
    expect(whatBroke(acknowledgedIsDurable, story)).toHaveLength(1);
    expect(howOften(acknowledgedIsDurable, story)).toBe(1);
  });
});

describe('MS-11, nothing leaves before it is durable', () => {
  const letter = (counter: number) => frame('b-1', { envelopes: [{ from: J1, to: J2, counter }] });
  const stored = (turns: number, counter: number) =>
    history().add('a-1', started(), commit('A', 1, { [J1]: record(turns, { counter }) }));

  test.each<[string, Story]>([
    ['a turn after its commit', stored(2, 0).add('a-1', turn(J1), turn(J1, { turn: 2 }))],
    ['a message after its commit', stored(1, 3).add('a-1', sent(J1, 3, J2), letter(3), letter(2))],
    [
      'a context that has a counter too',
      history().add(
        'a-1',
        commit('A', 1, {
          [J1]: record(1, { snapshot: { value: 'open', context: { counter: 1 } }, counter: 3 }),
        }),
        letter(3),
      ),
    ],
    ['hints', stored(1, 0).add('a-1', letter(0))],
    [
      'sessions have no record',
      stored(1, 0).add(
        'a-1',
        frame('b-1', { envelopes: [{ from: 'session:x@A', to: J2, counter: 4 }] }),
      ),
    ],
    ['places without a disk', history().add('w-1', turn('run/1@w-1'), sent('run/1@w-1', 1, J1))],
    [
      'what a paused node had committed before it was replaced',
      stored(2, 0)
        .add('a-2', started(), commit('A', 2, { [J1]: record(3) }), turn(J1, { turn: 3 }))
        .add('a-1', turn(J1), turn(J1, { turn: 2 })),
    ],
  ])('holds: %s', (_, story) => {
    expect(whatBroke(durableBeforeShown, story)).toEqual([]);
  });

  test.each<[string, Story]>([
    ['a turn before its commit', stored(1, 0).add('a-1', turn(J1), turn(J1, { turn: 2 }))],
    ['a turn of nobody', stored(1, 0).add('a-1', turn('job/j9@A'))],
    ['a turn of somebody who has not written it', stored(1, 0).add('a-2', started(), turn(J1))],
    ['a message that is told of too early', stored(1, 2).add('a-1', sent(J1, 3, J2))],
    ['a message that leaves too early', stored(1, 2).add('a-1', letter(3))],
    [
      'a message of a group that was refused',
      stored(1, 2).add(
        'a-1',
        commit('A', 1, {}, { change: 'refused', addresses: [J1] }),
        letter(3),
      ),
    ],
    [
      'a message of a group that was lost',
      stored(1, 2)
        .add('a-1', commit('A', 1, {}, { change: 'lost', addresses: [J1] }), started(2))
        .add('a-1', commit('A', 2), letter(3)),
    ],
  ])('broken: %s', (_, story) => {
    expect(whatBroke(durableBeforeShown, story)).toHaveLength(1);
  });

  test('broken by any commit that comes one record later', () => {
    const good = history().add('a-1', started(), commit('A', 1));
    good.add('a-1', commit('A', 1, { [J1]: record(1) }), turn(J1));
    good.add(
      'a-1',
      commit('A', 1, { [J1]: record(2, { counter: 1 }) }),
      turn(J1, { turn: 2 }),
      letter(1),
    );
    for (const [index, one] of good.records.entries()) {
      if (one.type !== 'commit' || one.writes.length === 0) continue;
      const records = [...good.records];
      records.splice(index, 1);
      records.splice(index + 1, 0, one);
      expect(whatBroke(durableBeforeShown, { records, endsAtMs: 0 })).not.toEqual([]);
    }
  });
});

describe('MS-13, who was deposed writes nothing', () => {
  const led = () =>
    history().add('a-1', started(), commit('A', 3)).add('a-2', started(), commit('A', 4));
  const late = (change: 'settled' | 'refused' | 'split') =>
    commit('A', 3, {}, { change, addresses: [J1] });

  test('holds: fences rise, and a late group is refused', () => {
    const story = led().add('a-1', late('refused'));
    expect(whatBroke(deposedIsRefused, story)).toEqual([]);
    expect(howOften(deposedIsRefused, story)).toBe(3);
  });

  test('holds: shards are apart, and a lost disk begins again', () => {
    expect(whatBroke(deposedIsRefused, led().add('b-1', commit('B', 1)))).toEqual([]);
    const again = led()
      .add('', fault('diskLost', { place: 'A' }))
      .add('a-1', commit('A', 1));
    expect(whatBroke(deposedIsRefused, again)).toEqual([]);
  });

  test.each<[string, Story]>([
    ['a late group is settled', led().add('a-1', late('settled'))],
    ['a late group is half written', led().add('a-1', late('split'))],
    ['two nodes write under one fence', led().add('a-1', commit('A', 4))],
    ['a node writes on after its death', led().add('a-2', started(2), commit('A', 4))],
  ])('broken: %s', (_, story) => {
    expect(whatBroke(deposedIsRefused, story)).toHaveLength(1);
  });

  test('a node that dies and leads again has a greater fence', () => {
    const story = led().add('a-2', node('crashed'), started(2), commit('A', 5));
    expect(whatBroke(deposedIsRefused, story)).toEqual([]);
  });
});
