/**
 * Door of `jobs/`: runs of the jobs system: plans, scenarios, invariants and reports.
 */

export { Batch, jobsCoverage } from './jobs/batch.ts';
export type { JobsInvariant } from './jobs/facts.ts';
export { JOBS_MENU } from './jobs/faults/menu.ts';
export { jobsInvariants } from './jobs/invariants/index.ts';
export { MARKS } from './jobs/marks.ts';
export { toShownName } from './jobs/names.ts';
export type { Plan, Topology } from './jobs/plan.ts';
export { PLAN_LENGTH_MAX, readPlan } from './jobs/report/plan-file.ts';
export { planLines } from './jobs/report/plan-words.ts';
export { type FailureReport, reportFailure } from './jobs/report/report.ts';
export { play, type Run } from './jobs/run.ts';
export { drawPlan, type SwarmOptions } from './jobs/swarm/draw-plan.ts';
