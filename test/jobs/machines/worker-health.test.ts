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
  newHealth,
  POOL,
  placed,
  report,
  TERM,
  told,
  WORKER,
} from './worker-health-scenes.ts';

describe('WH-1 a registration', () => {
  test('gives the worker its base deadline and is answered', () => {
    const health = newHealth();
    expect(health.state).toBe('unregistered');
    health.until(5_000).take(told());
    expect(health.states).toBe(
      'trusted.hearing, trusted.standing.healthy, trusted.credit.settled, trusted.contact.heard',
    );
    expect(deadlineOf(health)).toBe(35_000);
    const said = health.said();
    expect(said[0]).toMatchObject({
      to: WORKER,
      isHint: true,
      type: 'register.answered',
      accepted: true,
      term: TERM,
      deadlineInMs: 30_000,
      stopAttempts: [],
    });
    expect(said.at(-1)).toMatchObject({
      to: POOL,
      type: 'worker.changed',
      state: 'healthy',
      heard: true,
    });
    expect(namesOf(health.notes())).toEqual(['worker.registered']);
  });

  test('that comes again keeps its attempts and tells the worker to stop what is not known', () => {
    const health = holding(['j1/w1#1']);
    health.until(10_000).take(told({ attempts: ['j1/w1#1', 'j9/w9#1'] }));
    expect(health.said('register.answered')).toMatchObject([{ stopAttempts: ['j9/w9#1'] }]);
    expect([...health.context.operations.keys()]).toEqual(['j1/w1#1']);
    expect(deadlineOf(health)).toBe(40_000);
    expect(health.notes()).toEqual([]);
  });

  test('under a new boot epoch ends the one before, for each of its attempts', () => {
    const health = holding(['j1/w1#1', 'j1/w2#1', 'j2/w1#3']);
    ask(health, 'j1/w1#1', 0.1);
    fresh(health).take(told({ registration: 2, bootEpoch: 8, attempts: ['j1/w1#1'] }));
    const losses = health.said();
    expect(losses.filter(({ type }) => type === 'worker.lost').map(({ to }) => to)).toEqual([
      POOL,
      'workflow/j1/w1@A',
      'workflow/j1/w2@A',
      'workflow/j2/w1@A',
      'job/j1@A',
      'job/j2@A',
    ]);
    expect(losses.find(({ type }) => type === 'worker.lost')).toMatchObject({
      registration: 1,
      cause: 'replaced',
    });
    expect(losses.find(({ type }) => type === 'register.answered')).toMatchObject({
      to: 'worker/8@W',
      stopAttempts: ['j1/w1#1'],
    });
    expect(health.context).toMatchObject({ operations: {}, creditedJobs: [], registration: 2 });
    expect(deadlineOf(health)).toBe(30_000);
    expect(health.states).toContain('standing.healthy');
  });
});

describe('the deadline', () => {
  test('is strict: not suspect at it, suspect 1 ms after it, evicted 1 ms after the grace', () => {
    const health = healthy().until(30_000);
    expect(health.state).toBe('trusted');
    health.until(30_001);
    expect(health.state).toBe('suspect');
    health.until(60_000);
    expect(health.state).toBe('suspect');
    health.until(60_001);
    expect(health.state).toBe('evicted');
  });

  test('is put off by each heartbeat, never brought forward', () => {
    const health = holding(['j1/w1#1']).until(5_000);
    ask(health, 'j1/w1#1', 0.1);
    expect(deadlineOf(health)).toBe(60_000);
    health.until(10_000).take(heartbeat([report('j1/w1#1')]));
    expect(deadlineOf(health)).toBe(60_000);
    health.until(40_000).take(heartbeat([report('j1/w1#1')]));
    expect(deadlineOf(health)).toBe(70_000);
    health.until(70_000);
    expect(health.state).toBe('trusted');
    health.until(70_001);
    expect(health.state).toBe('suspect');
  });

  test('is not put off by another life of the worker, which has to register again', () => {
    const health = healthy().until(29_000);
    health.take(heartbeat([report('j1/w1#1')], { bootEpoch: 8 }));
    expect(health.said()).toMatchObject([
      { to: 'worker/8@W', type: 'heartbeat.acked', registerAgain: true, stopAttempts: ['j1/w1#1'] },
    ]);
    expect(health.until(30_001).state).toBe('suspect');
  });
});

