import { describe, expect, test } from 'vitest';
import {
  answersOf,
  ask,
  asked,
  credited,
  deadlineOf,
  ended,
  fresh,
  type Health,
  heartbeat,
  holding,
  namesOf,
  placed,
  report,
} from './worker-health-scenes.ts';

const W1 = 'j1/w1#1';

describe('WH-3 the decision', () => {
  test.each([
    ['NaN', Number.NaN],
    ['infinite', Number.POSITIVE_INFINITY],
    ['below 0', -0.001],
    ['above 1', 1.001],
    ['a text', '0.5'],
    ['missing', undefined],
    ['null', null],
  ])('row 1: progress that is %s is malformed and counts nowhere', (_, progress) => {
    const health = holding([W1], { evictAfterDenials: 1 });
    expect(ask(health, W1, progress)).toMatchObject({
      granted: false,
      denialReason: 'malformed',
      extensionMs: 0,
      remainingExtensions: 5,
    });
    expect(health.context.denials).toBe(0);
    expect(health.state).toBe('trusted');
  });

  test.each([0, 1])('row 1: progress of exactly %d is well formed', (progress) => {
    expect(ask(holding([W1]), W1, progress).granted).toBe(true);
  });

  test('row 2: at the deadline it is granted, 1 ms later denied before the timer is taken', () => {
    const inTime = holding([W1]).until(30_000);
    expect(ask(inTime, W1, 0.1).granted).toBe(true);
    const late = holding([W1]).until(30_000);
    late.now += 1;
    expect(late.state).toBe('trusted');
    expect(ask(late, W1, 0.1)).toMatchObject({ denialReason: 'suspect', deadlineInMs: 0 });
    expect(late.context.denials).toBe(0);
  });

  test('row 2: a suspect and an evicted worker are denied', () => {
    expect(ask(holding([W1]).until(30_001), W1, 0.1).denialReason).toBe('suspect');
    expect(ask(holding([W1]).until(60_001), W1, 0.1).denialReason).toBe('suspect');
  });

  test('row 3: an operation that is not on the worker is unknown and counts nowhere', () => {
    const health = holding([W1]);
    expect(ask(health, 'j1/w2#1', 0.1).denialReason).toBe('unknownOperation');
    health.take(ended(W1));
    expect(ask(health, W1, 0.1).denialReason).toBe('unknownOperation');
    expect(health.context.denials).toBe(0);
  });

  test('row 4: all extensions are used up, whatever the progress', () => {
    const health = holding([W1], { maxExtensions: 1 });
    expect(ask(health, W1, 0.1).granted).toBe(true);
    expect(ask(health, W1, 0.9)).toMatchObject({
      denialReason: 'maxReached',
      remainingExtensions: 0,
    });
    expect(health.context.denials).toBe(1);
  });

  test('row 4: nothing is ever granted where none is allowed', () => {
    expect(ask(holding([W1], { maxExtensions: 0 }), W1, 0.5).denialReason).toBe('maxReached');
  });

  test('row 5: progress has to be above that of the last grant', () => {
    const health = holding([W1]);
    ask(health, W1, 0.5);
    expect(ask(health, W1, 0.5).denialReason).toBe('noProgress');
    expect(ask(health, W1, 0.4).denialReason).toBe('noProgress');
    expect(health.context.denials).toBe(2);
    expect(ask(health, W1, 0.500_001).granted).toBe(true);
    expect(health.context.denials).toBe(0);
  });

  test('row 5: by items where both have them', () => {
    const health = holding([W1]);
    ask(health, W1, 0.5, { completedItems: 10 });
    expect(ask(health, W1, 0.9, { completedItems: 10 }).denialReason).toBe('noProgress');
    expect(ask(health, W1, 0.1, { completedItems: 11 }).granted).toBe(true);
    expect(ask(health, W1, 0.1).denialReason).toBe('noProgress');
    expect(ask(health, W1, 0.2).granted).toBe(true);
  });

  test('row 5: by progress where the last grant named no items', () => {
    const health = holding([W1]);
    ask(health, W1, 0.1, { completedItems: 10 });
    expect(ask(health, W1, 0.5).granted).toBe(true);
    expect(ask(health, W1, 0.3, { completedItems: 11 }).denialReason).toBe('noProgress');
    expect(ask(health, W1, 0.6, { completedItems: 10 }).granted).toBe(true);
  });

  test('row 0: the same request has the same answer, and no second effect', () => {
    const health = holding([W1]);
    const request = asked(W1, 0.1);
    for (const again of [request, { ...request, currentProgress: Number.NaN }]) {
      health.take(again);
      health.take(credited(request.requestId, 'j1'));
    }
    const answers = answersOf(health.said());
    expect(answers).toHaveLength(2);
    expect(answers[1]).toEqual(answers[0]);
    expect(deadlineOf(health)).toBe(60_000);
    const denied = asked(W1, 0.1);
    health.take(denied);
    health.take(denied);
    expect(answersOf(health.said())).toMatchObject([
      { denialReason: 'noProgress' },
      { denialReason: 'noProgress' },
    ]);
    expect(health.context.denials).toBe(1);
  });
});

