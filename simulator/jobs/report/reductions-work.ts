/**
 * Reductions of what the cluster is asked to do: fewer jobs, fewer steps, fewer and simpler workflows.
 */

import { namesOf, withoutParts } from '../../simulation.ts';
import type { Plan, PlannedJob, PlannedWorkflow, Step } from '../plan.ts';
import { jobOf, pruned } from './pruned.ts';
import type { Reduction } from './reduction.ts';

/** A job goes with all that concerns it. */
export const fewerJobs: Reduction = {
  rank: 2,
  *candidates(plan) {
    const jobs = [...new Set(plan.steps.flatMap((step) => jobOf(step) ?? []))];
    for (const { left, out } of withoutParts(jobs)) {
      const isLeft = (step: Step): boolean => {
        const job = jobOf(step);
        return job === undefined || left.includes(job);
      };
      const steps = plan.steps.filter(isLeft);
      yield { plan: pruned({ ...plan, steps }), change: `without ${namesOf(out, 'jobs')}` };
    }
  },
};

export const fewerSteps: Reduction = {
  rank: 1,
  *candidates(plan) {
    const removable = plan.steps.filter((step) => step.do !== 'submit');
    const submits = plan.steps.filter((step, index) => isRepeated(step, index, plan.steps));
    for (const { out } of withoutParts([...removable, ...submits])) {
      const names = out.map((step) => `${step.do} at ${step.atMs} ms`);
      const steps = plan.steps.filter((step) => !out.includes(step));
      yield { plan: { ...plan, steps }, change: `without ${namesOf(names, 'steps')}` };
    }
  },
};

/** A submission of a job that was submitted before. */
function isRepeated(step: Step, index: number, steps: readonly Step[]): boolean {
  if (step.do !== 'submit') return false;
  const { jobId } = step.job;
  return steps.slice(0, index).some((one) => one.do === 'submit' && one.job.jobId === jobId);
}

export const fewerWorkflows: Reduction = {
  rank: 3,
  *candidates(plan) {
    for (const job of jobsOf(plan))
      for (const { left, out } of withoutParts(job.workflows)) {
        if (left.length === 0) continue;
        const ids = out.map(({ id }) => id);
        const workflows = left.map((workflow) => withoutDependencies(workflow, ids));
        yield {
          plan: withJob(plan, job, { ...job, workflows }),
          change: `without ${namesOf(
            ids.map((id) => `${job.jobId}/${id}`),
            `workflows of ${job.jobId}`,
          )}`,
        };
      }
  },
};

/** What makes a job or a workflow other than the usual, beside what it cannot do without. */
const JOB_TERMS = [
  'datacenters',
  'failFast',
  'stuckThresholdMs',
  'allStuckThresholdMs',
  'datacenterTimeoutQuorum',
  'malformed',
] as const;
const WORKFLOW_TERMS = [
  'dependsOn',
  'cores',
  'onWorker',
  'in',
  'progressEveryMs',
  'stopsProgressAtMs',
  'secondReportAfterMs',
  'failsTimes',
  'completesItems',
  'ignoresCancel',
  'rejects',
] as const;

export const plainerJobs: Reduction = {
  rank: 4,
  *candidates(plan) {
    for (const job of jobsOf(plan)) {
      for (const term of JOB_TERMS) {
        const { [term]: value, ...plainer } = job;
        if (value !== undefined)
          yield {
            plan: withJob(plan, job, plainer as PlannedJob),
            change: `with ${job.jobId} without ${term}`,
          };
      }
      for (const workflow of job.workflows)
        for (const term of WORKFLOW_TERMS) {
          const { [term]: value, ...plainer } = workflow;
          if (value === undefined) continue;
          const workflows = job.workflows.map((one) =>
            one === workflow ? (plainer as PlannedWorkflow) : one,
          );
          yield {
            plan: withJob(plan, job, { ...job, workflows }),
            change: `with ${job.jobId}/${workflow.id} without ${term}`,
          };
        }
    }
  },
};

function jobsOf({ steps }: Plan): readonly PlannedJob[] {
  return steps.flatMap((step) => (step.do === 'submit' ? [step.job] : []));
}

function withJob(plan: Plan, job: PlannedJob, instead: PlannedJob): Plan {
  const steps = plan.steps.map((step) =>
    step.do === 'submit' && step.job === job ? { ...step, job: instead } : step,
  );
  return { ...plan, steps };
}

function withoutDependencies(workflow: PlannedWorkflow, ids: readonly string[]): PlannedWorkflow {
  const { dependsOn, ...rest } = workflow;
  const left = dependsOn?.filter((id) => !ids.includes(id)) ?? [];
  return left.length > 0 ? { ...rest, dependsOn: left } : rest;
}
