/**
 * A plan at another pace: every duration in it divided by the same factor, so that minutes of a
 * scenario are seconds of real processes.
 *
 * Guarantees: the plan that comes back is legal, and means the same but for the pace. Options are
 * not brought below what they may be at least, nor below what a process on a busy machine can keep:
 * there the scaled plan is more patient than the original.
 */

import { JOBS_OPTIONS } from '../../programs/jobs/configuration/options.ts';
import { type JobsConfiguration, resolveConfiguration } from '../../programs/jobs/configuration.ts';
import type {
  Plan,
  PlannedJob,
  PlannedWorkflow,
  Step,
  WorkflowScript,
} from '../../simulator/jobs/plan.ts';

type OptionName = keyof JobsConfiguration;

/** A process that gets no processor for so long has done nothing wrong. */
const PATIENT_MS: Partial<Record<OptionName, number>> = {
  dispatchAckTimeoutMs: 3_000,
  gateDispatchLimitMs: 3_000,
  heartbeatIntervalMs: 150,
  leaseMs: 5_000,
  reportIntervalMs: 150,
  settleLimitMs: 1_000,
};
/** How long ended jobs are kept has nothing to do with how a scenario goes. */
const UNSCALED: ReadonlySet<OptionName> = new Set<OptionName>(['jobRetentionMs']);
const STUCK_LEAST_MS = 1_000;

export function scaledPlan(plan: Plan, factor: number): Plan {
  const scaled: Scaled = (ms, round = Math.round) => Math.max(0, round(ms / factor));
  return {
    ...plan,
    untilMs: plan.untilMs === null ? null : scaled(plan.untilMs),
    healAtMs: plan.healAtMs === null ? null : scaled(plan.healAtMs),
    config: scaledConfig(plan.config, factor),
    steps: plan.steps.map((step) => scaledStep(step, scaled)),
    nemeses: plan.nemeses.map((nemesis) => ({
      ...nemesis,
      atMs: scaled(nemesis.atMs),
      durMs: scaled(nemesis.durMs),
    })),
  };
}

/** All options, whether the plan names them or not: their defaults are scaled as well. */
function scaledConfig(
  given: Partial<JobsConfiguration>,
  factor: number,
): Partial<JobsConfiguration> {
  const scaled: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(resolveConfiguration(given))) {
    const isDuration = name.endsWith('Ms') && typeof value === 'number';
    scaled[name] = isDuration ? scaledOption(name as OptionName, value, factor) : value;
  }
  return resolveConfiguration(scaled as Partial<JobsConfiguration>);
}

function scaledOption(name: OptionName, value: number, factor: number): number {
  const { min = 0 } = JOBS_OPTIONS[name] as { readonly min?: number };
  if (UNSCALED.has(name)) return value;
  const patient = Math.min(value, PATIENT_MS[name] ?? 0);
  return Math.max(min, patient, Math.round(value / factor));
}

type Scaled = (ms: number, round?: (value: number) => number) => number;

function scaledStep(step: Step, scaled: Scaled): Step {
  const atMs = scaled(step.atMs);
  switch (step.do) {
    case 'submit':
      return { ...step, atMs, job: scaledJob(step.job, scaled) };
    case 'extendJob':
      return { ...step, atMs, byMs: Math.max(1, scaled(step.byMs)) };
    case 'pause':
      return { ...step, atMs, forMs: scaled(step.forMs) };
    case 'partition':
      return { ...step, atMs, forMs: step.forMs === null ? null : scaled(step.forMs) };
    default:
      return { ...step, atMs };
  }
}

function scaledJob(job: PlannedJob, scaled: Scaled): PlannedJob {
  const { stuckThresholdMs, allStuckThresholdMs } = job;
  const threshold = (ms: number): number => Math.max(STUCK_LEAST_MS, scaled(ms));
  return {
    ...job,
    timeoutMs: Math.max(1, scaled(job.timeoutMs)),
    ...(stuckThresholdMs !== undefined && { stuckThresholdMs: threshold(stuckThresholdMs) }),
    ...(allStuckThresholdMs !== undefined && {
      allStuckThresholdMs: threshold(allStuckThresholdMs),
    }),
    workflows: job.workflows.map((workflow) => scaledWorkflow(workflow, scaled)),
  };
}

function scaledWorkflow(
  { in: places, ...workflow }: PlannedWorkflow,
  scaled: Scaled,
): PlannedWorkflow {
  const there = Object.entries(places ?? {}).map(
    ([place, script]) => [place, { ...script, ...scaledScript(script, scaled) }] as const,
  );
  return {
    ...workflow,
    ...scaledScript(workflow, scaled),
    ...(places !== undefined && { in: Object.fromEntries(there) }),
  };
}

/**
 * The rhythm of progress is written out: what a handler does without one does not scale. It is rounded
 * down, so that the report at the moment in which progress stops is the last one here as well.
 */
function scaledScript(script: WorkflowScript, scaled: Scaled): WorkflowScript {
  const { runsMs, progressEveryMs = 5_000, stopsProgressAtMs } = script;
  return {
    ...(runsMs !== undefined && { runsMs: runsMs === null ? null : scaled(runsMs) }),
    progressEveryMs:
      progressEveryMs === null ? null : Math.max(1, scaled(progressEveryMs, Math.floor)),
    ...(stopsProgressAtMs !== undefined && { stopsProgressAtMs: scaled(stopsProgressAtMs) }),
  };
}
