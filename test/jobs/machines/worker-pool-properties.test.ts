import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  changed,
  newPool,
  type Pool,
  placed,
  poolOf,
  registered,
  released,
  requested,
  waiting,
  workerOf,
} from './worker-pool-scenes.ts';

interface Grant {
  readonly workerId: string;
  readonly registration: number;
  readonly cores: number;
}

/** The pool among everybody who deals with it: what it has granted and was not given back yet. */
class Market {
  /** So small that hardly anybody who waits is in memory. */
  readonly pool: Pool = newPool(2);
  #grants: Grant[] = [];
  #lost: Array<{ readonly workerId: string; readonly registration: number }> = [];
  #asked = 0;
  #boots: Record<string, number> = {};

  take(event: { readonly type: string }): void {
    this.pool.take(event);
    for (const said of this.pool.said('slot.granted')) {
      const { workerId, registration, cores } = said as unknown as Grant;
      this.#grants.push({ workerId, registration, cores });
    }
  }

  act(kind: string, worker: number, number: number): void {
    const workerId = `W${worker}`;
    const known = this.pool.context.workers[workerId];
    switch (kind) {
      case 'register': {
        const bootEpoch = (this.#boots[workerId] ?? 1) + (number % 2);
        this.#boots[workerId] = bootEpoch;
        if (known !== undefined) this.#lost.push({ workerId, registration: known.registration });
        this.take(registered(workerId, { bootEpoch, coresTotal: known?.coresTotal ?? number + 1 }));
        break;
      }
      case 'hear':
        if (known !== undefined) this.take(changed(this.pool, workerId));
        break;
      case 'suspect':
        if (known !== undefined) this.take(changed(this.pool, workerId, { state: 'suspect' }));
        break;
      case 'ask': {
        this.#asked += 1;
        const avoidWorkers = number % 3 === 0 ? [workerId] : [];
        const cores = 1 + (number % 4);
        const attemptId = `w${this.#asked}#${avoidWorkers.length + 1}`;
        const more = { cores, avoidWorkers, acceptedAt: number, index: this.#asked };
        this.take(Object.assign(requested('w', more), { attemptId }));
        break;
      }
      case 'release':
        this.#giveBack(number, (grant) => ({ type: 'slot.released', ...grant }));
        break;
      case 'refuse':
        this.#giveBack(number, (grant) => ({
          type: 'message.refused',
          to: 'workflow/j1/w@A',
          code: 'ACTOR_ENDED',
          event: { type: 'slot.granted', ...grant },
        }));
        break;
      case 'lose':
        if (known !== undefined)
          this.take({ type: 'worker.lost', workerId, registration: known.registration } as never);
        break;
      // Told twice, or only now, long after the registration has gone.
      case 'loseAgain': {
        const gone = this.#lost[number % Math.max(1, this.#lost.length)];
        const isGone = gone !== undefined && known?.registration !== gone.registration;
        if (isGone) this.take({ type: 'worker.lost', ...gone } as never);
        break;
      }
      default:
        this.take({ type: 'leadership.acquired', fence: this.pool.context.term + 1 } as never);
    }
  }

  /** What is outstanding on a worker's present registration. */
  outstanding(workerId: string): number {
    const { registration } = workerOf(this.pool, workerId);
    return this.#grants
      .filter((grant) => grant.workerId === workerId && grant.registration === registration)
      .reduce((total, { cores }) => total + cores, 0);
  }

  #giveBack(number: number, messageOf: (grant: Grant) => { readonly type: string }): void {
    const [grant] = this.#grants.splice(number % Math.max(1, this.#grants.length), 1);
    if (grant !== undefined) this.take(messageOf(grant));
  }
}

const KINDS = [
  'register',
  'hear',
  'suspect',
  'ask',
  'ask',
  'release',
  'refuse',
  'lose',
  'loseAgain',
  'lead',
];

test('what is reserved is what was granted and not given back, never below 0 nor above all there is', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat(3), fc.nat(7)), {
        maxLength: 80,
        size: 'max',
      }),
      (acts) => {
        const market = new Market();
        for (const act of acts) {
          market.act(...act);
          for (const [workerId, worker] of Object.entries(market.pool.context.workers)) {
            expect(worker.coresReserved).toBe(market.outstanding(workerId));
            expect(worker.coresReserved).toBeLessThanOrEqual(worker.coresTotal);
          }
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('between two turns nothing that waits would fit on a worker that may be used, in memory or not', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat(3), fc.nat(7)), {
        maxLength: 80,
        size: 'max',
      }),
      (acts) => {
        const market = new Market();
        for (const act of acts) {
          market.act(...act);
          for (const { lane, avoidWorkers = [] } of market.pool.index.values()) {
            const [, cores] = lane.split(' ').map(Number) as [number, number];
            const { workers } = market.pool.context;
            const fitting = Object.entries(workers).filter(
              ([, { state, heard, coresTotal, coresReserved }]) =>
                heard && state === 'healthy' && coresTotal - coresReserved >= cores,
            );
            const others = Object.entries(workers).filter(
              ([workerId, { coresTotal }]) =>
                coresTotal >= cores && !avoidWorkers.includes(workerId),
            );
            const avoided = fitting.filter(([workerId]) => avoidWorkers.includes(workerId));
            expect(fitting.length).toBe(others.length > 0 ? avoided.length : 0);
          }
          expect(waiting(market.pool).length).toBeLessThanOrEqual(
            Math.max(2, Object.keys(market.pool.context.lanes).length),
          );
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('of those that want the same the first accepted runs first, however few are in memory', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.tuple(fc.constantFrom('ask', 'ask', 'release', 'withdraw'), fc.nat(30)), {
        maxLength: 60,
        size: 'max',
      }),
      (queueMax, acts) => {
        const pool = poolOf({ W1: 1 }, queueMax);
        let asked = 0;
        for (const [act, number] of acts) {
          const [first] = [...pool.index].toSorted(([, one], [, other]) =>
            one.order < other.order ? -1 : 1,
          );
          const isBusy = workerOf(pool, 'W1').coresReserved > 0;
          if (act === 'ask') {
            asked += 1;
            pool.take(requested(`w${asked}`, { acceptedAt: number, index: asked }));
          } else if (act === 'withdraw') {
            const key = [...pool.index.keys()][number % Math.max(1, pool.index.size)];
            const [jobId, attemptId] = key?.split('/') ?? [];
            if (key !== undefined) pool.take({ type: 'slot.withdrawn', jobId, attemptId });
          } else if (isBusy) {
            pool.said();
            pool.take(released(pool, 'W1', 1));
            expect(placed(pool)).toEqual(first === undefined ? [] : [`${first[1].attemptId}→W1`]);
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});