describe('what is granted', () => {
  const grants = (health: Health): Array<readonly [number, boolean]> =>
    [0.1, 0.2, 0.3, 0.4, 0.5].map((progress) => {
      const { extensionMs, exhaustionWarning } = ask(health, W1, progress);
      return [extensionMs, exhaustionWarning] as const;
    });

  test('S4: 30, 15, 7.5, 3.75 and 1.875 s, a warning on the fourth, and no sixth', () => {
    const health = holding([W1]);
    expect(grants(health)).toEqual([
      [30_000, false],
      [15_000, false],
      [7_500, false],
      [3_750, true],
      [1_875, false],
    ]);
    expect(deadlineOf(health)).toBe(30_000 + 58_125);
    expect(ask(health, W1, 0.6).denialReason).toBe('maxReached');
    expect(health.states).toContain('exhausted');
  });

  test('S7: never less than the least, 29,125 ms in all from a base of 15 s', () => {
    const health = holding([W1], { baseDeadlineMs: 15_000 });
    const given = grants(health).map(([extensionMs]) => extensionMs);
    expect(given).toEqual([15_000, 7_500, 3_750, 1_875, 1_000]);
    expect(given.reduce((total, ms) => total + ms)).toBe(29_125);
  });

  test('S5: requests at 1, 2 and 3 s, the third without progress', () => {
    const health = holding([W1]);
    expect(ask(health.until(1_000), W1, 0.3).granted).toBe(true);
    expect(deadlineOf(health)).toBe(60_000);
    expect(ask(health.until(2_000), W1, 0.6).deadlineInMs).toBe(73_000);
    expect(ask(health.until(3_000), W1, 0.6).denialReason).toBe('noProgress');
    expect(health.until(75_000).state).toBe('trusted');
    expect(health.until(75_001).state).toBe('suspect');
    expect(health.until(105_000).state).toBe('suspect');
    expect(health.until(105_001).state).toBe('evicted');
  });

  test('S6: a malformed request before it does not count', () => {
    const health = holding([W1]);
    ask(health, W1, Number.NaN);
    expect(ask(health, W1, 0.2)).toMatchObject({ extensionMs: 30_000, remainingExtensions: 4 });
  });

  test('WH-6: is warned of once per operation, also after it has recovered', () => {
    const health = holding([W1], { maxExtensions: 2 });
    expect(ask(health, W1, 0.1).exhaustionWarning).toBe(true);
    expect(ask(health, W1, 0.2).exhaustionWarning).toBe(false);
    health.until(76_000).take(heartbeat([report(W1)]));
    expect(ask(health, W1, 0.1)).toMatchObject({ granted: true, exhaustionWarning: false });
  });

  test('is counted for each operation by itself', () => {
    const health = holding([W1, 'j1/w2#1']);
    ask(health, W1, 0.9);
    expect(ask(health, 'j1/w2#1', 0.1).extensionMs).toBe(30_000);
    expect(ask(health, W1, 0.95).extensionMs).toBe(15_000);
  });

  test('heartbeats touch no count', () => {
    const health = holding([W1]);
    ask(health, W1, 0.1);
    health.until(5_000).take(heartbeat([report(W1)]));
    expect(ask(health, W1, 0.2).extensionMs).toBe(15_000);
  });

  test('is logged with what was asked for', () => {
    const health = fresh(holding([W1]));
    ask(health, W1, 0.1, { estimatedRemainingMs: 5 });
    ask(health, W1, 0.1, { estimatedRemainingMs: 6 });
    expect(health.notes()).toMatchObject([
      { event: 'extension.granted', estimatedRemainingMs: 5, extensionMs: 30_000 },
      { event: 'extension.denied', estimatedRemainingMs: 6, denialReason: 'noProgress' },
    ]);
  });
});

