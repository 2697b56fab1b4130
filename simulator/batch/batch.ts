/**
 * A batch: the plans of many seeds, one after the other.
 *
 * What it is asked and what it answers is plain data, so that several processes can share
 * the seeds of a batch.
 */

import type { AnyStateMachine } from 'xstate';
import { attemptMachine } from '../../machines/jobs/attempt.ts';
import { deskMachine } from '../../machines/jobs/desk.ts';
import { gateJobMachine } from '../../machines/jobs/gate-job.ts';
import { jobMachine } from '../../machines/jobs/job.ts';
import { submissionPageMachine } from '../../machines/jobs/submission-page.ts';
import { workerMachine } from '../../machines/jobs/worker.ts';
import { workerHealthMachine } from '../../machines/jobs/worker-health.ts';
import { workerPoolMachine } from '../../machines/jobs/worker-pool.ts';
import { workflowMachine } from '../../machines/jobs/workflow.ts';
import { drawPlan, type SwarmOptions } from '../swarm/draw-plan.ts';
import { Coverage, type Seen } from './coverage.ts';
import { runPlan } from './run-plan.ts';
import type { RunFigures } from './tally.ts';

/** The machines of the jobs system, by the kind under which its programs register them. */
const MACHINES: Readonly<Record<string, AnyStateMachine>> = {
  attempt: attemptMachine,
  desk: deskMachine,
  'gate-job': gateJobMachine,
  job: jobMachine,
  'submission-page': submissionPageMachine,
  worker: workerMachine,
  'worker-health': workerHealthMachine,
  'worker-pool': workerPoolMachine,
  workflow: workflowMachine,
};

export class Batch {
  readonly #options: SwarmOptions;
  readonly #coverage = new Coverage(MACHINES);

  constructor(options: SwarmOptions = {}) {
    this.#options = options;
  }

  async run(seed: number): Promise<RunFigures> {
    const [figures] = await runPlan(drawPlan(seed, this.#options), { coverage: this.#coverage });
    return figures;
  }

  /** What its runs have seen of the machines for the first time since this was last asked. */
  news(): Seen {
    return this.#coverage.news();
  }
}

/** For adding up what several batches have seen. */
export function jobsCoverage(): Coverage {
  return new Coverage(MACHINES);
}
