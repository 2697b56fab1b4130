/**
 * The jobs system's side of the comparison, as three processes:
 *
 *   node cluster-jobs-program.js manager DIRECTORY   a manager, its jobs on LMDB
 *   node cluster-jobs-program.js workers URL         workers, whose handlers hold what they are given
 *   node cluster-jobs-program.js client URL          a client, which submits
 *
 * Ends are heard from the manager's notes, which leave when the turn of the end is on disk.
 */

import { lmdbStore } from '../index.ts';
import { jobAddress } from '../machines/jobs/addresses.ts';
import type { LogEvent } from '../machines/jobs/log-events.ts';
import { connectClient } from '../programs/jobs/client.ts';
import { startManager } from '../programs/jobs/manager.ts';
import { JOBS_ROLES } from '../programs/jobs/peer-roles.ts';
import type { HandlerContext } from '../programs/jobs/worker/handlers.ts';
import { type JobWorker, startWorker } from '../programs/jobs/worker.ts';
import { websocketTransport } from '../transports/websocket.ts';
import { closedLoop } from './closed-loop.ts';
import {
  type Batch,
  dueAtOf,
  indexes,
  isLeft,
  LateDeadlines,
  nameOf,
  timed,
} from './cluster-deadlines.ts';
import { SECRET } from './cluster-secret.ts';
import { until } from './jobs-system.ts';
import { say, serve } from './program-commands.ts';

const DATACENTER = 'A';
const MANAGER = 'A.manager-1';
const IN_FLIGHT = 256;
const WORKERS = 10;
const CORES = 1_024;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const LIMIT_MS = 300_000;

const [part, where = ''] = process.argv.slice(2);
await { manager, workers, client }[part as 'manager' | 'workers' | 'client']();

async function manager(): Promise<void> {
  const late = new LateDeadlines();
  let completed = 0;
  const transport = websocketTransport({
    node: MANAGER,
    role: 'manager',
    roles: JOBS_ROLES,
    place: DATACENTER,
    listen: { port: 0 },
    secret: SECRET,
    clientOf: () => ({ name: 'bench' }),
  });
  const program = await startManager({
    datacenter: DATACENTER,
    manager: MANAGER,
    transport,
    store: lmdbStore(where),
    onNote: ({ event, status, jobId = '' }: LogEvent) => {
      if (event !== 'job.ended') return;
      if (status !== 'timedOut') {
        completed += 1;
        return;
      }
      const job = program.runtime.actor(jobAddress(jobId, DATACENTER));
      const { startedAt, timeoutMs } = job.getSnapshot().context;
      late.note(startedAt + timeoutMs);
    },
  });
  await until('the datacenter is open', LIMIT_MS, () => {
    return program.runtime.query({ kind: 'worker-pool' }).actors.length > 0;
  });
  const running = (): number => {
    let sum = 0;
    let cursor: string | undefined;
    do {
      const query = { kind: 'workflow', state: 'RUNNING', limit: 1_000 } as const;
      const page = program.runtime.query({ ...query, ...(cursor && { cursor }) });
      sum += page.actors.length;
      cursor = page.cursor;
    } while (cursor !== undefined);
    return sum;
  };
  serve({
    late: (count: number) => late.take(count),
    running: (count: number) => until('all jobs run', LIMIT_MS, () => running() === count),
    async completed(count: number) {
      await until('all are completed', LIMIT_MS, () => completed === count);
      completed = 0;
    },
    end: () => program.stop(),
  });
  say({ url: transport.url });
}

async function workers(): Promise<void> {
  const held = new Map<string, () => void>();
  const hold = ({ jobId, signal }: HandlerContext): Promise<void> =>
    new Promise((resolve, reject) => {
      held.set(jobId, resolve);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  const all: JobWorker[] = [];
  for (let number = 1; number <= WORKERS; number += 1) {
    const worker = `${DATACENTER}.worker-${number}`;
    const transport = websocketTransport({
      node: worker,
      role: 'worker',
      roles: JOBS_ROLES,
      place: worker,
      peers: [where],
      secret: SECRET,
    });
    const handlers = { hold, atOnce: async () => 'done' };
    const options = { worker, datacenter: DATACENTER, cores: CORES, handlers, transport };
    all.push(await startWorker(options));
  }
  serve({
    complete(batch: Batch) {
      for (const index of indexes(batch)) if (!isLeft(index)) held.get(nameOf(index))?.();
      held.clear();
    },
    end: () => Promise.all(all.map((worker) => worker.stop({ limitMs: 0 }))),
  });
  say({ ready: true });
}

async function client(): Promise<void> {
  const transport = websocketTransport({
    node: 'client',
    role: 'node',
    roles: JOBS_ROLES,
    peers: [where],
    secret: SECRET,
  });
  const jobs = await connectClient({ client: 'client', to: DATACENTER, transport });
  serve({
    start(batch: Batch) {
      const all = indexes(batch);
      return timed(() =>
        closedLoop(all.length, IN_FLIGHT, async (place) => {
          const index = all[place] as number;
          const answer = await jobs.submit({
            jobId: nameOf(index),
            timeoutMs: Math.max(1, dueAtOf(index, batch) - Date.now()),
            // None makes progress: being stuck is watched, and comes long after the timeout.
            stuckThresholdMs: DAY_MS,
            workflows: [{ id: 'w', handler: 'hold' }],
          });
          if (!answer.accepted) throw new Error(`Not taken: ${JSON.stringify(answer)}.`);
        }),
      );
    },
    submit({ first, count }: { readonly first: number; readonly count: number }) {
      return closedLoop(count, IN_FLIGHT, async (index) => {
        const answer = await jobs.submit({
          jobId: nameOf(first + index),
          timeoutMs: MINUTE_MS,
          workflows: [{ id: 'w', handler: 'atOnce' }],
        });
        if (!answer.accepted) throw new Error(`Not taken: ${JSON.stringify(answer)}.`);
      });
    },
    end: () => jobs.stop(),
  });
  await jobs.list({ limit: 1 });
  say({ connected: true });
}