describe('WH-4 the answer', () => {
  test('S10: waits until every job with an attempt on the worker has its credit, applied or void', () => {
    const health = holding([W1, 'j2/w1#1', 'j2/w2#1']).until(20_000);
    const request = asked(W1, 0.1);
    health.take(request);
    const said = health.said();
    expect(said.map(({ to, type }) => [to, type])).toContainEqual([
      'job/j2@A',
      'extension.credited',
    ]);
    expect(said.filter(({ type }) => type === 'extension.credited')).toMatchObject([
      {
        to: 'job/j1@A',
        creditId: request.requestId,
        grantMs: 30_000,
        registration: 1,
        workerId: 'W',
      },
      { to: 'job/j2@A', creditId: request.requestId, grantMs: 30_000 },
    ]);
    health.take(credited(request.requestId, 'j2', 'void'));
    health.take(credited(request.requestId, 'j2'));
    health.take(credited('another', 'j1'));
    expect(answersOf(health.said())).toEqual([]);
    health.restart().take(credited(request.requestId, 'j1'));
    expect(answersOf(health.said())).toMatchObject([{ granted: true, deadlineInMs: 40_000 }]);
  });

  test('does not wait for a job that has ended', () => {
    const health = holding([W1]);
    const request = asked(W1, 0.1);
    health.take(request);
    const event = { type: 'extension.credited', creditId: request.requestId };
    health.take({ type: 'message.refused', to: 'job/j1@A', event, code: 'ACTOR_ENDED' });
    expect(answersOf(health.said())).toHaveLength(1);
  });

  test('is given once, to anybody who asked last, when the question comes again in between', () => {
    const health = holding([W1]);
    const request = asked(W1, 0.1);
    health.take(request);
    health.take({ ...request, replyTo: 'session/s2@W' });
    health.take(credited(request.requestId, 'j1'));
    const replies = health.said('escapement.reply').map(({ to }) => to);
    expect(replies).toEqual(['session/s2@W']);
    expect(deadlineOf(health)).toBe(60_000);
  });

  test('concerns no job whose attempt the worker has not taken yet, unless it asks', () => {
    const health = holding([W1]);
    health.take(placed('j2/w1#1'));
    health.take(asked(W1, 0.1));
    expect(health.said('extension.credited').map(({ to }) => to)).toEqual(['job/j1@A']);
  });
});

describe('WH-5 denials', () => {
  test('evict nobody by themselves', () => {
    const health = holding([W1]);
    ask(health, W1, 0.5);
    for (let denial = 0; denial < 50; denial += 1) ask(health, W1, 0.5);
    expect(health.state).toBe('trusted');
  });

  test('evict where the policy says so, counted in a row', () => {
    const health = holding([W1], { evictAfterDenials: 3 });
    ask(health, W1, 0.1);
    ask(health, W1, 0.1);
    ask(health, W1, 0.1);
    ask(health, W1, 0.2);
    ask(health, W1, 0.2);
    ask(health, W1, 0.2);
    expect(health.state).toBe('trusted');
    fresh(health);
    ask(health, W1, 0.2);
    expect(health.state).toBe('evicted');
    expect(namesOf(health.notes())).toContain('worker.evicted');
  });
});
