import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ask,
  deadlineOf,
  ended,
  fresh,
  healthy,
  heartbeat,
  holding,
  namesOf,
  POOL,
  placed,
  report,
  running,
  TERM,
  told,
  WORKER,
} from './worker-health-scenes.ts';

const W1 = 'j1/w1#1';
const W2 = 'j1/w2#1';

describe('heartbeats', () => {
  test('are answered, and what rose in them goes on to the workflows', () => {
    const health = holding([W1, W2]);
    health.take(
      heartbeat([report(W1, { progress: 0.3, sinceProgressMs: 700 }), report(W2)], {
        heartbeatSeq: 50,
      }),
    );
    expect(health.said()).toMatchObject([
      {
        to: 'workflow/j1/w1@A',
        isHint: true,
        type: 'attempt.progressed',
        attemptId: 'w1#1',
        progress: 0.3,
        sinceProgressMs: 700,
      },
      {
        to: WORKER,
        isHint: true,
        type: 'heartbeat.acked',
        heartbeatSeq: 50,
        registerAgain: false,
        stopAttempts: [],
      },
    ]);
    health.take(heartbeat([report(W1, { progress: 0.3 }), report(W2)]));
    expect(health.heard()).toEqual(['heartbeat.acked']);
    health.take(heartbeat([report(W1, { progress: 0.3, completedItems: 2 }), report(W2)]));
    expect(health.heard()).toEqual(['attempt.progressed', 'heartbeat.acked']);
  });

  test('WF-1: with attempts that nobody knows are answered with their stop, finished ones apart', () => {
    const health = holding([W1]);
    const strangers = [report('j8/x#1'), report('j9/y#1', { finished: true })];
    health.take(heartbeat([report(W1), ...strangers]));
    expect(health.said('heartbeat.acked')).toMatchObject([{ stopAttempts: ['j8/x#1'] }]);
  });
});

describe('WF-8 attempts that a worker no longer has', () => {
  test('S52: are lost with the first heartbeat that does not list them, those alone', () => {
    const health = holding([W1, W2]);
    health.take(heartbeat([report(W2)]));
    expect(health.said('attempt.lost')).toMatchObject([
      { to: 'workflow/j1/w1@A', attemptId: 'w1#1' },
    ]);
    expect([...health.context.operations.keys()]).toEqual([W2]);
    expect(health.notes()).toMatchObject([
      { event: 'worker.attemptLost', operationId: W1, cause: 'missing' },
    ]);
    health.take(heartbeat([report(W2)]));
    expect(health.said('attempt.lost')).toEqual([]);
  });

  test('are not those whose dispatch the worker has not answered yet', () => {
    const health = fresh(healthy());
    health.take(placed(W1));
    health.take(heartbeat());
    expect(health.said('attempt.lost')).toEqual([]);
    expect([...health.context.operations.keys()]).toEqual([W1]);
  });

  test('are not missed by heartbeats up to the one before the answer, and by the next one they are', () => {
    const health = healthy();
    health.take(placed(W1));
    health.take(running(W1, 1_010));
    for (const heartbeatSeq of [1_009, 1_010]) health.take(heartbeat([], { heartbeatSeq }));
    expect(health.said('attempt.lost')).toEqual([]);
    health.take(heartbeat([], { heartbeatSeq: 1_011 }));
    expect(health.said('attempt.lost')).toHaveLength(1);
  });

  test('keep the credit of the worker', () => {
    const health = holding([W1]);
    ask(health, W1, 0.1);
    health.take(heartbeat());
    expect(health.context.creditedJobs).toEqual(['j1']);
  });

  const page = (number: number, attempts: readonly object[]) =>
    heartbeat(attempts, { heartbeatSeq: 2_000, page: number, pages: 3 });

  test('are known once all pages of a heartbeat are there, in any order', () => {
    const health = holding([W1, W2, 'j1/w3#1']);
    health.take(page(3, [report(W2)]));
    health.take(page(1, [report(W1)]));
    expect(health.said('attempt.lost')).toEqual([]);
    health.take(page(2, []));
    expect(health.said('attempt.lost')).toMatchObject([{ attemptId: 'w3#1' }]);
    expect(health.context.listed).toBeNull();
  });

  test('are missed in the range of a heartbeat only', () => {
    const health = holding([W1, W2, 'j1/w3#1', 'j1/w4#1']);
    const range = { from: W2, to: 'j1/w4#1' };
    health.take(heartbeat([report(W2)], { heartbeatSeq: 2_000, range }));
    expect(health.said('attempt.lost')).toMatchObject([{ attemptId: 'w3#1' }]);
    health.take(heartbeat([], { heartbeatSeq: 2_001, range: { from: 'j1/w4#1', to: null } }));
    expect(health.said('attempt.lost')).toMatchObject([{ attemptId: 'w4#1' }]);
    health.take(heartbeat([report(W1)], { heartbeatSeq: 2_002, range: { from: '', to: W2 } }));
    expect(health.said('attempt.lost')).toEqual([]);
  });

  test('are not made up by a page that comes twice or never', () => {
    const health = holding([W1, W2]);
    health.take(page(1, [report(W1)]));
    health.take(page(1, [report(W1)]));
    health.take(page(1, [report(W1)]));
    expect(health.said('attempt.lost')).toEqual([]);
    health.take(heartbeat([report(W1), report(W2)], { heartbeatSeq: 2_001 }));
    expect(health.said('attempt.lost')).toEqual([]);
    expect(deadlineOf(health)).toBe(30_000);
  });

  test('given to a registration that is gone are lost at once, to their workflow', () => {
    const health = healthy();
    health.take(told({ registration: 2, bootEpoch: 8 }));
    fresh(health).take(placed(W1, 1));
    expect(health.said()).toMatchObject([
      { to: 'workflow/j1/w1@A', type: 'worker.lost', registration: 1 },
    ]);
    expect(health.context.operations.size).toBe(0);
  });
});

