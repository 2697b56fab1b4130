/**
 * `escapement/simulator`: whole clusters of anybody's own machines, in virtual time, under faults, from
 * one seed.
 *
 * `simulate` plays a workload on many seeds and reports what broke, with as little of the run as
 * breaks it still. For a single runtime in a unit test see `escapement/testing`.
 */

export type { Nemesis } from './faults/nemesis.ts';
export type { HistoryRecord } from './history/history.ts';
export type { Judgement, RunFacts, Violation, Watcher } from './invariants/invariant.ts';
export type { Plan } from './jobs/plan.ts';
export { play, type Run } from './jobs/run.ts';
export type { SimulatedNode } from './simulation/cluster.ts';
export type { Failure } from './simulation/failure.ts';
export {
  type ActorView,
  invariant,
  type OwnInvariant,
  type RunView,
} from './simulation/own-invariant.ts';
export type { SimulationPlan } from './simulation/plan.ts';
export type { SimulationReport } from './simulation/report.ts';
export { NEMESES, type SimulateOptions, simulate } from './simulation/simulate.ts';
export type { Workload } from './simulation/workload.ts';
export type { Chance } from './world/chance.ts';
