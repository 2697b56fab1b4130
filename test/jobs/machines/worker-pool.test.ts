import { describe, expect, test } from 'vitest';
import {
  changed,
  lost,
  newPool,
  placed,
  poolOf,
  registered,
  released,
  requested,
  TERM,
  waiting,
  workerOf,
} from './worker-pool-scenes.ts';

describe('WP-2 the choice of a worker', () => {
  test('falls on the one with most free cores, then on the lowest id', () => {
    const pool = poolOf({ W2: 4, W3: 6, W1: 4 });
    pool.take(requested('a', { cores: 2 }));
    pool.take(requested('b'));
    pool.take(requested('c'));
    pool.take(requested('d'));
    pool.take(requested('e'));
    expect(placed(pool)).toEqual(['a#1→W3', 'b#1→W1', 'c#1→W2', 'd#1→W3', 'e#1→W1'].toSorted());
    expect(workerOf(pool, 'W3').coresReserved).toBe(3);
  });

  test.each([
    ['has not the handler', { handler: 'other' }],
    ['is too small', { cores: 5 }],
  ])('never falls on one that %s', (_, more) => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', more));
    expect(placed(pool)).toEqual([]);
    expect([...pool.index.keys()]).toEqual(['j1/a#1']);
  });

  test.each(['suspect', 'evicted'])('never falls on one that is %s', (state) => {
    const pool = poolOf({ W1: 4 });
    pool.take(changed(pool, 'W1', { state }));
    pool.take(requested('a'));
    expect(placed(pool)).toEqual([]);
    pool.take(changed(pool, 'W1', { state: 'healthy' }));
    expect(placed(pool)).toEqual(['a#1→W1']);
  });

  test.each(['healthy', 'extended', 'exhausted'])('may fall on one that is %s', (state) => {
    const pool = poolOf({ W1: 4 });
    pool.take(changed(pool, 'W1', { state }));
    pool.take(requested('a'));
    expect(placed(pool)).toEqual(['a#1→W1']);
  });

  test('never falls on one that was not heard', () => {
    const pool = newPool();
    pool.take(registered('W1'));
    pool.take(requested('a'));
    pool.take(changed(pool, 'W1', { heard: false }));
    expect(placed(pool)).toEqual([]);
    pool.take(changed(pool, 'W1'));
    expect(placed(pool)).toEqual(['a#1→W1']);
  });

  test('does not go by what a heartbeat says of free cores, but by what is reserved', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { cores: 3 }));
    pool.take(requested('b', { cores: 2 }));
    expect(placed(pool)).toEqual(['a#1→W1']);
    pool.take(released(pool, 'W1', 3));
    expect(placed(pool)).toEqual(['b#1→W1']);
  });
});

describe('WP-2 a worker to avoid', () => {
  test('gets nothing while another registered one is large enough, busy or unheard as it may be', () => {
    const pool = poolOf({ W1: 4, W2: 2 });
    pool.take(requested('busy', { cores: 2, avoidWorkers: ['W1'] }));
    pool.take(requested('a', { cores: 2, avoidWorkers: ['W1'] }));
    expect(placed(pool)).toEqual(['busy#1→W2']);
    pool.take(released(pool, 'W2', 2));
    expect(placed(pool)).toEqual(['a#1→W2']);
  });

  test('is taken when no other is large enough or has the handler', () => {
    const pool = poolOf({ W1: 4, W2: 2 });
    pool.take(requested('a', { cores: 3, avoidWorkers: ['W1'] }));
    expect(placed(pool)).toEqual(['a#1→W1']);
  });

  test('WF-8: is taken again by registration when it is the only one', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { avoid: [workerOf(pool, 'W1').registration] }));
    expect(placed(pool)).toEqual(['a#1→W1']);
  });

  test('is taken once the other one is lost', () => {
    const pool = poolOf({ W1: 4, W2: 1 });
    pool.take(requested('busy', { avoidWorkers: ['W1'] }));
    pool.take(requested('a', { avoidWorkers: ['W1'] }));
    expect(placed(pool)).toEqual(['busy#1→W2']);
    pool.take(lost(pool, 'W2'));
    expect(placed(pool)).toEqual(['a#1→W1']);
  });

  test('is taken once the other one comes back too small', () => {
    const pool = poolOf({ W1: 4, W2: 2 });
    pool.take(requested('busy', { cores: 2, avoidWorkers: ['W1'] }));
    pool.take(requested('a', { cores: 2, avoidWorkers: ['W1'] }));
    expect(placed(pool)).toEqual(['busy#1→W2']);
    pool.take(registered('W2', { bootEpoch: 2, coresTotal: 1 }));
    expect(placed(pool)).toEqual(['a#1→W1']);
  });

  test('by a registration that is gone is nobody', () => {
    const pool = poolOf({ W1: 4, W2: 4 });
    const before = workerOf(pool, 'W1').registration;
    pool.take(registered('W1', { bootEpoch: 2 }));
    pool.take(changed(pool, 'W1'));
    pool.take(requested('a', { avoid: [before] }));
    expect(placed(pool)).toEqual(['a#1→W1']);
  });
});

