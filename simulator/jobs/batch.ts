/**
 * A batch: the plans of many seeds, one after the other.
 *
 * What it is asked and what it answers is plain data, so that several processes can share
 * the seeds of a batch.
 */

import type { AnyStateMachine } from 'xstate';
import { attemptMachine } from '../../machines/jobs/attempt.ts';
import { datacenterMachine } from '../../machines/jobs/datacenter.ts';
import { type GateJobContext, gateJobMachine } from '../../machines/jobs/gate-job.ts';
import { jobMachine } from '../../machines/jobs/job.ts';
import { jobsServiceMachine } from '../../machines/jobs/jobs-service.ts';
import { submissionPartMachine } from '../../machines/jobs/submission-part.ts';
import { workerMachine } from '../../machines/jobs/worker.ts';
import { workerHealthMachine } from '../../machines/jobs/worker-health.ts';
import { workerPoolMachine } from '../../machines/jobs/worker-pool.ts';
import { workflowMachine } from '../../machines/jobs/workflow.ts';
import { Coverage, type KeptCharts, type RunFigures, type Seen } from '../simulation.ts';
import { runPlan } from './run-plan.ts';
import { drawPlan, type SwarmOptions } from './swarm/draw-plan.ts';

/** The machines of the jobs system, by the kind under which its programs register them. */
const MACHINES: Readonly<Record<string, AnyStateMachine>> = {
  attempt: attemptMachine,
  desk: jobsServiceMachine,
  'gate-job': gateJobMachine,
  job: jobMachine,
  'submission-page': submissionPartMachine,
  worker: workerMachine,
  'worker-health': workerHealthMachine,
  'worker-pool': workerPoolMachine,
  workflow: workflowMachine,
};

/** Each datacenter has a chart in the record of a gate's job. */
const KEPT: Readonly<Record<string, KeptCharts>> = {
  'gate-job': {
    name: 'datacenter',
    machine: datacenterMachine,
    statesIn: ({ datacenters }: GateJobContext) =>
      Object.fromEntries(
        Object.entries(datacenters).map(([name, { run, decision, contact }]) => [
          name,
          JSON.stringify({ run, decision, contact }),
        ]),
      ),
    takerOf: (event) => (event as { readonly datacenter?: unknown }).datacenter,
  },
};

export class Batch {
  readonly #options: SwarmOptions;
  readonly #coverage = jobsCoverage();

  constructor(options: SwarmOptions = {}) {
    this.#options = options;
  }

  run(seed: number): Promise<RunFigures> {
    return runPlan(drawPlan(seed, this.#options), this.#coverage);
  }

  /** What its runs have seen of the machines for the first time since this was last asked. */
  news(): Seen {
    return this.#coverage.news();
  }
}

/** For adding up what several batches have seen. */
export function jobsCoverage(): Coverage {
  return new Coverage(MACHINES, KEPT);
}
