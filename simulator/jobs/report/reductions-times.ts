/**
 * Reductions of times: the run ends when it has shown what it has to, and times are round numbers.
 */

import type { Violation } from '../../invariants.ts';
import type { Plan, PlannedWorkflow, Step } from '../plan.ts';
import type { Reduction } from './reduction.ts';

/** A shorter run says nothing about why, only that it had not yet happened. */
const SHORTER_RANK = 9;

export const shorterRun: Reduction = {
  rank: SHORTER_RANK,
  *candidates(plan, violation) {
    const untilMs = plan.untilMs ?? Number.POSITIVE_INFINITY;
    for (const lessMs of endsOf(violation))
      if (lessMs < untilMs)
        yield { plan: { ...plan, untilMs: lessMs }, change: `until ${lessMs} ms` };
  },
};

/** As little more is worth another run. */
const WORTH = 0.9;

/** Just after it was seen; what is seen at the end may be seen at an earlier one. */
function endsOf({ atMs, record }: Violation): readonly number[] {
  if (record !== null) return [Math.max(1, Math.floor(atMs) + 1)];
  const shares = [0.125, 0.25, 0.5, 0.75, WORTH].map((share) => Math.ceil(atMs * share));
  // What ended by itself ends in the same way when it is told to.
  return [...shares, Math.ceil(atMs)].filter((ms) => ms > 0);
}

const UNITS_MS = [60_000, 10_000, 1_000, 100, 10];

/** Down to whole minutes, or as far as it goes: all times at once, then one kind of them. */
export const rounderTimes: Reduction = {
  rank: 4,
  *candidates(plan) {
    for (const unitMs of UNITS_MS) {
      const round = (ms: number): number => rounded(ms, unitMs);
      const steps = plan.steps.map((step) => roundedStep(step, round));
      const nemeses = plan.nemeses.map((nemesis) => ({
        ...nemesis,
        atMs: round(nemesis.atMs),
        durMs: Math.max(1, round(nemesis.durMs)),
      }));
      const change = `with times in whole ${unitMs} ms`;
      for (const rounder of [
        { ...plan, steps, nemeses },
        { ...plan, steps },
        { ...plan, nemeses },
      ])
        if (isOther(plan, rounder)) yield { plan: rounder, change };
    }
  },
};

/** One after the other, where all at once is too much. */
export const rounderMoments: Reduction = {
  rank: 4,
  *candidates(plan) {
    for (const unitMs of UNITS_MS) {
      for (const [index, nemesis] of plan.nemeses.entries()) {
        const atMs = rounded(nemesis.atMs, unitMs);
        if (atMs === nemesis.atMs) continue;
        const nemeses = plan.nemeses.with(index, { ...nemesis, atMs });
        yield { plan: { ...plan, nemeses }, change: `with ${nemesis.id} at ${atMs} ms` };
      }
      for (const [index, step] of plan.steps.entries()) {
        const rounder = roundedStep(step, (ms) => rounded(ms, unitMs));
        const steps = plan.steps.with(index, rounder);
        if (isOther(plan, { ...plan, steps }))
          yield { plan: { ...plan, steps }, change: `with ${step.do} in whole ${unitMs} ms` };
      }
    }
  },
};

/** Never up, and never to nothing what was something. */
function rounded(ms: number, unitMs: number): number {
  const less = Math.floor(ms / unitMs) * unitMs;
  return less === 0 ? ms : less;
}

function roundedStep(step: Step, round: (ms: number) => number): Step {
  const atMs = round(step.atMs);
  if (step.do !== 'submit') return { ...step, atMs };
  const workflows = step.job.workflows.map((workflow) => roundedWorkflow(workflow, round));
  return { ...step, atMs, job: { ...step.job, timeoutMs: round(step.job.timeoutMs), workflows } };
}

function roundedWorkflow(
  workflow: PlannedWorkflow,
  round: (ms: number) => number,
): PlannedWorkflow {
  const { runsMs } = workflow;
  return typeof runsMs === 'number' ? { ...workflow, runsMs: round(runsMs) } : workflow;
}

function isOther(plan: Plan, other: Plan): boolean {
  return JSON.stringify(plan) !== JSON.stringify(other);
}
