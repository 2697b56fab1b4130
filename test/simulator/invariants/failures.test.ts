/** Good and bad histories of failures: of turns, of observers, and of handlers. */

import { describe, expect, test } from 'vitest';
import type { LogFact, WorkFact } from '../../../simulator/history/history.ts';
import { failuresStayAlone } from '../../../simulator/invariants/failures.ts';
import {
  commit,
  fault,
  history,
  howOften,
  node,
  type Story,
  timers,
  turn,
  undelivered,
  whatBroke,
} from './builders.ts';

const J1 = 'job/j1@A';

describe('RT-2, a turn that fails', () => {
  const error = { code: 'TURN_FAILED', message: 'No.', retryable: false } as const;
  const failed = turn(J1, { error });

  test('holds when its event is kept', () => {
    const story = history().add('a-1', failed, timers(J1, {}), undelivered(J1), turn(J1));
    expect(whatBroke(failuresStayAlone, story)).toEqual([]);
    expect(howOften(failuresStayAlone, story)).toBe(1);
  });

  test.each<[string, Story]>([
    ['never', history().add('a-1', failed)],
    ['of somebody else', history().add('a-1', failed, undelivered('job/j2@A'))],
    ['elsewhere', history().add('a-1', failed).add('a-2', undelivered(J1))],
    ['of another event', history().add('a-1', failed, undelivered(J1, { type: 'x' }))],
    ['too late', history().add('a-1', failed, turn(J1), undelivered(J1))],
  ])('broken: kept %s', (_, story) => {
    expect(whatBroke(failuresStayAlone, story)).toHaveLength(1);
  });
});

const log = (message: string, error: string): LogFact => ({
  type: 'log',
  level: 'error',
  message,
  fields: { error },
});

describe('RT-2, an observer that throws', () => {
  const threw = (error: string) =>
    history()
      .add('a-1', turn(J1))
      .add('', fault('throwingOnlookers', { node: 'a-1', error }, 'hit'));

  test('holds when the log of its node tells of it, and the work goes on', () => {
    const story = threw('No.').add(
      'a-1',
      log('an observer threw', 'No.'),
      turn(J1),
      commit('A', 1),
    );
    expect(whatBroke(failuresStayAlone, story)).toEqual([]);
    expect(howOften(failuresStayAlone, story)).toBe(1);
  });

  test('holds when its node ends later, for a reason of its own', () => {
    const story = threw('No.').add('a-1', log('an observer threw', 'No.'));
    story.add('a-1', log('the process ends', 'The disk is full.'), node('crashed'));
    expect(whatBroke(failuresStayAlone, story)).toEqual([]);
  });

  test.each<[string, Story]>([
    ['nobody is told', threw('No.')],
    ['nobody is told before the next turn', threw('No.').add('a-1', turn(J1))],
    ['it ends the node', threw('No.').add('a-1', node('crashed'))],
    ['another node is told', threw('No.').add('a-2', log('an observer threw', 'No.'))],
    ['something else is told', threw('No.').add('a-1', log('an observer threw', 'Yes.'))],
    [
      'two throw and one is told of',
      threw('No.')
        .add('', fault('throwingOnlookers', { node: 'a-1', error: 'Never.' }, 'hit'))
        .add('a-1', log('an observer threw', 'Never.')),
    ],
    [
      'its node ends with its words',
      threw('No.').add('a-1', log('an observer threw', 'No.'), log('the process ends', 'No.')),
    ],
  ])('broken: %s', (_, story) => {
    expect(whatBroke(failuresStayAlone, story)).toHaveLength(1);
  });
});

describe('RT-2, a handler that throws', () => {
  const work = { jobId: 'j1', workflowId: 'w1', run: 1, about: 'Run 1 of w1 fails.' } as const;
  const threw: WorkFact = { type: 'work', change: 'threw', ...work };
  const story = () => history().add('w-1', { ...threw, change: 'started' }, threw);

  test('holds when its worker goes on', () => {
    const later = story().add('w-1', turn('pool/p@w-1'));
    expect(whatBroke(failuresStayAlone, later)).toEqual([]);
    expect(howOften(failuresStayAlone, later)).toBe(1);
  });

  test('broken: its worker ends with its words', () => {
    const ended = story().add(
      'w-1',
      log('the process ends', 'Run 1 of w1 fails.'),
      node('crashed'),
    );
    expect(whatBroke(failuresStayAlone, ended)).toHaveLength(1);
  });
});
