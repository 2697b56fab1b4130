/**
 * Kinds of jobs that the demo submits, and what must come of each.
 *
 * The kind is in the id of a job, so that a later run knows what to expect of it too. What may
 * come of it besides when a fault was in its way is written at the kind; anything else is wrong.
 */

import type { NewJob, NewWorkflow } from '../programs/jobs/client.ts';
import type { Random } from '../runtime/ports/random.ts';
import { DATACENTERS, type Datacenter } from './topology.ts';

/** One way a job may end. */
export interface Ending {
  readonly status: 'completed' | 'failed' | 'cancelled' | 'timedOut';
  /** Left out: any. */
  readonly reasons?: readonly string[];
  /**
   * Left out: always right. `disturbed`: only when a fault was in its way. `cutOff`: only when its
   * datacenter was cut off from the gate. `resumed`: only when the demo was not running for a part
   * of its time. `notCancelled`: only when the cancel was not taken.
   */
  readonly onlyWhen?: 'disturbed' | 'cutOff' | 'resumed' | 'notCancelled';
}

export interface JobKind {
  readonly name: string;
  /** For people. */
  readonly about: string;
  readonly weight: number;
  /** Time that it takes when nothing is in its way, at most. */
  readonly usualMs: number;
  readonly endings: readonly Ending[];
  /** Time of its cancel, after its submission. */
  readonly cancelAfterMs?: number;
  make(random: Random): Omit<NewJob, 'jobId'>;
}

const MINUTES = 60_000;
/** Enough for work of seconds, whatever goes wrong with it. */
const AMPLE_MS = 3 * MINUTES;
const DUE = ['overall', 'datacenterTimeout', 'fallback'];
/** Time goes on while nothing runs, also that of jobs. */
const TIME_PASSED: Ending = { status: 'timedOut', reasons: DUE, onlyWhen: 'resumed' };
const NOBODY_TOOK_IT: Ending = {
  status: 'failed',
  reasons: ['noDatacenter'],
  onlyWhen: 'cutOff',
};

export const JOB_KINDS: readonly JobKind[] = [
  {
    name: 'short',
    about: 'a second of work: completed',
    weight: 38,
    usualMs: 2_000,
    endings: [{ status: 'completed' }, TIME_PASSED, NOBODY_TOOK_IT],
    make: (random) => ({
      timeoutMs: AMPLE_MS,
      targetDatacenters: one(random),
      workflows: [workflow('only', 'work', between(random, 200, 1_500))],
    }),
  },
  {
    name: 'pipeline',
    about: 'steps that wait for each other: completed',
    weight: 16,
    usualMs: 4_000,
    endings: [{ status: 'completed' }, TIME_PASSED, NOBODY_TOOK_IT],
    make: (random) => ({
      timeoutMs: AMPLE_MS,
      targetDatacenters: one(random),
      workflows: pipeline(random),
    }),
  },
  {
    name: 'spread',
    about: 'in several datacenters at once: completed',
    weight: 12,
    usualMs: 3_000,
    endings: [{ status: 'completed' }, TIME_PASSED, NOBODY_TOOK_IT],
    make: (random) => ({
      timeoutMs: AMPLE_MS,
      targetDatacenters: several(random),
      workflows: [
        workflow('left', 'work', between(random, 300, 1_500)),
        workflow('right', 'work', between(random, 300, 1_500)),
      ],
    }),
  },
  {
    name: 'flaky',
    about: 'fails the first time: completed by another run',
    weight: 8,
    usualMs: 3_000,
    endings: [{ status: 'completed' }, TIME_PASSED, NOBODY_TOOK_IT],
    make: (random) => ({
      timeoutMs: AMPLE_MS,
      targetDatacenters: one(random),
      workflows: [workflow('upload', 'stumble', between(random, 200, 800))],
    }),
  },
  {
    name: 'failing',
    about: 'fails for good, with all that depends on it: failed',
    weight: 8,
    usualMs: 2_000,
    endings: [{ status: 'failed', reasons: ['workflowFailed'] }, TIME_PASSED, NOBODY_TOOK_IT],
    make: (random) => ({
      timeoutMs: AMPLE_MS,
      targetDatacenters: one(random),
      workflows: [
        workflow('extract', 'spoil', between(random, 200, 800)),
        workflow('transform', 'work', 300, ['extract']),
        workflow('load', 'work', 300, ['transform']),
      ],
    }),
  },
  {
    name: 'long',
    about: 'takes longer than it has, is granted more: completed',
    weight: 6,
    usualMs: 11_000,
    endings: [
      { status: 'completed' },
      // A worker that is lost takes its credit along, and the work begins again.
      { status: 'timedOut', reasons: DUE, onlyWhen: 'disturbed' },
      TIME_PASSED,
      NOBODY_TOOK_IT,
    ],
    make: (random) => ({
      timeoutMs: 8_000,
      targetDatacenters: one(random),
      workflows: [workflow('film', 'render', 10_000)],
    }),
  },
  {
    name: 'late',
    about: 'gets on, but not in time: timed out',
    weight: 5,
    usualMs: 9_000,
    endings: [{ status: 'timedOut', reasons: DUE }, NOBODY_TOOK_IT],
    make: (random) => ({
      timeoutMs: 4_000,
      targetDatacenters: one(random),
      workflows: [workflow('archive', 'work', 40_000)],
    }),
  },
  {
    name: 'stuck',
    about: 'gets nowhere for 8 s in one datacenter: timed out',
    weight: 4,
    usualMs: 10_000,
    endings: [
      { status: 'timedOut', reasons: ['datacenterTimeout'] },
      { status: 'timedOut', reasons: DUE, onlyWhen: 'disturbed' },
      TIME_PASSED,
      NOBODY_TOOK_IT,
    ],
    make: (random) => ({
      timeoutMs: AMPLE_MS,
      stuckThresholdMs: 8_000,
      targetDatacenters: one(random),
      workflows: [workflow('import', 'freeze', 0)],
    }),
  },
  {
    name: 'standstill',
    about: 'gets nowhere for 8 s in all of them: timed out',
    weight: 2,
    usualMs: 11_000,
    endings: [
      // By what both say all the time, or by what both have reported: whichever is first.
      { status: 'timedOut', reasons: ['allDatacentersStuck', 'datacenterTimeout'] },
      { status: 'timedOut', reasons: DUE, onlyWhen: 'disturbed' },
      TIME_PASSED,
      NOBODY_TOOK_IT,
    ],
    make: () => ({
      timeoutMs: AMPLE_MS,
      allStuckThresholdMs: 8_000,
      datacenterTimeoutQuorum: 'all',
      targetDatacenters: ['A', 'B'],
      workflows: [workflow('merge', 'freeze', 0)],
    }),
  },
  {
    name: 'dropped',
    about: 'is cancelled after a second: cancelled',
    weight: 5,
    usualMs: 3_000,
    cancelAfterMs: 1_000,
    endings: [
      { status: 'cancelled' },
      { status: 'completed', onlyWhen: 'notCancelled' },
      TIME_PASSED,
      NOBODY_TOOK_IT,
    ],
    make: (random) => ({
      timeoutMs: AMPLE_MS,
      targetDatacenters: one(random),
      workflows: [workflow('report', 'work', 20_000)],
    }),
  },
  {
    name: 'story',
    about: 'is granted more, loses sight of its worker and its leader: completed',
    // The page begins it, and no load draws it.
    weight: 0,
    usualMs: 25_000,
    endings: [
      { status: 'completed' },
      { status: 'timedOut', reasons: DUE, onlyWhen: 'disturbed' },
      TIME_PASSED,
      NOBODY_TOOK_IT,
    ],
    make: () => ({
      timeoutMs: 20_000,
      targetDatacenters: ['A'],
      workflows: [workflow('film', 'render', 23_000)],
    }),
  },
];

