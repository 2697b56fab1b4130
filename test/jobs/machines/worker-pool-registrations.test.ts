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

describe('registrations', () => {
  test('are numbered over all workers, and told to the health that is born for them', () => {
    const pool = newPool();
    pool.take(registered('W1'));
    pool.said();
    pool.take(
      registered('W2', {
        bootEpoch: 5,
        coresTotal: 8,
        attempts: [{ jobId: 'j1', attemptId: 'a#1' }],
      }),
    );
    expect(pool.said()).toMatchObject([
      {
        to: 'worker-health/W2@A',
        type: 'escapement.spawn',
        input: { workerId: 'W2', datacenter: 'A' },
      },
      {
        to: 'worker-health/W2@A',
        type: 'registration.told',
        registration: 2,
        bootEpoch: 5,
        coresTotal: 8,
        term: TERM,
        attempts: ['j1/a#1'],
      },
    ]);
  });

  test('that come again keep their number and what is reserved', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { cores: 2 }));
    pool.said();
    pool.take(registered('W1'));
    expect(pool.said('registration.told')).toMatchObject([{ registration: 1 }]);
    expect(workerOf(pool, 'W1').coresReserved).toBe(2);
  });

  test('that come again without handlers get nothing more, and nobody is spared for their sake', () => {
    const pool = poolOf({ W1: 4, W2: 4 });
    pool.take(requested('a', { avoidWorkers: ['W2'], cores: 4 }));
    pool.take(requested('b', { avoidWorkers: ['W2'] }));
    expect(placed(pool)).toEqual(['a#1→W1']);
    pool.take(registered('W1', { handlers: [] }));
    expect(placed(pool)).toEqual(['b#1→W2']);
    pool.take(released(pool, 'W1', 4));
    pool.take(requested('c'));
    expect(placed(pool)).toEqual(['c#1→W2']);
  });

  test('under a higher boot epoch begin with nothing, and under a lower one are refused', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(requested('a', { cores: 2 }));
    pool.take(registered('W1', { bootEpoch: 2 }));
    expect(workerOf(pool, 'W1')).toMatchObject({ registration: 2, coresReserved: 0, heard: false });
    pool.said();
    pool.take(registered('W1', { bootEpoch: 1 }));
    expect(pool.said()).toMatchObject([
      {
        to: 'worker/1@W1',
        isHint: true,
        type: 'register.answered',
        accepted: false,
        reason: 'duplicateNode',
      },
    ]);
    expect(workerOf(pool, 'W1').registration).toBe(2);
  });

  test('after an eviction may have the same boot epoch, and get a new number', () => {
    const pool = poolOf({ W1: 4 });
    pool.take(lost(pool, 'W1'));
    pool.take(registered('W1'));
    expect(workerOf(pool, 'W1').registration).toBe(2);
  });

  test('that come again before their health has answered are told once, unless they offer others', () => {
    const pool = newPool();
    const told = () => pool.said('registration.told').length;
    pool.take(registered('W1'));
    expect(told()).toBe(1);
    for (let again = 0; again < 100; again += 1) pool.take(registered('W1'));
    expect(told()).toBe(0);
    pool.take(registered('W1', { handlers: [] }));
    pool.take(registered('W1', { handlers: [] }));
    expect(told()).toBe(1);
    pool.take(changed(pool, 'W1'));
    pool.take(registered('W1', { handlers: [] }));
    expect(told()).toBe(1);
    pool.take({ type: 'leadership.acquired', fence: TERM + 1 });
    pool.take(registered('W1', { handlers: [] }));
    expect(told()).toBe(1);
  });

  test('that their health did not take are told again', () => {
    const pool = newPool();
    pool.take(registered('W1'));
    const [refused] = pool.said('registration.told');
    pool.take({
      type: 'message.refused',
      to: 'worker-health/W1@A',
      event: refused,
      reason: 'ended',
    } as never);
    pool.take(registered('W1'));
    expect(pool.said('registration.told')).toHaveLength(1);
  });

  test('are made with their first page', () => {
    const pool = newPool();
    pool.take(registered('W1', { page: 2, pages: 2 }));
    expect(pool.context.workers).toEqual({});
  });
});

describe('WP-7 takeover', () => {
  test('keeps workers, sums and queue, and places on nobody before he was heard', () => {
    const pool = poolOf({ W1: 4, W2: 4 });
    pool.take(requested('a', { cores: 3 }));
    pool.take(requested('b', { cores: 3 }));
    pool.take(requested('c', { cores: 3 }));
    expect(placed(pool)).toHaveLength(2);
    pool.take({ type: 'leadership.acquired', fence: TERM + 1 });
    expect(pool.context.term).toBe(TERM + 1);
    expect(waiting(pool)).toEqual(['j1/c#1']);
    pool.take(released(pool, 'W1', 3));
    expect(placed(pool)).toEqual([]);
    pool.take(changed(pool, 'W2'));
    expect(placed(pool)).toEqual([]);
    pool.take(changed(pool, 'W1'));
    expect(pool.said('slot.granted')).toMatchObject([{ workerId: 'W1', term: TERM + 1 }]);
  });

  test('takes no word for it that the leader before had heard a worker', () => {
    const pool = poolOf({ W1: 4 });
    const old = changed(pool, 'W1');
    pool.take({ type: 'leadership.acquired', fence: TERM + 1 });
    pool.take(old);
    pool.take(requested('a'));
    expect(placed(pool)).toEqual([]);
  });
});
