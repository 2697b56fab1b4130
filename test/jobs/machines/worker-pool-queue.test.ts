import { describe, expect, test } from 'vitest';
import {
  changed,
  lost,
  newPool,
  type Pool,
  placed,
  poolOf,
  registered,
  released,
  requested,
  TERM,
  waiting,
} from './worker-pool-scenes.ts';

describe('WP-3 the order of the queue', () => {
  test('is by acceptance of the job, then its id, then the place in the submission', () => {
    const pool = poolOf({ W1: 1 });
    pool.take(requested('busy', { acceptedAt: 1 }));
    pool.take(requested('late', { jobId: 'j1', acceptedAt: 2_000 }));
    pool.take(requested('second', { jobId: 'j2', index: 1 }));
    pool.take(requested('tenth', { jobId: 'j2', index: 9 }));
    pool.take(requested('other', { jobId: 'j1', index: 99 }));
    pool.take(requested('first', { jobId: 'j2', index: 0 }));
    expect(waiting(pool)).toEqual([
      'j1/other#1',
      'j2/first#1',
      'j2/second#1',
      'j2/tenth#1',
      'j1/late#1',
    ]);
  });

  test('is the order of placing, no matter who asked first', () => {
    const pool = poolOf({ W1: 2 });
    pool.take(requested('busy', { cores: 2 }));
    pool.take(requested('young', { jobId: 'j2', acceptedAt: 9_000 }));
    pool.take(requested('old', { acceptedAt: 5_000 }));
    pool.take(requested('older', { acceptedAt: 4_000 }));
    pool.said();
    pool.take(released(pool, 'W1', 2));
    expect(placed(pool)).toEqual(['older#1→W1', 'old#1→W1']);
    expect(waiting(pool)).toEqual(['j2/young#1']);
  });

  test('passes over what fits nowhere, and that keeps its place', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('busy', { cores: 3 }));
    pool.take(requested('large', { cores: 4, acceptedAt: 1 }));
    pool.take(requested('small', { cores: 1, acceptedAt: 2 }));
    pool.take(requested('small2', { cores: 1, acceptedAt: 3 }));
    expect(placed(pool)).toEqual(['busy#1→W1', 'small#1→W1']);
    expect(waiting(pool)).toEqual(['j1/large#1', 'j1/small2#1']);
    pool.take(released(pool, 'W1', 3));
    expect(placed(pool)).toEqual(['small2#1→W1']);
    pool.take(released(pool, 'W1', 1));
    pool.take(released(pool, 'W1', 1));
    expect(placed(pool)).toEqual(['large#1→W1']);
  });

  test('holds one request of an attempt, however often it asks', () => {
    const pool = poolOf({ W1: 1 });
    pool.take(requested('busy'));
    pool.take(requested('a'));
    pool.take(requested('a'));
    expect(waiting(pool)).toHaveLength(1);
  });
});