const WEIGHT_TOTAL = JOB_KINDS.reduce((total, { weight }) => total + weight, 0);

/**
 * Draws a kind by weight, of those that are usually done within `withinMs`; none when that is too
 * short for all.
 */
export function drawKind(random: Random, withinMs: number): JobKind | undefined {
  let left = random.next() * WEIGHT_TOTAL;
  for (const kind of JOB_KINDS) {
    left -= kind.weight;
    if (left >= 0) continue;
    if (kind.usualMs <= withinMs) return kind;
    return JOB_KINDS.find(({ usualMs }) => usualMs <= withinMs);
  }
  return undefined;
}

/** `short-3-0017` is the 17th job of the third run on these data. */
export function jobIdOf(kind: JobKind, run: number, index: number): string {
  return `${kind.name}-${run}-${String(index).padStart(4, '0')}`;
}

const JOB_ID = /^([a-z]+)-(\d+)-\d+$/;

/** Undefined for a job that somebody else submitted. */
export function kindOf(jobId: string): JobKind | undefined {
  const name = JOB_ID.exec(jobId)?.[1];
  return JOB_KINDS.find((kind) => kind.name === name);
}

export function runOf(jobId: string): number | undefined {
  const run = JOB_ID.exec(jobId)?.[2];
  return run === undefined ? undefined : Number(run);
}

function workflow(
  id: string,
  handler: string,
  ms: number,
  dependsOn: readonly string[] = [],
): NewWorkflow {
  return { id, handler, payload: JSON.stringify({ ms }), dependsOn };
}

/** One step, two or three beside each other, one that needs them all. */
function pipeline(random: Random): readonly NewWorkflow[] {
  const parts = Array.from(
    { length: 2 + Math.floor(random.next() * 2) },
    (_, at) => `part-${at + 1}`,
  );
  return [
    workflow('split', 'work', between(random, 200, 600)),
    ...parts.map((id) => workflow(id, 'work', between(random, 300, 1_200), ['split'])),
    workflow('join', 'work', between(random, 200, 600), parts),
  ];
}

function between(random: Random, least: number, most: number): number {
  return Math.round(least + random.next() * (most - least));
}

function one(random: Random): readonly Datacenter[] {
  return [DATACENTERS[Math.floor(random.next() * DATACENTERS.length)] ?? 'A'];
}

/** All of them, or all but one. */
function several(random: Random): readonly Datacenter[] {
  const [left] = one(random);
  return random.next() < 0.5 ? DATACENTERS : DATACENTERS.filter((name) => name !== left);
}
