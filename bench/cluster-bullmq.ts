/**
 * Durable jobs with deadlines over a socket, against BullMQ with Redis.
 *
 * 10,000 jobs a sample: all are started, nine in ten completed, and the others left to deadlines that
 * come afterwards. Everything is on disk before it is acknowledged on all sides. Each side's programs
 * are processes of their own that live as long as the measurement; samples of the sides alternate.
 * The jobs system does much more for a job and is shown beside them, one pass.
 */

import { rmSync } from 'node:fs';
import { leftOf } from './cluster-deadlines.ts';
import {
  bullmqSide,
  type Done,
  engineSide,
  jobsSide,
  type Sample,
  type Side,
  sampler,
} from './cluster-sides.ts';
import { newDirectory } from './node-program.ts';
import type { Usage } from './process-usage.ts';
import { ensureRedis, type RedisServer, startRedis } from './redis-server.ts';
import { interleave, median, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasuredFigure, MeasureOptions } from './suite.ts';

const JOBS = 10_000;
const SINGLE_JOBS = 500;
const QUICK_SHARE = 0.2;
/** The jobs system starts and completes by way of workers. */
const JOBS_LEAD_MS = 90_000;

export const bullmq: Field = {
  name: 'engine.startVsBullmq',
  about: 'durable starts per second over a socket ÷ those of BullMQ in bulk, Redis with AOF always',
  better: 'higher',
  goal: 1,
  stretch: 2,
  others: [
    {
      name: 'engine.completeVsBullmq',
      about: 'durable completions per second over a socket ÷ those of BullMQ',
      better: 'higher',
      goal: 1.5,
      stretch: 2,
    },
    {
      name: 'engine.lateP99VsBullmq',
      about: 'how late deadlines are noticed, 99th percentile ÷ that of BullMQ',
      better: 'lower',
      goal: 0.2,
      stretch: 0.1,
    },
    {
      name: 'jobs.startPerSec',
      about: 'jobs of the jobs system that a client submits per second',
      better: 'higher',
    },
    {
      name: 'jobs.completePerSec',
      about: 'jobs of the jobs system that workers complete per second',
      better: 'higher',
    },
    {
      name: 'jobs.lateP99Ms',
      about: 'ms from a deadline of the jobs system to its committed end, 99th percentile',
      better: 'lower',
    },
  ],
  prepare: ensureRedis,
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const redis = await startRedis();
  const sides: Side[] = [];
  const directories: string[] = [];
  const newStore = (name: string): string => {
    const directory = newDirectory(name);
    directories.push(directory);
    return directory;
  };
  try {
    sides.push(await engineSide(newStore('engine')));
    sides.push(await bullmqSide(redis));
    const phases = await rounds(sides, options);
    const jobs = await jobsPass(newStore('jobs'), options);
    return summarized(phases, jobs, { redis, sides, isQuick: options.isQuick });
  } finally {
    for (const side of sides) await side.end();
    await redis.stop();
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  }
}

/** Samples by name of side and phase, such as `engine.start`. */
type Phases = Readonly<Record<string, readonly number[]>>;

async function rounds(sides: readonly Side[], options: MeasureOptions): Promise<Phases> {
  const share = options.isQuick ? QUICK_SHARE : 1;
  const phases: Record<string, number[]> = {};
  const note = (name: string, value: number): void => {
    phases[name] = [...(phases[name] ?? []), value];
  };
  const done = new Map(sides.map((side) => [side, { completed: 0, left: 0 }]));
  const cases = sides.flatMap((side) =>
    (['bulk', 'single'] as const).map((how) => {
      const count = (how === 'bulk' ? JOBS : SINGLE_JOBS) * share;
      const sample = sampler(side, { how, count, done: done.get(side) as Done });
      return {
        name: `${side.name} ${how}`,
        async run() {
          const { start, complete, late } = await sample();
          const suffix = how === 'bulk' ? '' : 'Single';
          note(`${side.name}.start${suffix}`, start);
          note(`${side.name}.complete${suffix}`, complete);
          note(`${side.name}.lateP99Ms${suffix}`, late.p99Ms);
          note(`${side.name}.lateP50Ms${suffix}`, late.p50Ms);
          return start;
        },
      };
    }),
  );
  await interleave(cases, options);
  for (const [side, jobs] of done) await side.check(jobs);
  // The first of each was the warm-up.
  return Object.fromEntries(Object.entries(phases).map(([name, all]) => [name, all.slice(1)]));
}

interface JobsPass extends Sample {
  readonly usage: Readonly<Record<string, Usage | null>>;
  readonly count: number;
}

async function jobsPass(directory: string, options: MeasureOptions): Promise<JobsPass> {
  const count = JOBS * (options.isQuick ? QUICK_SHARE : 1);
  const side = await jobsSide(directory);
  try {
    options.progress('  jobs: one pass');
    const sample = await sampler(side, { how: 'bulk', count, firstLeadMs: JOBS_LEAD_MS })();
    return { ...sample, usage: usageOfSide(side), count };
  } finally {
    await side.end();
  }
}

interface Parts {
  readonly redis: RedisServer;
  readonly sides: readonly Side[];
  readonly isQuick: boolean;
}

function summarized(phases: Phases, jobs: JobsPass, { redis, sides, isQuick }: Parts): Measured {
  const ratioOf = (phase: string): number[] => ratios(phases, `engine.${phase}`, `bullmq.${phase}`);
  const figure = (values: readonly number[]): MeasuredFigure => ({
    value: rounded(median(values)),
    range: rangeOf(values),
    rounds: values.length,
  });
  const share = isQuick ? QUICK_SHARE : 1;
  return {
    ...figure(ratioOf('start')),
    others: {
      'engine.completeVsBullmq': figure(ratioOf('complete')),
      'engine.lateP99VsBullmq': figure(ratioOf('lateP99Ms')),
      'jobs.startPerSec': figure([jobs.start]),
      'jobs.completePerSec': figure([jobs.complete]),
      'jobs.lateP99Ms': figure([jobs.late.p99Ms]),
    },
    details: {
      jobs: JOBS * share,
      ofThemLeft: leftOf({ count: JOBS * share }),
      singleJobs: SINGLE_JOBS * share,
      jobsSystem: { jobs: jobs.count, ...jobs.late, note: 'one pass' },
      redis: redis.version,
      perSecondAndMs: Object.fromEntries(
        Object.entries(phases).map(([name, samples]) => [name, summary(samples)]),
      ),
      singleVsBullmq: {
        start: summary(ratioOf('startSingle')),
        complete: summary(ratioOf('completeSingle')),
      },
      usage: {
        ...Object.assign({}, ...sides.map(usageOfSide)),
        ...jobs.usage,
      },
    },
    raw: phases,
  };
}

/** Usage by side and process. */
function usageOfSide(side: Side): Record<string, Usage | null> {
  return Object.fromEntries(
    Object.entries(side.usage()).map(([name, usage]) => [`${side.name}.${name}`, usage]),
  );
}
