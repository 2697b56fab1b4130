/**
 * Durable jobs per second against other queues: submitted over a socket, each with a timeout, completed by a
 * worker, all as processes of their own, and everything on disk before it is acknowledged.
 *
 * A sample is a number of jobs: the time from the first submission until the last is completed. The sides live as
 * long as the measurement and take turns; an idle one polls as it does by itself. What each uses of CPU and
 * memory is counted over all its processes, its database's included.
 */

import { readFileSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jobsSide } from '../cluster-sides.ts';
import { NodeProgram, newDirectory } from '../node-program.ts';
import { type Usage, usageOfTree } from '../process-usage.ts';
import { ensureRedis, startRedis } from '../redis-server.ts';
import { interleave, median, rangeOf, ratios, rounded, type Samples, summary } from '../rounds.ts';
import type { Field, Figure, Measured, MeasuredFigure, MeasureOptions } from '../suite.ts';
import { ensurePackages, versionOfPackage } from './packages.ts';
import { ensurePostgres, startPostgres } from './postgres-server.ts';

const JOBS = 4_000;
const QUICK_JOBS = 500;

const against = (name: string, whom: string): Figure => ({
  name,
  about: `our durable jobs per second, submitted to completed by a worker ÷ those of ${whom}`,
  better: 'higher',
});

export const peersRate: Field = {
  ...against('vsPgBoss', 'pg-boss'),
  goal: 1,
  others: [
    { ...against('vsGraphileWorker', 'graphile-worker, unbatched'), stretch: 1 },
    against('vsBullmq', 'BullMQ'),
  ],
  prepare() {
    ensureRedis();
    ensurePostgres();
    ensurePackages();
  },
  measure,
};

interface Side {
  readonly name: string;
  readonly version: string;
  submit(first: number, count: number): Promise<void>;
  /** Resolves when this many more than before are completed. */
  completed(count: number): Promise<void>;
  usage(): Readonly<Record<string, Usage | null>>;
  end(): Promise<void>;
}

async function measure(options: MeasureOptions): Promise<Measured> {
  const jobs = options.sizes.jobs ?? (options.isQuick ? QUICK_JOBS : JOBS);
  const sides: Side[] = [];
  try {
    sides.push(await ours());
    sides.push(await onPostgres('pgBoss', 'pg-boss'));
    sides.push(await onPostgres('graphile', 'graphile-worker'));
    sides.push(await onRedis());
    const cpu: Record<string, number[]> = {};
    const cases = sides.map((side) => {
      let submitted = 0;
      cpu[side.name] = [];
      return {
        name: side.name,
        async run() {
          const first = submitted;
          submitted += jobs;
          const before = cpuOf(side);
          const startedAt = performance.now();
          await Promise.all([side.submit(first, jobs), side.completed(jobs)]);
          const perSecond = (jobs * 1_000) / (performance.now() - startedAt);
          cpu[side.name]?.push(((cpuOf(side) - before) * 1_000) / jobs);
          return perSecond;
        },
      };
    });
    const raw = await interleave(cases, options);
    return measuredOf(raw, { jobs, sides, cpu });
  } finally {
    for (const side of sides) await side.end();
  }
}

async function ours(): Promise<Side> {
  const directory = newDirectory('peers');
  const side = await jobsSide(directory);
  return {
    name: 'ours',
    version: 'this',
    submit: side.submit,
    completed: side.completed,
    usage: () => side.usage(),
    async end() {
      await side.end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function onPostgres(name: string, packageName: string): Promise<Side> {
  const server = await startPostgres(name);
  const version = `${versionOfPackage(packageName)}, ${server.version}`;
  return peer(name, version, { ...server, name: 'postgres' });
}

async function onRedis(): Promise<Side> {
  const server = await startRedis();
  const version = `${versionOfBullmq()}, Redis ${server.version}`;
  return peer('bullmq', version, { ...server, name: 'redis', url: String(server.port) });
}

interface Server {
  readonly name: string;
  readonly url: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

async function peer(name: string, version: string, server: Server): Promise<Side> {
  const source = import.meta.resolve('./program.ts');
  const started = async (part: string): Promise<NodeProgram> => {
    const program = new NodeProgram(source, [name, part, server.url]);
    await program.next();
    return program;
  };
  const [client, worker] = await startedBoth(started).catch(async (thrown) => {
    await server.stop();
    throw thrown;
  });
  let total = 0;
  return {
    name,
    version,
    submit: (first, count) => client.ask('submit', { first, count }),
    completed: (count) => {
      total += count;
      return worker.ask('completed', total);
    },
    usage: () => ({
      client: usageOfTree(client.pid),
      worker: usageOfTree(worker.pid),
      [server.name]: usageOfTree(server.pid),
    }),
    async end() {
      await client.kill();
      await worker.kill();
      await server.stop();
    },
  };
}

/** One after the other: the first one makes the tables. */
async function startedBoth(start: (part: string) => Promise<NodeProgram>) {
  return [await start('client'), await start('worker')] as const;
}

function versionOfBullmq(): string {
  const path = fileURLToPath(import.meta.resolve('bullmq'));
  const root = path.slice(0, path.lastIndexOf(`bullmq${sep}`) + 'bullmq'.length);
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

/** Seconds, of all its processes. */
const cpuOf = (side: Side): number =>
  Object.values(side.usage()).reduce((sum, usage) => sum + (usage?.cpuSeconds ?? Number.NaN), 0);

interface Found {
  readonly jobs: number;
  readonly sides: readonly Side[];
  /** Milliseconds for each job, sample by sample; the first was the warm-up. */
  readonly cpu: Readonly<Record<string, readonly number[]>>;
}

function measuredOf(raw: Samples, { jobs, sides, cpu }: Found): Measured {
  const figure = (peerName: string): MeasuredFigure => {
    const values = ratios(raw, 'ours', peerName);
    return { value: rounded(median(values)), range: rangeOf(values), rounds: values.length };
  };
  const bySide = <T>(make: (side: Side) => T): Record<string, T> =>
    Object.fromEntries(sides.map((side) => [side.name, make(side)]));
  return {
    ...figure('pgBoss'),
    others: { vsGraphileWorker: figure('graphile'), vsBullmq: figure('bullmq') },
    details: {
      jobsPerSample: jobs,
      versions: bySide(({ version }) => version),
      jobsPerSecond: bySide(({ name }) => summary(raw[name] ?? [])),
      cpuMsPerJob: bySide(({ name }) => summary((cpu[name] ?? []).slice(1))),
      residentMiB: bySide((side) =>
        Object.fromEntries(
          Object.entries(side.usage()).map(([name, usage]) => [name, usage?.residentMiB ?? null]),
        ),
      ),
    },
    raw,
  };
}
