import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  changed,
  newPool,
  type Pool,
  registered,
  requested,
  workerOf,
} from './worker-pool-scenes.ts';

interface Grant {
  readonly workerId: string;
  readonly registration: number;
  readonly cores: number;
}

/** The pool among everybody who deals with it: what it has granted and was not given back yet. */
class Market {
  readonly pool: Pool = newPool();
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
        this.take(requested(`w${this.#asked}`, { cores, avoidWorkers, acceptedAt: number }));
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

test('between two turns nothing that waits would fit on a worker that may be used', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat(3), fc.nat(7)), {
        maxLength: 80,
        size: 'max',
      }),
      (acts) => {
        const market = new Market();
        for (const act of acts) market.act(...act);
        const { workers, queue } = market.pool.context;
        for (const { cores, avoidWorkers } of queue) {
          const fitting = Object.entries(workers).filter(
            ([, { state, heard, coresTotal, coresReserved }]) =>
              heard && state === 'healthy' && coresTotal - coresReserved >= cores,
          );
          const others = Object.entries(workers).filter(
            ([workerId, { coresTotal }]) => coresTotal >= cores && !avoidWorkers.includes(workerId),
          );
          const avoided = fitting.filter(([workerId]) => avoidWorkers.includes(workerId));
          expect(fitting.length).toBe(others.length > 0 ? avoided.length : 0);
        }
      },
    ),
    { numRuns: 100 },
  );
});