describe('WH-8 suspect', () => {
  test('S30: a heartbeat within the grace recovers it, counts cleared, nothing lost', () => {
    const health = holding(['j1/w1#1']).until(10_000);
    health.take(heartbeat([report('j1/w1#1')]));
    ask(health, 'j1/w1#1', 0.1);
    expect(health.until(70_001).state).toBe('suspect');
    expect(namesOf(health.notes('worker.suspect'))).toHaveLength(1);
    fresh(health)
      .until(85_000)
      .take(heartbeat([report('j1/w1#1')]));
    expect(health.states).toContain('standing.healthy');
    expect(deadlineOf(health)).toBe(115_000);
    expect(health.context.operations.get('j1/w1#1')?.grants).toBeUndefined();
    const types = health.heard();
    expect(types).toContain('worker.changed');
    expect(types).not.toContain('worker.lost');
    expect(namesOf(health.notes())).toContain('worker.recovered');
  });

  test('is told to the pool, and a heartbeat at the last moment counts', () => {
    const health = healthy().until(30_001);
    expect(health.said('worker.changed')).toMatchObject([{ state: 'suspect' }]);
    health.until(60_000).take(heartbeat());
    expect(health.said('worker.changed')[0]).toMatchObject({ state: 'healthy' });
    expect(health.until(60_001).state).toBe('trusted');
  });

  test('an extension request is no heartbeat', () => {
    const health = holding(['j1/w1#1']).until(31_000);
    expect(ask(health, 'j1/w1#1', 0.1)).toMatchObject({ granted: false, denialReason: 'suspect' });
    expect(health.until(60_001).state).toBe('evicted');
  });

  test('keeps its attempts, and takes that which was on its way to it', () => {
    const health = holding(['j1/w1#1']).until(31_000);
    health.take(placed('j1/w2#1'));
    expect([...health.context.operations.keys()]).toEqual(['j1/w1#1', 'j1/w2#1']);
    fresh(health).until(60_001);
    const lost = health.said('worker.lost').map(({ to }) => to);
    expect(lost).toEqual([POOL, 'workflow/j1/w1@A', 'workflow/j1/w2@A']);
  });

  test('a registration that comes again is as good as a heartbeat', () => {
    const health = holding(['j1/w1#1']).until(31_000);
    health.take(told());
    expect(health.states).toContain('standing.healthy');
    expect([...health.context.operations.keys()]).toEqual(['j1/w1#1']);
    expect(namesOf(health.notes())).toContain('worker.recovered');
  });
});

describe('WF-5 eviction', () => {
  test('tells the pool, each workflow with an attempt and each job with credit, once each', () => {
    const health = holding(['j1/w1#1', 'j2/w5#2', 'j2/w6#1']);
    ask(health, 'j1/w1#1', 0.1);
    fresh(health).until(90_001);
    const lost = { type: 'worker.lost', workerId: 'W', registration: 1, cause: 'evicted' };
    expect(health.said('worker.lost')).toMatchObject(
      [
        POOL,
        'workflow/j1/w1@A',
        'workflow/j2/w5@A',
        'workflow/j2/w6@A',
        'job/j1@A',
        'job/j2@A',
      ].map((to) => ({ to, ...lost })),
    );
    const notes = health.notes();
    expect(namesOf(notes)).toEqual([
      'worker.suspect',
      'worker.evicted',
      ...Array.from({ length: 3 }, () => 'worker.attemptLost'),
    ]);
  });

  test('tells no job that wants to hear of it no more', () => {
    const health = holding(['j1/w1#1']);
    ask(health, 'j1/w1#1', 0.1);
    health.take({ type: 'credit.closed', jobId: 'j1' });
    fresh(health).until(90_001);
    expect(health.said('worker.lost').map(({ to }) => to)).toEqual([POOL, 'workflow/j1/w1@A']);
  });

  test('is answered with a new registration only, and what is given to it is lost', () => {
    const health = holding(['j1/w1#1']).until(60_001);
    fresh(health).take(heartbeat([report('j1/w1#1')]));
    expect(health.said()).toMatchObject([{ registerAgain: true, stopAttempts: ['j1/w1#1'] }]);
    health.take(placed('j1/w3#1'));
    expect(health.said()).toMatchObject([
      { to: 'workflow/j1/w3@A', type: 'worker.lost', registration: 1 },
    ]);
    health.take(told({ registration: 2 }));
    expect(health.states).toContain('trusted.standing.healthy');
  });

  test('is remembered for a while, and forgotten when the worker does not come back', () => {
    const health = healthy({ retentionMs: 100_000 }).until(160_000);
    expect(health.state).toBe('evicted');
    health.until(160_001);
    expect(health.state).toBe('forgotten');
    expect(health.isOver).toBe(true);
  });
});

describe('WH-2 the standing', () => {
  test('follows the latest grant among live operations, and the pool hears of it', () => {
    const health = holding(['j1/w1#1', 'j1/w2#1'], { maxExtensions: 2 });
    ask(health, 'j1/w1#1', 0.1);
    ask(health, 'j1/w1#1', 0.2);
    expect(health.states).toContain('standing.exhausted');
    ask(health, 'j1/w2#1', 0.1);
    expect(health.states).toContain('standing.extended');
    health.take(ended('j1/w2#1'));
    expect(health.states).toContain('standing.exhausted');
    health.take(ended('j1/w1#1'));
    expect(health.states).toContain('standing.healthy');
    const states = health.all
      .filter(({ type }) => type === 'worker.changed')
      .map(({ state }) => state);
    expect(states.slice(-5)).toEqual(['extended', 'exhausted', 'extended', 'exhausted', 'healthy']);
  });
});
