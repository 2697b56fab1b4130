/** Turns before: what is known of them when some were not seen, come late, or are gone. */

import { describe, expect, test } from 'vitest';
import { followTurns } from '../../../simulator/jobs/invariants/reading-turns.ts';
import { actor, fault, history, type Story, sent, turn } from './builders.ts';

const JOB = 'job/j1@A';

/** Of each turn: itself, the one directly before, the last one seen. */
function followed(story: Story): readonly string[] {
  const seen: string[] = [];
  const watcher = followTurns<object>('job', {
    took: ({ record, before, last }) => {
      seen.push(`${record.turn} ${before?.turn ?? '-'} ${last?.turn ?? '-'}`);
    },
    said: ({ to }) => seen.push(`to ${to}`),
    over: ({ record }) => seen.push(`over ${record.turn}`),
  });
  for (const record of story.records) watcher[record.type as 'turn']?.(record as never);
  watcher.end(0);
  return seen.filter((line) => !line.startsWith('over') || line === 'over 7');
}

const took = (number: number, parts = {}) => turn(JOB, { turn: number, ...parts });

describe('turns', () => {
  test('follow each other', () => {
    expect(followed(history().add('a-1', took(1), took(2)))).toEqual(['1 - -', '2 1 1']);
  });

  test('have a gap where some were not seen', () => {
    expect(followed(history().add('a-1', took(1), took(4)))).toEqual(['1 - -', '4 - 1']);
  });

  test('that are told late are left out, and nothing is sure after them', () => {
    const story = history().add('a-1', took(1)).add('a-2', took(3)).add('a-1', took(2));
    expect(followed(story.add('a-2', took(4), took(5)))).toEqual([
      '1 - -',
      '3 - 1',
      '4 - -',
      '5 4 4',
    ]);
  });

  test('of a store that went back begin again', () => {
    expect(followed(history().add('a-1', took(5), took(3), took(4)))).toEqual([
      '5 - -',
      '3 - -',
      '4 3 3',
    ]);
    const lost = fault('diskLost', { place: 'A' });
    expect(followed(history().add('a-1', took(1), lost, took(2)))).toEqual(['1 - -', '2 - -']);
    expect(followed(history().add('a-1', took(1), actor(JOB, 'born'), took(2)))).toEqual([
      '1 - -',
      '2 - -',
    ]);
  });

  test('that failed left the actor as it was', () => {
    const error = { code: 'TURN_FAILED', message: '', retryable: false };
    expect(followed(history().add('a-1', took(1), took(2, { error }), took(3)))).toEqual([
      '1 - -',
      '3 2 2',
    ]);
  });

  test('have the messages that left them, until the next turn of anybody', () => {
    const story = history().add(
      'a-1',
      took(7),
      sent(JOB, 1, 'a'),
      turn('desk/main@A'),
      sent(JOB, 2, 'b'),
    );
    expect(followed(story)).toEqual(['7 - -', 'to a', 'over 7']);
  });
});