describe('WP-4 a placement', () => {
  test('reserves the cores and says so in one turn', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { cores: 3 }));
    expect(pool.said()).toEqual([
      {
        type: 'slot.granted',
        to: 'workflow/j1/a@A',
        isHint: false,
        atMs: 0,
        attemptId: 'a#1',
        workerId: 'W1',
        registration: 1,
        bootEpoch: 1,
        cores: 3,
        term: TERM,
      },
    ]);
    expect(workerOf(pool, 'W1').coresReserved).toBe(3);
  });

  test('is taken back when the workflow has ended: the grant is refused', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { cores: 4 }));
    pool.take(requested('b', { cores: 4 }));
    const [granted] = pool.said('slot.granted');
    const { to, isHint: _, atMs: __, ...event } = granted ?? { to: '', isHint: false, atMs: 0 };
    pool.take({ type: 'message.refused', to, event, code: 'ACTOR_ENDED' });
    expect(placed(pool)).toEqual(['b#1→W1']);
  });

  test('is not taken back when something else was refused', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { cores: 4 }));
    const event = { type: 'slot.held', attemptId: 'a#1' };
    pool.take({ type: 'message.refused', to: 'workflow/j1/a@A', event, code: 'ACTOR_ENDED' });
    expect(workerOf(pool, 'W1').coresReserved).toBe(4);
  });
});

describe('WP-5 what is given back', () => {
  test('is never more than was reserved: a sum that does not come out is told, and stays', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { cores: 2 }));
    pool.take(released(pool, 'W1', 3));
    expect(pool.notes('cores.miscounted')).toMatchObject([
      { workerId: 'W1', registration: 1, cores: 3, coresReserved: 2 },
    ]);
    expect(workerOf(pool, 'W1').coresReserved).toBe(2);
    pool.take(released(pool, 'W1', 2));
    expect(pool.notes()).toEqual([]);
  });

  test('frees the cores of the registration it names, and no other', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { cores: 4 }));
    const old = released(pool, 'W1', 4);
    pool.take(registered('W1', { bootEpoch: 2 }));
    pool.take(changed(pool, 'W1'));
    pool.take(requested('b', { cores: 3 }));
    pool.take(old);
    expect(workerOf(pool, 'W1').coresReserved).toBe(3);
  });

  test('goes with a worker that is lost, and a repeat has no effect', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { cores: 4 }));
    const loss = lost(pool, 'W1');
    pool.take(loss);
    pool.take(registered('W1'));
    pool.take(changed(pool, 'W1'));
    expect(workerOf(pool, 'W1')).toMatchObject({ coresReserved: 0, registration: 2 });
    pool.take(loss);
    expect(workerOf(pool, 'W1').registration).toBe(2);
  });

  test('is also a request that is withdrawn', () => {
    const pool = poolOf({ W1: 1 });
    pool.take(requested('a'));
    pool.take(requested('b'));
    pool.take(requested('c'));
    pool.take({ type: 'slot.withdrawn', jobId: 'j1', attemptId: 'b#1' });
    expect(waiting(pool)).toEqual(['j1/c#1']);
  });
});
