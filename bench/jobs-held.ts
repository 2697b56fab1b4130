/**
 * Many jobs that run at once: what one costs to hold, and how late their deadlines are.
 *
 * 100,000 jobs of one workflow run on 100 workers of 1,000 cores, with manager, workers and clients
 * in this process and the datacenter's store on LMDB. Bytes per job are what they add to this
 * process's resident memory, the parts of the workers and the network included, plus what they add
 * to the data file. Then the deadlines of the last twentieth come, spread evenly over a minute, while
 * the others are held; all handlers heed their signal. The value is the 99th percentile of the time from
 * a deadline to the committed end; none may be early. One pass, since it takes its time; the range
 * is that of six slices of the minute.
 *
 * `--held` sets the number of jobs, in whole thousands.
 */

import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HeldPopulation, type Lateness, type Ramp } from './jobs-held-population.ts';
import { newDirectory } from './node-program.ts';
import { collectedMemory, type ProcessMemory } from './process-memory.ts';
import { quantile, rangeOf, rounded } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const JOBS = 100_000;
const QUICK_JOBS = 4_000;
/** A decision is taken within so much. */
const LATE_MAX_MS = 1_000;
const SLICES = 6;

export const jobsHeld: Field = {
  name: 'heldJobs',
  about: 'ms from a deadline to the committed end, 99th percentile, with 100,000 jobs at work',
  better: 'lower',
  goal: 250,
  stretch: 50,
  others: [
    {
      name: 'rampMs',
      about: 'ms from the first submission of those jobs to the last handler at work',
      better: 'lower',
      goal: 100_000,
      stretch: 50_000,
    },
    {
      name: 'rampLastToFirst',
      about: 'time that the last tenth of them took to be at work ÷ that of the first',
      better: 'lower',
      goal: 1.3,
      stretch: 1.1,
    },
    {
      name: 'heldBytesPerJob',
      about: 'bytes that one of them adds to resident memory and to the data file',
      better: 'lower',
      goal: 14_000,
      stretch: 8_000,
    },
  ],
  measure,
};

interface Held extends ProcessMemory {
  readonly fileBytes: number;
}

interface Found {
  readonly before: Held;
  readonly after: Held;
  readonly ramp: Ramp;
  readonly lateness: Lateness;
}

async function measure(options: MeasureOptions): Promise<Measured> {
  const jobs = options.sizes.held ?? (options.isQuick ? QUICK_JOBS : JOBS);
  const directory = newDirectory('held');
  try {
    const population = await HeldPopulation.start(jobs, directory, options);
    const before = await heldIn(directory);
    const ramp = await population.bear();
    const after = await heldIn(directory);
    const lateness = await population.end();
    return measuredOf(jobs, { before, after, ramp, lateness });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function measuredOf(jobs: number, { before, after, ramp, lateness }: Found): Measured {
  const { decided, heard } = lateness;
  const slices = p99OfSlices(decided);
  const bytesPerJob = bytesEach(before, after, jobs);
  const one = (value: number) => ({
    value: rounded(value),
    range: [value, value] as const,
    rounds: 1,
  });
  return {
    value: rounded(quantile([...decided], 0.99)),
    range: rangeOf(slices),
    rounds: 1,
    others: {
      rampMs: one(ramp.rampMs),
      rampLastToFirst: one(ramp.lastTenthMs / ramp.firstTenthMs),
      heldBytesPerJob: one(bytesPerJob.total as number),
    },
    details: {
      jobs,
      due: decided.length,
      note: 'one pass; the range is that of six slices',
      withinASecond: onTime(decided) / decided.length,
      bytesPerJob,
      counted:
        'resident memory of the process (manager, workers, attempts, client) and the data file',
      ...ramp,
      decidedLateMs: quantilesOf(decided),
      heardLateMs: quantilesOf(heard),
      early: 0,
    },
    raw: { decidedP99OfSlice: slices },
  };
}

const onTime = (late: Float64Array): number => late.filter((ms) => ms <= LATE_MAX_MS).length;

function p99OfSlices(late: Float64Array): number[] {
  return Array.from({ length: SLICES }, (_, slice) =>
    rounded(
      quantile(
        [...late.subarray((slice * late.length) / SLICES, ((slice + 1) * late.length) / SLICES)],
        0.99,
      ),
    ),
  );
}

function quantilesOf(late: Float64Array): Record<string, number> {
  const sorted = [...late];
  const [, max] = rangeOf(sorted);
  const at = (share: number): number => rounded(quantile(sorted, share));
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: rounded(max) };
}

async function heldIn(directory: string): Promise<Held> {
  return { ...(await collectedMemory()), fileBytes: statSync(join(directory, 'data.mdb')).size };
}

/** What one job adds. */
function bytesEach(before: Held, after: Held, jobs: number): Record<string, number> {
  const each = (of: (held: Held) => number | null): number =>
    Math.round(((of(after) ?? Number.NaN) - (of(before) ?? Number.NaN)) / jobs);
  const resident = each(({ residentBytes }) => residentBytes);
  const file = each(({ fileBytes }) => fileBytes);
  return {
    total: resident + file,
    resident,
    file,
    anonymous: each(({ anonymousBytes }) => anonymousBytes),
    filePages: each(({ filePagesBytes }) => filePagesBytes),
    heapUsed: each(({ heapUsedBytes }) => heapUsedBytes),
    external: each(({ externalBytes }) => externalBytes),
  };
}
