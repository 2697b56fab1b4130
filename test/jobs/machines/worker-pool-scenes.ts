/**
 * A worker pool, the workers it knows, who asks it for cores, and the index that has all who wait.
 */

import type { SlotRequested } from '../../../machines/jobs/messages/local.ts';
import { laneParts, lanesOf } from '../../../machines/jobs/ranks.ts';
import { asWaiting } from '../../../machines/jobs/worker-pool/lanes.ts';
import { mayTake, type PooledWorker } from '../../../machines/jobs/worker-pool/placement.ts';
import type { Search } from '../../../machines/jobs/worker-pool/searching.ts';
import { laneOf } from '../../../machines/jobs/worker-pool/steps.ts';
import { type WorkerPoolContext, workerPoolMachine } from '../../../machines/jobs/worker-pool.ts';
import { Stepper } from './stepper.ts';

export const TERM = 3;
/** Searches that may follow one event. */
const ANSWERS_MAX = 10_000;

type Taken = { readonly type: string; readonly [field: string]: unknown };
type Row = ReturnType<typeof asWaiting> & { readonly lane: string };

/**
 * A pool whose searches are answered from an index of all who wait: anybody who asks stands in it until he is
 * granted something or withdraws. `answers` off, a search stays unanswered until `answer`.
 */
export class Pool extends Stepper<WorkerPoolContext> {
  readonly index = new Map<string, Row>();
  answers = true;
  #heard = 0;

  override take(event: Taken): boolean {
    this.#write(event);
    const isTaken = super.take(event);
    this.#follow();
    for (let answers = 0; this.answers && this.context.search !== null; answers += 1) {
      if (answers === ANSWERS_MAX) throw new Error('It searches without end.');
      this.answer();
    }
    return isTaken;
  }

  /** What the index says of the search under way. */
  found(search: Search | null = this.context.search): Taken {
    if (search === null) throw new Error('Nothing is looked for.');
    if (search.what === 'lanes') return this.#lanes(search.handlers, search.number);
    const { lane, after, max, number } = search;
    const isFitting = (row: Row) =>
      search.what === 'next' ||
      mayTake(this.context.workers, laneParts(lane), row, search.workerId);
    const behind = [...this.index.values()]
      .filter((row) => row.lane === lane && row.order > after && isFitting(row))
      .toSorted((one, other) => (one.order < other.order ? -1 : 1));
    const found = behind.slice(0, max).map(({ lane: _, ...row }) => row);
    const isAll = found.length === behind.length;
    return {
      type: 'waiting.found',
      search: number,
      found,
      upTo: found.at(-1)?.order ?? after,
      isAll,
    };
  }

  answer(event: Taken = this.found()): void {
    super.take(event);
    this.#follow();
  }

  #lanes(handlers: readonly string[], number: number): Taken {
    const all = new Set([...this.index.values()].map(({ lane }) => lane));
    const isOne = (lane: string) => handlers.some((handler) => lane.startsWith(lanesOf(handler)));
    return { type: 'lanes.found', search: number, lanes: [...all].filter(isOne).sort() };
  }

  #write(event: Taken): void {
    const { jobId, attemptId } = event as { readonly jobId?: string; readonly attemptId?: string };
    if (event.type === 'slot.withdrawn') this.index.delete(`${jobId}/${attemptId}`);
    if (event.type !== 'slot.requested') return;
    const asked = event as unknown as SlotRequested;
    this.index.set(`${jobId}/${attemptId}`, { ...asWaiting(asked), lane: laneOf(asked) });
  }

  #follow(): void {
    const said = this.all.slice(this.#heard);
    this.#heard = this.all.length;
    for (const { type, to, attemptId } of said) {
      const jobId = to.split('/')[1];
      if (type === 'slot.granted') this.index.delete(`${jobId}/${attemptId}`);
    }
  }
}

export const newPool = (queueMax = 256): Pool =>
  new Pool(workerPoolMachine, {
    datacenter: 'A',
    term: TERM,
    queueMax,
    rules: {
      baseDeadlineMs: 30_000,
      minGrantMs: 1_000,
      maxExtensions: 5,
      suspectGraceMs: 30_000,
      evictAfterDenials: 0,
      extensionWarningRemaining: 1,
      retentionMs: 3_600_000,
    },
  });

export const registered = (workerId: string, more: object = {}) => ({
  type: 'worker.registered',
  workerId,
  bootEpoch: 1,
  coresTotal: 4,
  handlers: ['sleep'],
  attempts: [],
  page: 1,
  pages: 1,
  ...more,
});

export function workerOf({ context }: Pool, workerId: string): PooledWorker {
  const worker = context.workers[workerId];
  if (worker === undefined) throw new Error(`The pool does not know ${workerId}`);
  return worker;
}

export const changed = (pool: Pool, workerId: string, more: object = {}) => ({
  type: 'worker.changed',
  workerId,
  registration: workerOf(pool, workerId).registration,
  state: 'healthy',
  heard: true,
  term: pool.context.term,
  ...more,
});

/** A pool with workers of this many cores each, all heard. */
export function poolOf(cores: Readonly<Record<string, number>>, queueMax = 256): Pool {
  const pool = newPool(queueMax);
  for (const [workerId, coresTotal] of Object.entries(cores)) {
    pool.take(registered(workerId, { coresTotal }));
    pool.take(changed(pool, workerId));
  }
  pool.said();
  pool.asked();
  return pool;
}

export const requested = (attempt: string, more: object = {}) => ({
  type: 'slot.requested',
  jobId: 'j1',
  attemptId: `${attempt}#1`,
  cores: 1,
  handler: 'sleep',
  avoid: [],
  avoidWorkers: [],
  acceptedAt: 1_000,
  index: 0,
  ...more,
});

export const released = (pool: Pool, workerId: string, cores: number) => ({
  type: 'slot.released',
  workerId,
  registration: workerOf(pool, workerId).registration,
  cores,
});

export const lost = (pool: Pool, workerId: string) => ({
  type: 'worker.lost',
  workerId,
  registration: workerOf(pool, workerId).registration,
  cause: 'evicted',
});

/** `attempt→worker` of every placement since the last look. */
export const placed = (pool: Pool): string[] =>
  pool.said('slot.granted').map(({ attemptId, workerId }) => `${attemptId}→${workerId}`);

/** Those that the pool has in memory, in the order of acceptance. */
export const waiting = ({ context }: Pool): string[] =>
  Object.values(context.lanes)
    .flatMap((lane) => lane.waiting)
    .toSorted((one, other) => (one.order < other.order ? -1 : 1))
    .map(({ jobId, attemptId }) => `${jobId}/${attemptId}`);
