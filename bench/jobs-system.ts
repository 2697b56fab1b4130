/**
 * A whole jobs system in this process for the jobs suite: one manager, its workers and a client,
 * each the real program, over the in-process network.
 *
 * Guarantees: it is ready when it is handed over, that is, every worker has registered and has been
 * heard; `end` of a job resolves only with a committed end; whatever was not as it should be at the
 * end of a measurement fails it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { workerPoolAddress } from '../machines/jobs/addresses.ts';
import type { LogEvent } from '../machines/jobs/log-events.ts';
import type { Outcome } from '../machines/jobs/words.ts';
import { connectClient, type JobsClient, type NewJob } from '../programs/jobs/client.ts';
import type { JobsConfiguration } from '../programs/jobs/configuration.ts';
import { type Manager, type ManagerOptions, startManager } from '../programs/jobs/manager.ts';
import { type Handlers, type JobWorker, startWorker } from '../programs/jobs/worker.ts';
import type { ActorQuery } from '../runtime/api/query.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { Store } from '../runtime/ports/store.ts';
import { inProcessNetwork } from '../transports/in-process.ts';

export const DATACENTER = 'A';
const READY_LIMIT_MS = 60_000;
const QUIET_LIMIT_MS = 15_000;
const LOOK_EVERY_MS = 5;

export interface JobsPlan {
  readonly workers: number;
  /** Cores of each worker. */
  readonly cores: number;
  readonly handlers: Handlers;
  /** Default: in memory. */
  readonly store?: Store;
  readonly config?: Partial<JobsConfiguration>;
  /** The manager's. Default: the system's. */
  readonly clock?: Clock;
  /** Hears of every end. */
  readonly onEnd?: (end: JobEnd) => void;
  /** Default: the manager of the product. */
  readonly start?: (options: ManagerOptions) => Promise<StartedManager>;
}

/** What is needed of a manager here. */
export type StartedManager = Pick<Manager, 'runtime' | 'stop'>;

export async function startSystem(plan: JobsPlan): Promise<JobsSystem> {
  const { workers: count, cores, handlers, store, clock, config = {} } = plan;
  const { start = startManager, onEnd = () => {} } = plan;
  const network = inProcessNetwork();
  const ends = new Ends(onEnd);
  const manager = await start({
    datacenter: DATACENTER,
    transport: network.join(`${DATACENTER}.manager-1`),
    config,
    onNote: (note) => ends.hear(note),
    ...(store !== undefined && { store }),
    ...(clock !== undefined && { clock }),
  });
  // The first registration would be lost where nobody is there yet to take it.
  await until('the datacenter is open', READY_LIMIT_MS, () => {
    return manager.runtime.query({ kind: 'worker-pool' }).actors.length > 0;
  });
  const addWorker = (number: number, ofCores: number): Promise<JobWorker> => {
    const worker = `${DATACENTER}.worker-${number}`;
    const transport = network.join(worker);
    const options = { worker, datacenter: DATACENTER, cores: ofCores, handlers, config, transport };
    return startWorker(options);
  };
  const client = await connectClient({
    client: 'client-1',
    to: DATACENTER,
    transport: network.join('client-1'),
  });
  const system = new JobsSystem(manager, client, ends, addWorker);
  for (let number = 1; number <= count; number += 1) await system.addWorker(cores);
  return system;
}

export class JobsSystem {
  readonly manager: StartedManager;
  readonly workers: JobWorker[] = [];
  readonly client: JobsClient;
  readonly #ends: Ends;
  readonly #add: (number: number, cores: number) => Promise<JobWorker>;

  constructor(
    manager: StartedManager,
    client: JobsClient,
    ends: Ends,
    add: (number: number, cores: number) => Promise<JobWorker>,
  ) {
    this.manager = manager;
    this.client = client;
    this.#ends = ends;
    this.#add = add;
  }