describe('takeover', () => {
  const acquired = { type: 'leadership.acquired', fence: TERM + 1 };

  test('gives the worker its deadline again, keeps counts, and says who leads and what it knows', () => {
    const health = holding([W1, W2]);
    ask(health, W1, 0.1);
    fresh(health).until(40_000).take(acquired);
    expect(deadlineOf(health)).toBe(70_000);
    expect(health.said()).toMatchObject([
      {
        to: WORKER,
        isHint: true,
        type: 'leader.announced',
        term: TERM + 1,
        attempts: [W1, W2],
        page: 1,
        pages: 1,
      },
    ]);
    expect(health.context.heard).toBe(false);
    expect(health.until(70_000).state).toBe('trusted');
    expect(ask(health, W1, 0.2).extensionMs).toBe(15_000);
    expect(health.until(85_001).state).toBe('suspect');
  });

  test('announces in pages of 500', () => {
    const ids = Array.from({ length: 501 }, (_, index) => `j1/w${index}#1`);
    const health = healthy();
    for (const id of ids) health.take(placed(id));
    fresh(health).take(acquired);
    const pages = health.said('leader.announced');
    expect(pages.map(({ page, pages: all }) => [page, all])).toEqual([
      [1, 2],
      [2, 2],
    ]);
    expect(pages.flatMap(({ attempts }) => attempts)).toEqual(ids.toSorted());
  });

  test('tells the pool of the first heartbeat after it, in its own standing', () => {
    const health = holding([W1]);
    ask(health, W1, 0.1);
    health.take(acquired);
    fresh(health).take(heartbeat([report(W1)]));
    const heard = {
      to: POOL,
      type: 'worker.changed',
      state: 'extended',
      heard: true,
      term: TERM + 1,
    };
    expect(health.said('worker.changed')).toMatchObject([heard]);
    health.take(heartbeat([report(W1)]));
    expect(health.said('worker.changed')).toEqual([]);
  });

  test('takes the answer to the announcement for a sign that the worker was heard', () => {
    const health = healthy();
    health.take(acquired);
    const answer = {
      type: 'announce.answered',
      workerId: 'W',
      bootEpoch: 7,
      accepted: true,
      term: TERM + 1,
    };
    fresh(health).take({ ...answer, bootEpoch: 6 });
    expect(health.said()).toEqual([]);
    health.take(answer);
    expect(health.said()).toMatchObject([{ to: POOL, type: 'worker.changed', heard: true }]);
  });

  test('announces again to a worker that still goes by the leader before', () => {
    const health = holding([W1]);
    health.take(acquired);
    fresh(health).take(heartbeat([report(W1)], { term: TERM }));
    expect(health.heard()).toEqual(['worker.changed', 'leader.announced', 'heartbeat.acked']);
  });

  test('trusts a suspect worker once more', () => {
    const health = holding([W1]).until(45_000);
    health.take(acquired);
    expect(health.states).toContain('trusted');
    expect(health.until(75_000).state).toBe('trusted');
    expect(health.until(75_001).state).toBe('suspect');
  });

  test('says nothing to an evicted worker', () => {
    const health = fresh(healthy().until(60_001));
    health.said();
    health.take(acquired);
    expect(health.said()).toEqual([]);
    expect(health.context.term).toBe(TERM + 1);
  });
});

