/**
 * Simulated timeouts whose cause is known, because each was made to happen: what the work does, and what is done to
 * its worker, stand in the plan. What the system says of them plays no part.
 */

import type { Plan, PlannedJob, Step } from '../simulator/jobs/plan.ts';

export interface KnownCase {
  readonly name: string;
  readonly plan: Plan;
  /** Address of the actor that is explained. */
  readonly address: string;
  readonly cause: 'budgetSpent' | 'noProgress' | 'silentWorker' | 'neverStarted';
}

const SECOND = 1_000;
const JOB = 'job-1';

/** Sorts of causes, and how each is made; `draw` says a number of a range, by the case's own seed. */
type Making = (draw: (min: number, max: number) => number) => {
  readonly cause: KnownCase['cause'];
  readonly job: Pick<PlannedJob, 'timeoutMs'> & Partial<PlannedJob> & Pick<PlannedJob, 'workflows'>;
  readonly steps?: readonly Step[];
  readonly workers?: number;
  readonly cores?: number;
  readonly viaGate?: boolean;
};

const MAKINGS: Readonly<Record<string, Making>> = {
  tooMuchWork: (draw) => {
    const timeoutMs = draw(20, 90) * SECOND;
    const runsMs = Math.floor(timeoutMs * (1 + draw(2, 20) / 10));
    return {
      cause: 'budgetSpent',
      job: {
        timeoutMs,
        stuckThresholdMs: 10 * timeoutMs,
        workflows: [{ id: 'w', runsMs, progressEveryMs: draw(1, 4) * SECOND }],
      },
    };
  },
  tooMuchWorkInSeveral: (draw) => {
    const timeoutMs = draw(20, 60) * SECOND;
    const work = { runsMs: timeoutMs * 2, progressEveryMs: 2 * SECOND };
    return {
      cause: 'budgetSpent',
      workers: 2,
      job: {
        timeoutMs,
        stuckThresholdMs: 10 * timeoutMs,
        workflows: [
          { id: 'a', ...work },
          { id: 'b', ...work },
        ],
      },
    };
  },
  extendedAndStillTooMuch: (draw) => {
    const timeoutMs = draw(40, 80) * SECOND;
    const byMs = draw(5, 20) * SECOND;
    return {
      cause: 'budgetSpent',
      job: {
        timeoutMs,
        stuckThresholdMs: 20 * timeoutMs,
        workflows: [{ id: 'w', runsMs: timeoutMs * 4, progressEveryMs: 3 * SECOND }],
      },
      steps: [{ atMs: Math.floor(timeoutMs / 2), do: 'extendJob', jobId: JOB, to: 'A', byMs }],
    };
  },
  hangs: (draw) => {
    const stuckThresholdMs = draw(30, 60) * SECOND;
    return {
      cause: 'noProgress',
      job: {
        timeoutMs: stuckThresholdMs * 10,
        stuckThresholdMs,
        workflows: [{ id: 'w', runsMs: null, progressEveryMs: null }],
      },
    };
  },
  hangsAfterAWhile: (draw) => {
    const stuckThresholdMs = draw(30, 60) * SECOND;
    return {
      cause: 'noProgress',
      job: {
        timeoutMs: stuckThresholdMs * 10,
        stuckThresholdMs,
        workflows: [
          {
            id: 'w',
            runsMs: null,
            progressEveryMs: 2 * SECOND,
            stopsProgressAtMs: draw(5, 20) * SECOND,
          },
        ],
      },
    };
  },
  workerDies: (draw) => ({
    cause: 'silentWorker',
    job: {
      timeoutMs: draw(120, 300) * SECOND,
      stuckThresholdMs: 600 * SECOND,
      workflows: [{ id: 'w', runsMs: null, progressEveryMs: 2 * SECOND }],
    },
    steps: [{ atMs: draw(5, 20) * SECOND, do: 'crash', node: 'A.worker-1' }],
  }),
  workerIsCutOff: (draw) => ({
    cause: 'silentWorker',
    job: {
      timeoutMs: draw(120, 300) * SECOND,
      stuckThresholdMs: 600 * SECOND,
      workflows: [{ id: 'w', runsMs: null, progressEveryMs: 2 * SECOND }],
    },
    steps: [
      {
        atMs: draw(5, 20) * SECOND,
        do: 'partition',
        sides: [['A.worker-1'], ['A.manager-1']],
        forMs: null,
      },
    ],
  }),
  workerStandsStill: (draw) => ({
    cause: 'silentWorker',
    job: {
      timeoutMs: draw(600, 900) * SECOND,
      stuckThresholdMs: 60 * SECOND,
      workflows: [{ id: 'w', runsMs: null, progressEveryMs: 2 * SECOND }],
    },
    steps: [{ atMs: draw(5, 20) * SECOND, do: 'pause', node: 'A.worker-1', forMs: 3_600 * SECOND }],
  }),
  noRoom: (draw) => ({
    cause: 'neverStarted',
    cores: 1,
    job: {
      timeoutMs: draw(20, 60) * SECOND,
      stuckThresholdMs: 600 * SECOND,
      workflows: [{ id: 'w', runsMs: 1 * SECOND }],
    },
    steps: [
      {
        atMs: 0,
        do: 'submit',
        job: {
          jobId: 'job-0',
          to: 'A',
          timeoutMs: 3_600 * SECOND,
          stuckThresholdMs: 3_600 * SECOND,
          workflows: [{ id: 'blocks', runsMs: null, progressEveryMs: 2 * SECOND }],
        },
      },
    ],
  }),
  tooMuchWorkOfAGate: (draw) => {
    const timeoutMs = draw(30, 90) * SECOND;
    return {
      cause: 'budgetSpent',
      viaGate: true,
      job: {
        timeoutMs,
        stuckThresholdMs: 10 * timeoutMs,
        workflows: [{ id: 'w', runsMs: timeoutMs * 3, progressEveryMs: 2 * SECOND }],
      },
    };
  },
  hangsOfAGate: (draw) => {
    const stuckThresholdMs = draw(30, 60) * SECOND;
    return {
      cause: 'noProgress',
      viaGate: true,
      job: {
        timeoutMs: stuckThresholdMs * 20,
        stuckThresholdMs,
        workflows: [{ id: 'w', runsMs: null, progressEveryMs: null }],
      },
    };
  },
};

