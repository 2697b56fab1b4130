/**
 * The sides that are compared with durable jobs over a socket: each a set of programs, and one sample
 * of the same shape for all: start, complete, and wait for the deadlines of those that were left.
 */

import { BUSY_NODE } from './busy-node.ts';
import { type Batch, type Lateness, leftOf } from './cluster-deadlines.ts';
import { NodeProgram } from './node-program.ts';
import { type Usage, usageOf } from './process-usage.ts';
import type { RedisServer } from './redis-server.ts';

const SPREAD_MS = 2_000;
/** The first deadline comes after all are started and completed, with that much to spare. */
const RESERVE = 3;
const RESERVE_MS = 1_500;
const FIRST_LEAD_MS = 20_000;

export interface Side {
  readonly name: string;
  start(batch: Batch): Promise<number>;
  complete(batch: Batch): Promise<number>;
  late(count: number): Promise<Lateness>;
  /** Usage by process. */
  usage(): Readonly<Record<string, Usage | null>>;
  /** Fails when something is left that should not be. */
  check(jobs: { readonly completed: number; readonly left: number }): Promise<void>;
  end(): Promise<void>;
}

export interface Done {
  completed: number;
  left: number;
}

export interface Sample {
  /** Per second. */
  readonly start: number;
  readonly complete: number;
  readonly late: Lateness;
}

let nextIndex = 0;

export interface SampleOptions {
  readonly how: Batch['how'];
  readonly count: number;
  /** Added to with each sample. */
  readonly done?: Done;
  /** From the start to the first deadline, as long as it is not known what is needed. */
  readonly firstLeadMs?: number;
}

/** What takes one sample after the other. Deadlines that come too early for it fail it. */
export function sampler(side: Side, options: SampleOptions): () => Promise<Sample> {
  const { how, count, done, firstLeadMs = FIRST_LEAD_MS } = options;
  let leadMs = firstLeadMs;
  return async () => {
    const first = nextIndex;
    nextIndex += count;
    const startedAt = Date.now();
    const batch = { first, count, how, firstDueAt: startedAt + leadMs, spreadMs: SPREAD_MS };
    const left = leftOf(batch);
    const startMs = await side.start(batch);
    const completeMs = await side.complete(batch);
    const busyMs = Date.now() - startedAt;
    if (busyMs > leadMs)
      throw new Error(`${side.name}: deadlines came before all were completed (${busyMs} ms).`);
    leadMs = Math.min(firstLeadMs, Math.ceil(busyMs * RESERVE + RESERVE_MS));
    const late = await side.late(left);
    if (done !== undefined) {
      done.completed += count - left;
      done.left += left;
    }
    const perSecond = (many: number, ms: number): number => (many * 1_000) / ms;
    return {
      start: perSecond(count, startMs),
      complete: perSecond(count - left, completeMs),
      late,
    };
  };
}

export async function engineSide(directory: string): Promise<Side> {
  const program = import.meta.resolve('./cluster-engine-program.ts');
  const node = new NodeProgram(program, ['node', directory], BUSY_NODE);
  const { url } = (await node.next<{ url: string }>()).what;
  const client = new NodeProgram(program, ['client', url], BUSY_NODE);
  await client.next();
  return {
    name: 'engine',
    start: (batch) => client.ask('start', batch),
    complete: (batch) => client.ask('complete', batch),
    late: (count) => node.ask('late', count),
    usage: () => ({ node: usageOf(node.pid), client: usageOf(client.pid) }),
    async check(jobs) {
      const ended = await node.ask<{ completed: number; timedOut: number }>('ended');
      if (ended.completed !== jobs.completed || ended.timedOut !== jobs.left)
        throw new Error(`engine: ${JSON.stringify(ended)} ended, not ${JSON.stringify(jobs)}.`);
    },
    async end() {
      await client.kill();
      await node.kill();
    },
  };
}

export async function bullmqSide({ port, pid }: RedisServer): Promise<Side> {
  const source = import.meta.resolve('./cluster-bullmq-program.ts');
  const program = new NodeProgram(source, [String(port)]);
  await program.next();
  return {
    name: 'bullmq',
    start: (batch) => program.ask('start', batch),
    complete: (batch) => program.ask('complete', batch),
    late: (count) => program.ask('late', count),
    usage: () => ({ queueAndWorker: usageOf(program.pid), redis: usageOf(pid) }),
    async check() {
      const left = await program.ask<number>('left');
      if (left > 0) throw new Error(`bullmq: ${left} jobs are left.`);
    },
    end: () => program.kill(),
  };
}

/** The jobs system, which has workers that can be given jobs with nothing to do, too. */
export interface JobsSide extends Side {
  submit(first: number, count: number): Promise<void>;
  /** Resolves when this many more have completed. */
  completed(count: number): Promise<void>;
}

export async function jobsSide(directory: string): Promise<JobsSide> {
  const program = import.meta.resolve('./cluster-jobs-program.ts');
  const manager = new NodeProgram(program, ['manager', directory]);
  const { url } = (await manager.next<{ url: string }>()).what;
  const workers = new NodeProgram(program, ['workers', url]);
  await workers.next();
  const client = new NodeProgram(program, ['client', url]);
  await client.next();
  return {
    name: 'jobs',
    async start(batch) {
      const ms = await client.ask<number>('start', batch);
      await manager.ask('running', batch.count);
      return ms;
    },
    async complete(batch) {
      const startedAt = performance.now();
      await workers.ask('complete', batch);
      await manager.ask('completed', batch.count - leftOf(batch));
      return performance.now() - startedAt;
    },
    submit: (first, count) => client.ask('submit', { first, count }),
    completed: (count) => manager.ask('completed', count),
    late: (many) => manager.ask('late', many),
    usage: () => ({
      manager: usageOf(manager.pid),
      workers: usageOf(workers.pid),
      client: usageOf(client.pid),
    }),
    check: async () => {},
    end: async () => {
      for (const one of [client, workers, manager]) await one.kill();
    },
  };
}