describe('WP-6 what the pool has in memory', () => {
  const many = (count: number, from = 0): string[] =>
    Array.from({ length: count }, (_, index) => `w${from + index}`);

  /** A worker that is busy, and this many that wait in the order of their names. */
  function backlog(count: number, queueMax: number): Pool {
    const pool = poolOf({ W1: 1 }, queueMax);
    pool.take(requested('busy', { acceptedAt: 1 }));
    for (const [index, name] of many(count).entries()) pool.take(requested(name, { index }));
    pool.said();
    return pool;
  }

  const run = (pool: Pool): string => {
    pool.take(released(pool, 'W1', 1));
    return placed(pool).join();
  };

  test('is the first in order; the others are fetched when half of them are gone, and run in order', () => {
    const pool = backlog(20, 4);
    expect(waiting(pool)).toEqual(many(4).map((name) => `j1/${name}#1`));
    const ran = many(20).map(() => run(pool));
    expect(ran).toEqual(many(20).map((name) => `${name}#1→W1`));
    expect(pool.context.lanes).toEqual({});
    // Once for every half of what it has in memory.
    expect(pool.asked().filter((name) => name === 'findWaiting').length).toBeLessThanOrEqual(10);
  });

  test('is never overtaken by one that came later, and the last makes room for one that is earlier', () => {
    const pool = backlog(6, 2);
    pool.take(requested('late', { jobId: 'j9', acceptedAt: 9_000 }));
    pool.take(requested('early', { jobId: 'j0', acceptedAt: 500 }));
    expect(waiting(pool)).toEqual(['j0/early#1', 'j1/w0#1']);
    const order = ['early', ...many(6), 'late'];
    expect(order.map(() => run(pool))).toEqual(order.map((name) => `${name}#1→W1`));
  });

  test('of one that is to be fetched is nothing lost by a search that nobody answers', () => {
    const pool = backlog(8, 2);
    pool.answers = false;
    expect([run(pool), run(pool)]).toEqual(['w0#1→W1', 'w1#1→W1']);
    expect(pool.states).toContain('searching.looking');
    pool.asked();
    const lost = pool.found();
    pool.advance(1_000);
    expect(pool.asked()).toEqual(['findWaiting']);
    pool.answers = true;
    pool.answer();
    expect([run(pool), run(pool)]).toEqual(['w2#1→W1', 'w3#1→W1']);
    // An answer to a search that was given up says nothing any more.
    const before = pool.context;
    pool.take(lost);
    expect(pool.context).toEqual(before);
  });

  test('of a pool that a new leader takes over is looked for again', () => {
    const pool = backlog(8, 2);
    pool.answers = false;
    run(pool);
    pool.take({ type: 'leadership.acquired', fence: TERM + 1 });
    expect(pool.context.search).toMatchObject({ what: 'lanes', handlers: ['sleep'] });
    pool.answers = true;
    pool.answer();
    pool.take(changed(pool, 'W1'));
    const ran = many(7).map(() => run(pool));
    expect(ran).toEqual(many(7, 1).map((name) => `${name}#1→W1`));
  });

  test('has those that began to wait while it was looking', () => {
    const pool = backlog(3, 2);
    pool.answers = false;
    run(pool);
    const answer = pool.found();
    for (const name of ['w3', 'w4']) pool.take(requested(name, { index: Number(name.slice(1)) }));
    pool.answer(answer);
    pool.answers = true;
    if (pool.context.search !== null) pool.answer();
    expect(many(4, 1).map(() => run(pool))).toEqual(many(4, 1).map((name) => `${name}#1→W1`));
  });

  test.each([
    ['before all', ['w1b', 'w2', 'w3', 'w4'], 1.5],
    ['between two', ['w2', 'w2b', 'w3', 'w4'], 2.5],
  ])('has one that began to wait %s of those that are found', (_, order, place) => {
    // Places ten apart, so that there is one between any two.
    const pool = poolOf({ W1: 1 }, 2);
    pool.take(requested('busy', { acceptedAt: 1 }));
    for (const [index, name] of many(5).entries())
      pool.take(requested(name, { index: 10 * index }));
    pool.said();
    expect(run(pool)).toBe('w0#1→W1');
    pool.answers = false;
    expect(run(pool)).toBe('w1#1→W1');
    const answer = pool.found();
    const came = order.find((name) => name.endsWith('b')) as string;
    pool.take(requested(came, { index: 10 * place }));
    pool.answer(answer);
    pool.answers = true;
    if (pool.context.search !== null) pool.answer();
    expect(order.map(() => run(pool))).toEqual(order.map((name) => `${name}#1→W1`));
  });

  test('has none of those that stopped to wait while it was looking', () => {
    const pool = backlog(4, 2);
    pool.answers = false;
    run(pool);
    const answer = pool.found();
    pool.take({ type: 'slot.withdrawn', jobId: 'j1', attemptId: 'w2#1' });
    pool.answer(answer);
    expect(waiting(pool)).toEqual(['j1/w1#1', 'j1/w3#1'].slice(0, waiting(pool).length));
    pool.answers = true;
    if (pool.context.search !== null) pool.answer();
    expect([run(pool), run(pool)]).toEqual(['w1#1→W1', 'w3#1→W1']);
  });

  test('takes nothing of a lane that changed while it was looking', () => {
    const pool = backlog(6, 4);
    pool.answers = false;
    run(pool);
    run(pool);
    const answer = pool.found();
    for (const name of ['a', 'b', 'c'])
      pool.take(requested(name, { jobId: 'j0', acceptedAt: 500, index: name.charCodeAt(0) }));
    pool.answer(answer);
    pool.answers = true;
    if (pool.context.search !== null) pool.answer();
    const order = ['a', 'b', 'c', ...many(4, 2)];
    expect(order.map(() => run(pool))).toEqual(order.map((name) => `${name}#1→W1`));
  });

  test('is shared by what wants other cores or other handlers: none keeps the others from a worker', () => {
    const pool = newPool(2);
    pool.take(registered('W1', { coresTotal: 3, handlers: ['sleep', 'wake'] }));
    pool.take(changed(pool, 'W1'));
    pool.take(requested('busy', { cores: 2, acceptedAt: 1 }));
    for (const name of many(5)) pool.take(requested(name, { cores: 2, index: 1 }));
    for (const name of many(5, 5)) pool.take(requested(name, { handler: 'gone', index: 2 }));
    expect(placed(pool)).toEqual(['busy#1→W1']);
    pool.take(requested('small', { handler: 'wake', index: 3 }));
    expect(placed(pool)).toEqual(['small#1→W1']);
    pool.take(requested('small2', { handler: 'wake', index: 4 }));
    pool.take(requested('small3', { index: 5 }));
    pool.take(released(pool, 'W1', 1));
    expect(placed(pool)).toEqual(['small2#1→W1']);
    pool.take(released(pool, 'W1', 1));
    expect(placed(pool)).toEqual(['small3#1→W1']);
  });

  test('has nothing of what no worker could run, and finds it when one comes that could', () => {
    const pool = poolOf({ W1: 2 }, 3);
    for (const name of many(6))
      pool.take(requested(name, { cores: 4, index: Number(name.slice(1)) }));
    for (const name of many(3)) pool.take(requested(name, { jobId: 'j2', handler: 'wake' }));
    expect(pool.context.lanes).toEqual({});
    pool.take(registered('W2', { coresTotal: 8, handlers: ['sleep'] }));
    pool.take(changed(pool, 'W2'));
    expect(placed(pool)).toEqual(['w0#1→W2', 'w1#1→W2']);
    pool.take(lost(pool, 'W2'));
    expect(pool.context.lanes).toEqual({});
    pool.take(registered('W2', { bootEpoch: 2, coresTotal: 4, handlers: ['sleep', 'wake'] }));
    pool.take(changed(pool, 'W2'));
    expect(placed(pool)).toEqual(['w2#1→W2']);
  });

  test('finds, behind those that avoid a worker, one that does not', () => {
    const pool = poolOf({ W1: 1, W2: 1 }, 2);
    for (const name of ['busy', 'busy2']) pool.take(requested(name, { acceptedAt: 1 }));
    const again = (name: string, avoidWorkers: string[]) => ({
      ...requested(name, { avoidWorkers, index: Number(name.slice(1)) }),
      attemptId: `${name}#2`,
    });
    for (const name of many(9)) pool.take(again(name, ['W1']));
    pool.take(again('w9', ['W2']));
    pool.said();
    pool.take(released(pool, 'W1', 1));
    expect(placed(pool)).toEqual(['w9#2→W1']);
    pool.take(released(pool, 'W1', 1));
    expect(placed(pool)).toEqual([]);
    // It is known that nobody is left, and not looked for again.
    pool.asked();
    pool.take(changed(pool, 'W1'));
    expect(pool.asked()).toEqual([]);
    pool.take(again('w10', ['W2']));
    expect(placed(pool)).toEqual(['w10#2→W1']);
    pool.take(released(pool, 'W1', 1));
    // The other worker is gone: there is none to be spared any more.
    pool.take(lost(pool, 'W2'));
    expect(placed(pool)).toEqual(['w0#2→W1']);
  });

  test('is as large as anybody who leads says', () => {
    const pool = backlog(6, 8);
    pool.take({ type: 'limits.told', queueMax: 3 });
    expect(pool.context.queueMax).toBe(3);
    pool.take(requested('w6', { index: 6 }));
    expect(waiting(pool)).toHaveLength(3);
    expect(many(7).map(() => run(pool))).toEqual(many(7).map((name) => `${name}#1→W1`));
  });
});
