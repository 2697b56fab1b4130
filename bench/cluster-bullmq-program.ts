/**
 * BullMQ's side of the comparison: `node cluster-bullmq-program.js PORT`.
 *
 * A job is a delayed job, whose deadline Redis holds; the side that completes it removes it before, and a
 * worker is given those whose delay is over. Queue and worker are in one process with a connection
 * each, which is the cheapest arrangement. Commands that leave in one tick go as one pipeline, and
 * jobs are added a thousand at a time.
 */

import { type ConnectionOptions, Queue, Worker } from 'bullmq';
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
import { say, serve } from './program-commands.ts';

interface Data {
  readonly dueAt: number;
}

const QUEUE = 'jobs';
const CHUNK = 1_000;
const CHUNKS_AT_ONCE = 4;
const IN_FLIGHT = 1_024;
/** Timeouts that the worker may be at at once. With more they are noticed later: it fetches one after the other. */
const CONCURRENCY = 10;

const [port] = process.argv.slice(2);
const late = new LateDeadlines();

const connection: ConnectionOptions = {
  host: '127.0.0.1',
  port: Number(port),
  enableAutoPipelining: true,
};
const queue = new Queue<Data>(QUEUE, { connection });
const worker = new Worker<Data>(QUEUE, async ({ data }) => late.note(data.dueAt), {
  connection: { ...connection, maxRetriesPerRequest: null },
  concurrency: CONCURRENCY,
});
worker.on('error', (error) => process.stderr.write(`${error.stack}\n`));
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);

serve({ start, complete, late: (count: number) => late.take(count), left, end });
say({ ready: true });

function start(batch: Batch): Promise<number> {
  return timed(() => (batch.how === 'single' ? oneByOne(batch) : inBulk(batch)));
}

async function oneByOne(batch: Batch): Promise<void> {
  for (const index of indexes(batch)) {
    const { name, data, opts } = jobOf(index, batch);
    await queue.add(name, data, opts);
  }
}

async function inBulk(batch: Batch): Promise<void> {
  const all = indexes(batch);
  const chunks = Math.ceil(all.length / CHUNK);
  await closedLoop(chunks, CHUNKS_AT_ONCE, (chunk) => {
    const some = all.slice(chunk * CHUNK, (chunk + 1) * CHUNK);
    return queue.addBulk(some.map((index) => jobOf(index, batch)));
  });
}

function jobOf(index: number, batch: Batch) {
  const dueAt = dueAtOf(index, batch);
  const opts = { jobId: nameOf(index), delay: Math.max(1, dueAt - Date.now()) };
  return { name: 'job', data: { dueAt }, opts };
}

/** Resolves when all that are not left to their deadline are completed, each durably. */
function complete(batch: Batch): Promise<number> {
  const ids = indexes(batch)
    .filter((index) => !isLeft(index))
    .map(nameOf);
  const inFlight = batch.how === 'single' ? 1 : IN_FLIGHT;
  return timed(() =>
    closedLoop(ids.length, inFlight, async (place) => {
      const removed = await queue.remove(ids[place] as string);
      if (removed !== 1) throw new Error(`Job ${ids[place]} was not there to be completed.`);
    }),
  );
}

/** Jobs that wait for something still; nothing may be left. */
async function left(): Promise<number> {
  const counts = await queue.getJobCounts('delayed', 'wait', 'active', 'prioritized');
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

async function end(): Promise<void> {
  await worker.close(true);
  await queue.close();
}