describe('S53, LD-7 a worker that knows of a later term', () => {
  const answer = {
    type: 'announce.answered',
    workerId: 'W',
    bootEpoch: 7,
    accepted: false,
    term: 9,
  };

  test('is told one above it, and work goes on', () => {
    const health = holding([W1]);
    health.take(answer);
    expect(health.said('leader.announced')).toMatchObject([{ term: 10, attempts: [W1] }]);
    expect(namesOf(health.notes())).toEqual(['leader.fenceRaised']);
    health.take(heartbeat([report(W1)], { term: 10 }));
    expect(health.said()).toMatchObject([{ type: 'heartbeat.acked', term: 10 }]);
  });

  test('is heard by its heartbeats as well', () => {
    const health = holding([W1]);
    health.take(heartbeat([report(W1)], { term: 9 }));
    expect(health.said('heartbeat.acked')).toMatchObject([{ term: 10 }]);
    expect(health.context.term).toBe(10);
  });
});

test('the deadline is the base after the last sign of life, later only by what was granted', () => {
  const acts = fc.constantFrom('ask', 'bad', 'beat', 'pause', 'end', 'place', 'other');
  fc.assert(
    fc.property(fc.array(fc.tuple(acts, fc.nat(9)), { maxLength: 60, size: 'max' }), (story) => {
      const health = healthy();
      let signOfLife = health.now;
      let grantedMs = 0;
      for (const [act, number] of story) {
        const attempt = `j${number % 2}/w1#1`;
        if (act === 'pause') health.advance(number * 1_000);
        if (act === 'place') health.take(placed(attempt));
        if (act === 'ask' && ask(health, attempt, number / 10)?.granted) grantedMs += 30_000;
        if (act === 'bad') ask(health, attempt, Number.NaN);
        if (act === 'end') health.take(ended(attempt, false));
        if (act === 'other') health.take(heartbeat([], { bootEpoch: 9 }));
        if (act === 'beat' && health.state !== 'evicted') {
          health.take(heartbeat());
          signOfLife = health.now;
        }
        // A deadline that an end has brought nearer may be over: it is met in this moment.
        health.advance(0);
        const { deadline } = health.context;
        expect(deadline).toBeGreaterThanOrEqual(signOfLife + 30_000);
        expect(deadline).toBeLessThanOrEqual(signOfLife + 30_000 + grantedMs);
        if (health.state === 'trusted') expect(health.now).toBeLessThanOrEqual(deadline);
      }
    }),
    { numRuns: 60 },
  );
});
