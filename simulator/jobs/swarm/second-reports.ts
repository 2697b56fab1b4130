/**
 * Some workflows report twice within the pause that a worker keeps between two reports: what they have
 * said last is then what it holds back, and has to arrive all the same.
 */

import type { Chance } from '../../world.ts';
import type { Step } from '../plan.ts';

const PROBABILITY = 0.25;
/** The pause that a worker keeps. */
const PAUSE_MS = 1_000;

export function withSecondReports(chance: Chance, steps: readonly Step[]): readonly Step[] {
  const drawn = new Map<string, number | undefined>();
  // A job that is submitted again is the same job.
  const afterMs = (own: string): number | undefined => {
    if (!drawn.has(own)) {
      const isTwice = chance.is(PROBABILITY);
      const pauseMs = Math.round(chance.scaled(1, PAUSE_MS));
      drawn.set(own, isTwice ? pauseMs : undefined);
    }
    return drawn.get(own);
  };
  return steps.map((step) => {
    if (step.do !== 'submit') return step;
    const workflows = step.job.workflows.map((workflow) => {
      const secondReportAfterMs = afterMs(`${step.job.jobId}/${workflow.id}`);
      return secondReportAfterMs === undefined ? workflow : { ...workflow, secondReportAfterMs };
    });
    return { ...step, job: { ...step.job, workflows } };
  });
}