/** Cases in this number: all sorts in turn, each with numbers of its own. */
export function knownCases(count: number): KnownCase[] {
  const makings = Object.entries(MAKINGS);
  return Array.from({ length: count }, (_, index) => {
    const [name, making] = makings[index % makings.length] as [string, Making];
    return caseOf(`${name}-${index}`, making, index + 1);
  });
}

function caseOf(name: string, making: Making, seed: number): KnownCase {
  let state = (seed * 2_654_435_761) >>> 0;
  const draw = (min: number, max: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return min + (state % (max - min + 1));
  };
  const { cause, job, steps = [], workers = 1, cores = 4, viaGate = false } = making(draw);
  const to = viaGate ? 'gate-1' : 'A';
  const submitted: PlannedJob = { jobId: JOB, to, ...job };
  return {
    name,
    cause,
    address: `job/${JOB}@A`,
    plan: {
      version: 1,
      name,
      system: 'jobs',
      seed,
      untilMs: job.timeoutMs * 6 + 120 * SECOND,
      network: { delayMs: [1, 20], loss: 0, duplicate: 0, reorder: 0 },
      topology: { gates: viaGate ? 1 : 0, datacenters: { A: { managers: 1, workers, cores } } },
      config: {},
      steps: [
        ...steps.filter(({ atMs }) => atMs === 0),
        { atMs: 2 * SECOND, do: 'submit', job: submitted },
        ...steps.filter(({ atMs }) => atMs > 0),
      ],
      nemeses: [],
      healAtMs: null,
    },
  };
}
