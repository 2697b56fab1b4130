/**
 * `escapement/simulator`: whole clusters of anybody's own machines, in virtual time, under faults, from
 * one seed.
 *
 * `simulate` plays a workload on many seeds and reports what broke, with as little of the run as
 * breaks it still. For a single runtime in a unit test see `escapement/testing`.
 */

export type { Nemesis } from './faults.ts';
export type { HistoryRecord } from './history.ts';
export type { Judgement, RunFacts, Violation, Watcher } from './invariants.ts';
export { type Plan, play, type Run } from './jobs.ts';
export {
  type ActorView,
  type Failure,
  invariant,
  NEMESES,
  type OwnInvariant,
  type RunView,
  type SimulatedNode,
  type SimulateOptions,
  type SimulationPlan,
  type SimulationReport,
  simulate,
  type Workload,
} from './simulation.ts';
export type { Chance } from './world.ts';
