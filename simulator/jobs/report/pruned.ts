/**
 * A plan without everything in it that speaks of what is not there: nodes, datacenters, gates, jobs.
 *
 * Guarantees: what is left names only what its topology and its submissions have. A nemesis that had
 * targets and has lost them all is gone, and so is a job that has no datacenter left.
 */

import type { Nemesis } from '../../faults.ts';
import type { NodeSet, Plan, PlannedJob, PlannedWorkflow, Step } from '../plan.ts';
import { There } from './there.ts';

export function pruned(plan: Plan): Plan {
  const there = new There(plan);
  const jobs = new Set<string>();
  const steps: Step[] = [];
  for (const step of plan.steps) {
    if (step.do !== 'submit') {
      steps.push(step);
      continue;
    }
    const job = prunedJob(step.job, there);
    if (job === undefined) continue;
    jobs.add(job.jobId);
    steps.push(job === step.job ? step : { ...step, job });
  }
  return {
    ...plan,
    steps: steps.flatMap((step) => prunedStep(step, there, jobs) ?? []),
    nemeses: plan.nemeses.flatMap((nemesis) => prunedNemesis(nemesis, there, jobs) ?? []),
  };
}

/** The job that a step is about; undefined for what is done to the cluster. */
export function jobOf(step: Step): string | undefined {
  if (step.do === 'submit') return step.job.jobId;
  if (step.do === 'inject') return String(step.message.jobId);
  return 'jobId' in step ? step.jobId : undefined;
}

function prunedJob(job: PlannedJob, there: There): PlannedJob | undefined {
  if (!there.hasPlace(job.to)) return undefined;
  const datacenters = job.datacenters?.filter((name) => there.hasPlace(name));
  if (datacenters?.length === 0 && job.datacenters?.length !== 0) return undefined;
  const workflows = job.workflows.map((workflow) => prunedWorkflow(workflow, there));
  return { ...job, ...(datacenters !== undefined && { datacenters }), workflows };
}

function prunedWorkflow(workflow: PlannedWorkflow, there: There): PlannedWorkflow {
  const { onWorker, in: places, ...rest } = workflow;
  const kept = prunedPin(onWorker, there);
  const scripts = Object.entries(places ?? {}).filter(([name]) => there.hasPlace(name));
  return {
    ...rest,
    ...(kept !== undefined && { onWorker: kept }),
    ...(scripts.length > 0 && { in: Object.fromEntries(scripts) }),
  };
}

function prunedPin(
  onWorker: PlannedWorkflow['onWorker'],
  there: There,
): PlannedWorkflow['onWorker'] {
  if (onWorker === undefined) return undefined;
  if (typeof onWorker === 'string') return there.hasNode(onWorker) ? onWorker : undefined;
  const kept = Object.entries(onWorker).filter(([, worker]) => there.hasNode(worker));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function prunedStep(step: Step, there: There, jobs: ReadonlySet<string>): Step | undefined {
  if ('to' in step && !there.hasPlace(step.to)) return undefined;
  if ('node' in step && !there.hasNode(step.node)) return undefined;
  switch (step.do) {
    case 'cancel':
    case 'get':
    case 'extendJob':
      return jobs.has(step.jobId) ? step : undefined;
    case 'ask':
      return 'jobId' in step.question && !jobs.has(step.question.jobId) ? undefined : step;
    case 'extend':
      return there.hasNode(step.worker) ? step : undefined;
    case 'lead':
      return there.hasNode(step.manager) ? step : undefined;
    case 'partition': {
      const sides = step.sides.map((side) => there.nodes(side)).filter((side) => side.length > 0);
      return sides.length > 1 ? { ...step, sides } : undefined;
    }
    case 'link': {
      const [one, other] = step.between.map((side) => there.nodes(side)) as [NodeSet, NodeSet];
      return one.length > 0 && other.length > 0 ? { ...step, between: [one, other] } : undefined;
    }
    default:
      return step;
  }
}

function prunedNemesis(
  nemesis: Nemesis,
  there: There,
  jobs: ReadonlySet<string>,
): Nemesis | undefined {
  const { targets } = nemesis;
  const kept = targets.filter((name) => there.hasNode(name) || jobs.has(name));
  if (kept.length === targets.length) return nemesis;
  return kept.length > 0 ? { ...nemesis, targets: kept } : undefined;
}
