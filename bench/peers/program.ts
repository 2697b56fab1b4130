/**
 * The other side of the comparison, as two processes for each queue: one that submits, one that works.
 *
 *   node program.js QUEUE client|worker URL
 *
 * Jobs are added one by one, 256 under way, each with a timeout of a minute: pg-boss keeps it with the job,
 * BullMQ and graphile-worker have none, so their worker sets a timer for each. A handler returns at once.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, Queue, Worker } from 'bullmq';
import { closedLoop } from '../closed-loop.ts';
import { say, serve } from '../program-commands.ts';
import { loadPackage } from './packages.ts';

const NAME = 'jobs';
const IN_FLIGHT = 256;
const TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 5;
const BULLMQ_CONCURRENCY = 50;
/** As its documents measure it. */
const GRAPHILE = { concurrency: 24, maxPoolSize: 25 };
/** It fetches every half second at most often: with these, up to 4,000 jobs in a second. */
const PG_BOSS = { workers: 4, batchSize: 500, pollingIntervalSeconds: 0.5 };

interface Client {
  add(job: number): Promise<unknown>;
}

/** How many jobs it has completed, durably. */
interface Working {
  completed(): number | Promise<number>;
}

const [queue = '', part, url = ''] = process.argv.slice(2);
const START: Readonly<
  Record<string, { client(): Promise<Client>; worker(): Promise<Working> } | undefined>
> = {
  bullmq: { client: bullmqClient, worker: bullmqWorker },
  graphile: { client: graphileClient, worker: graphileWorker },
  pgBoss: { client: pgBossClient, worker: pgBossWorker },
};
const start = START[queue];
if (start === undefined) throw new Error(`There is no queue "${queue}".`);

if (part === 'client') {
  const client = await start.client();
  serve({
    submit: ({ first, count }: { readonly first: number; readonly count: number }) =>
      closedLoop(count, IN_FLIGHT, (index) => client.add(first + index)),
  });
} else {
  const working = await start.worker();
  serve({
    /** Resolves when this many are completed since the start. */
    async completed(count: number) {
      let found = await working.completed();
      while (found < count) {
        await sleep(LOOK_EVERY_MS);
        found = await working.completed();
      }
      if (found > count) throw new Error(`${queue}: ${found} are completed, not ${count}.`);
    },
  });
}
say({ ready: true });

/** What the handler of a queue does that has no timeouts of its own. */
async function timed(): Promise<void> {
  const timer = setTimeout(() => process.exit(1), TIMEOUT_MS);
  await Promise.resolve();
  clearTimeout(timer);
}

function redis(): ConnectionOptions {
  return {
    host: '127.0.0.1',
    port: Number(url),
    enableAutoPipelining: true,
  };
}

async function bullmqClient(): Promise<Client> {
  const jobs = new Queue(NAME, { connection: redis() });
  await jobs.waitUntilReady();
  return { add: (job) => jobs.add('job', { job }, { removeOnComplete: true }) };
}

async function bullmqWorker(): Promise<Working> {
  const worker = new Worker(NAME, timed, {
    connection: { ...redis(), maxRetriesPerRequest: null },
    concurrency: BULLMQ_CONCURRENCY,
  });
  let completed = 0;
  worker.on('completed', () => {
    completed += 1;
  });
  worker.on('error', (error) => process.stderr.write(`${error.stack}\n`));
  await worker.waitUntilReady();
  return { completed: () => completed };
}

interface Graphile {
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJob(task: string, payload: unknown): Promise<unknown>;
  }>;
  run(options: object): Promise<{ events: { on(event: string, heard: () => void): void } }>;
  Logger: new (factory: () => () => void) => object;
}

function graphile(): Graphile {
  return loadPackage('graphile-worker') as Graphile;
}

function graphileOptions(): object {
  const { Logger } = graphile();
  return { connectionString: url, logger: new Logger(() => () => {}) };
}

async function graphileClient(): Promise<Client> {
  const utils = await graphile().makeWorkerUtils(graphileOptions());
  await utils.migrate();
  return { add: (job) => utils.addJob(NAME, { job }) };
}

async function graphileWorker(): Promise<Working> {
  const runner = await graphile().run({
    ...graphileOptions(),
    ...GRAPHILE,
    noHandleSignals: true,
    taskList: { [NAME]: timed },
  });
  let completed = 0;
  // Told once the end is written.
  runner.events.on('job:complete', () => {
    completed += 1;
  });
  return { completed: () => completed };
}

interface PgBoss {
  on(event: string, heard: (error: Error) => void): void;
  start(): Promise<unknown>;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object, options: object): Promise<string | null>;
  work(name: string, options: object, handler: () => Promise<void>): Promise<string>;
  getDb(): { executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }> };
}

async function pgBoss(): Promise<PgBoss> {
  const Boss = loadPackage('pg-boss') as new (url: string) => PgBoss;
  const boss = new Boss(url);
  boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
  await boss.start();
  await boss.createQueue(NAME);
  return boss;
}

async function pgBossClient(): Promise<Client> {
  const boss = await pgBoss();
  return { add: (job) => boss.send(NAME, { job }, { expireInSeconds: TIMEOUT_MS / 1_000 }) };
}

async function pgBossWorker(): Promise<Working> {
  const boss = await pgBoss();
  const { workers, batchSize, pollingIntervalSeconds } = PG_BOSS;
  let handled = 0;
  const handler = async (jobs?: readonly unknown[]): Promise<void> => {
    handled += jobs?.length ?? 0;
  };
  for (let number = 0; number < workers; number += 1)
    await boss.work(NAME, { batchSize, pollingIntervalSeconds }, handler);
  let counted = 0;
  return {
    // It tells nobody when an end is written: it is asked once all have been handled.
    async completed() {
      if (handled === counted) return counted;
      const text =
        "select count(*)::int as count from pgboss.job where name = $1 and state = 'completed'";
      const { rows } = await boss.getDb().executeSql(text, [NAME]);
      counted = (rows[0] as { count: number }).count;
      return counted;
    },
  };
}
