/**
 * Comparison of real processes with the simulator: whether they came to the same end, and what is different
 * if not.
 *
 * What has to be equal is what people would call the outcome: status, reasons, who led under which
 * fence, decisions, extensions, and how each workflow ended after how many attempts. Moments agree
 * when they are as early and not much later: a process has a start, a scheduler and neighbours,
 * which simulated ones have not. How many messages were stale is told by the network and the
 * moment, so that is looked at only where a file expects something of it.
 */

import type {
  Expectation,
  Expected,
  ExpectedMap,
} from '../../simulator/jobs/scenario/expectation.ts';
import { findMisses } from '../../simulator/jobs/scenario/misses.ts';
import type {
  DatacenterEnd,
  JobEnd,
  ScenarioResult,
} from '../../simulator/jobs/scenario/result.ts';
import type { RealResult } from './outcome.ts';

/** At the pace of the scenario. */
export interface Tolerance {
  readonly earlyMs: number;
  readonly lateMs: number;
  /** What rounding can make of a duration. */
  readonly roundingMs: number;
}

/** Own milliseconds of a process: how late is still no difference, and how early is measuring. */
const LATE_MS = 4_000;
const EARLY_MS = 60;
const NETWORK_MS = 1_000;
/** Nearer to each other than this, two moments are the same. */
const RACE_MS = 10_000;
/** Grants that add up. */
const ROUNDINGS = 6;

export function toleranceOf(factor: number): Tolerance {
  return {
    earlyMs: NETWORK_MS + EARLY_MS * factor,
    lateMs: LATE_MS * factor,
    roundingMs: ROUNDINGS * factor,
  };
}

/** What the file expects and real processes did not do. */
export function unmet(
  expect: Expectation,
  result: RealResult,
  tolerance: Tolerance,
): readonly string[] {
  return findMisses(widened(expect, '', tolerance) as ExpectedMap, result);
}

/**
 * What is one thing in the simulator and another with processes. A range of the file is room that
 * the rules leave (when a worker last sent a heartbeat): there the simulator's figure is one of many,
 * and `unmet` is the judge.
 */
export function differences(
  simulated: Pick<ScenarioResult, 'jobs' | 'workers'>,
  real: RealResult,
  tolerance: Tolerance,
  expect: Expectation = new Map(),
): readonly string[] {
  const expected = asExpected({
    jobs: Object.fromEntries(
      Object.entries(simulated.jobs).map(([jobId, job]) => [jobId, comparedJob(job)]),
    ),
    workers: Object.fromEntries(
      Object.entries(simulated.workers).map(([worker, { extensions, extendedMs, denials }]) => [
        worker,
        { extensions, extendedMs, denials },
      ]),
    ),
  });
  const decided = withoutRanges(expected, expect);
  return findMisses(widened(decided, '', tolerance) as ExpectedMap, real);
}

/** What is expected, without the figures for which the file has a range. */
function withoutRanges(expected: ExpectedMap, expect: ExpectedMap): ExpectedMap {
  return new Map(
    [...expected].flatMap(([name, value]): readonly (readonly [string, Expected])[] => {
      const inFile = expect.get(name);
      if (typeof value === 'number' && isRange(inFile)) return [];
      const areMaps = value instanceof Map && inFile instanceof Map;
      return [[name, areMaps ? withoutRanges(value, inFile) : value]];
    }),
  );
}

const isRange = (expected: Expected | undefined): boolean =>
  typeof expected === 'object' && expected !== null && 'from' in expected;

function comparedJob({ gate, datacenters }: JobEnd): object {
  return {
    gate: gate && {
      status: gate.status,
      reason: gate.reason,
      atMs: gate.atMs,
      decisions: gate.decisions,
      withdrawn: gate.withdrawn,
      unconfirmed: gate.unconfirmed,
    },
    datacenters: Object.fromEntries(
      Object.entries(datacenters).map(([name, end]) => [name, comparedDatacenter(end)]),
    ),
  };
}

function comparedDatacenter(end: DatacenterEnd): object {
  const { status, reason, gateReason, localReason, atMs, reportedAtMs } = end;
  const { leader, leaderFence, extensionsMs, workflows } = end;
  return {
    ...{ status, reason, gateReason, atMs, leader, leaderFence, extensionsMs },
    ...(isReportDecided(end) && { localReason, reportedAtMs }),
    workflows: Object.fromEntries(
      Object.entries(workflows).map(([id, { state, attempts }]) => [id, { state, attempts }]),
    ),
  };
}

/**
 * Whether it is decided that the datacenter reports. Where its own deadline and the gate's are the
 * same moment, one of the two is first.
 */
function isReportDecided({ atMs, reportedAtMs, gateReason }: DatacenterEnd): boolean {
  if (reportedAtMs === null) return gateReason !== 'overall';
  return atMs === null || atMs - reportedAtMs > RACE_MS;
}

type Plain = { readonly [name: string]: unknown };

function asExpected(value: Plain): ExpectedMap {
  return new Map(
    Object.entries(value).map(([name, one]) => {
      const isMap = typeof one === 'object' && one !== null && !Array.isArray(one);
      return [name, isMap ? asExpected(one as Plain) : (one as Expected)];
    }),
  );
}

/** The same with room for what is different about real time. */
function widened(expected: Expected, name: string, tolerance: Tolerance): Expected {
  if (expected instanceof Map)
    return new Map([...expected].map(([key, value]) => [key, widened(value, key, tolerance)]));
  const [from, to] = endsOf(expected);
  if (from === undefined || to === undefined) return expected;
  if (name.endsWith('AtMs') || name === 'atMs')
    return { from: from - tolerance.earlyMs, to: to + tolerance.lateMs };
  if (name.endsWith('Ms'))
    return { from: from - tolerance.roundingMs, to: to + tolerance.roundingMs };
  return expected;
}

function endsOf(expected: Expected): readonly [number?, number?] {
  if (typeof expected === 'number') return [expected, expected];
  if (typeof expected === 'object' && expected !== null && 'from' in expected)
    return [expected.from, expected.to];
  return [];
}
