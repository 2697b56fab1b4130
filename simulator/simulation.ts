/**
 * Door of `simulation/`: runs of anybody's own machines: played, counted, shrunk and reported.
 */

export {
  type Bounds,
  checkBounds,
  disksIn,
  limitsIn,
  withinBounds,
} from './simulation/bounds.ts';
export type { SimulatedNode } from './simulation/cluster.ts';
export { Coverage, type KeptCharts, type Seen } from './simulation/coverage.ts';
export type { Failure } from './simulation/failure.ts';
export { FaultCounts } from './simulation/fault-counts.ts';
export {
  type ActorView,
  invariant,
  type OwnInvariant,
  type RunView,
} from './simulation/own-invariant.ts';
export { namesOf, withoutParts } from './simulation/parts.ts';
export type { SimulationPlan } from './simulation/plan.ts';
export { SimulationReport } from './simulation/report.ts';
export { NEMESES, type SimulateOptions, simulate } from './simulation/simulate.ts';
export {
  type FaultFigures,
  type RunFigures,
  Tally,
  type TallyFigures,
} from './simulation/tally.ts';
export type { Workload } from './simulation/workload.ts';