  /** One more worker; resolves when the datacenter has heard it. */
  async addWorker(cores: number): Promise<void> {
    this.workers.push(await this.#add(this.workers.length + 1, cores));
    const count = this.workers.length;
    await until('every worker is heard', READY_LIMIT_MS, () => this.heardWorkers === count);
  }

  get heardWorkers(): number {
    const pool = this.manager.runtime.actor(workerPoolAddress(DATACENTER)).getSnapshot();
    return Object.values(pool.context.workers).filter(({ heard }) => heard).length;
  }

  /** Whether no message and no effect of the datacenter is under way. */
  get isAtRest(): boolean {
    const { ready, underWay, performers, asks } = this.manager.runtime.counts();
    return ready + underWay + performers + asks === 0;
  }

  /** Resolves when nothing is under way. */
  rest(): Promise<void> {
    return until('nothing is under way', READY_LIMIT_MS, () => this.isAtRest);
  }

  /** Resolves when the job is acknowledged. */
  async submit(job: NewJob): Promise<void> {
    const answer = await this.client.submit(job);
    // It may have been asked twice, where the first answer took more than a second.
    if (!answer.accepted)
      throw new Error(`Job ${job.jobId} was not taken: ${JSON.stringify(answer)}.`);
  }

  /** How the job ended, once that is committed. Ask before it can have ended. */
  end(jobId: string): Promise<JobEnd> {
    return this.#ends.of(jobId);
  }

  /**
   * Fails unless the datacenter has exactly this many jobs of `each` workflows, all ended as said, and
   * nothing of them is left but what can still be looked up.
   */
  async check(
    ended: Partial<Record<Outcome, number>>,
    { limitMs = QUIET_LIMIT_MS, each = 1 } = {},
  ): Promise<void> {
    await until('nothing is under way', limitMs, () => this.#isQuiet()).catch((thrown) => {
      const left = { ...this.manager.runtime.counts(), coresReserved: this.#coresReserved() };
      throw new Error(`${(thrown as Error).message} ${JSON.stringify(left)}`);
    });
    const { runtime } = this.manager;
    let jobs = 0;
    for (const [state, expected] of Object.entries(ended)) {
      expectEqual(`jobs that are ${state}`, this.count({ kind: 'job', state }), expected);
      jobs += expected;
    }
    // The pool, the jobs service, and the health of each worker, which waits for its next heartbeat.
    const others = this.workers.length + 2;
    expectEqual('actors that have not ended', this.count({ status: 'active' }), others);
    // Whatever has ended waits for being forgotten.
    expectEqual('deadlines', runtime.counts().deadlines, (1 + each) * jobs + this.workers.length);
    expectEqual('messages that nobody took', runtime.undelivered().length, 0);
  }

  /** Actors of the datacenter, as its index has them. */
  count(query: ActorQuery): number {
    let count = 0;
    let cursor: string | undefined;
    do {
      const page = this.manager.runtime.query({
        ...query,
        limit: 1_000,
        ...(cursor && { cursor }),
      });
      count += page.actors.length;
      cursor = page.cursor;
    } while (cursor !== undefined);
    return count;
  }

  async stop(): Promise<void> {
    await this.client.stop();
    await Promise.all(this.workers.map((worker) => worker.stop({ limitMs: 0 })));
    await this.manager.stop();
  }

  #isQuiet(): boolean {
    return this.isAtRest && this.#coresReserved() === 0;
  }

  #coresReserved(): number {
    const pool = this.manager.runtime.actor(workerPoolAddress(DATACENTER)).getSnapshot();
    return Object.values(pool.context.workers).reduce((sum, one) => sum + one.coresReserved, 0);
  }
}

export interface JobEnd {
  readonly jobId: string;
  readonly status: Outcome;
  /** The moment of the committed turn. */
  readonly at: number;
  /** When this process heard of it. */
  readonly heardAt: number;
}

/** What the manager's machines log of ends: a log event leaves when its turn is committed. */
class Ends {
  readonly #waiting = new Map<string, (end: JobEnd) => void>();
  readonly #listener: (end: JobEnd) => void;

  constructor(listener: (end: JobEnd) => void) {
    this.#listener = listener;
  }

  of(jobId: string): Promise<JobEnd> {
    return new Promise((resolve) => {
      this.#waiting.set(jobId, resolve);
    });
  }

  hear({ event, at, jobId = '', status }: LogEvent): void {
    if (event !== 'job.ended') return;
    const end = { jobId, status: status as Outcome, at, heardAt: nowPrecise() };
    this.#listener(end);
    this.#waiting.get(jobId)?.(end);
    this.#waiting.delete(jobId);
  }
}

function expectEqual(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}.`);
}

/** The wall clock of the runtime, with fractions. */
export const nowPrecise = (): number => performance.timeOrigin + performance.now();

/** @throws {Error} when it is not so in time. */
export async function until(what: string, limitMs: number, isSo: () => boolean): Promise<void> {
  const endsAt = performance.now() + limitMs;
  while (!isSo()) {
    if (performance.now() > endsAt) throw new Error(`Not in ${limitMs} ms: ${what}.`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** @throws {Error} when it takes longer. */
export async function within<T>(what: string, limitMs: number, promise: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const late = sleep(limitMs, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`Not in ${limitMs} ms: ${what}.`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    ended.abort();
    late.catch(() => {});
  }
}
