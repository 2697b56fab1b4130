/**
 * Runs: what map-reduce runs and runs of agents share.
 *
 * Door of the folder. `openHost` opens a runtime on a directory of runs, `StoredActors` reads what is on record
 * there, `MetricFamilies` counts for Prometheus, and files of a run are written so that they outlive a crash.
 */

export {
  readGiven,
  replaceDurably,
  syncDirectoryOf,
  writeDurably,
  writeOnce,
} from './runs/files.ts';
export { type HostParts, openHost } from './runs/host.ts';
export { MetricFamilies } from './runs/metric-families.ts';
export {
  openStored,
  type StoredActor,
  StoredActors,
  type StoreReader,
} from './runs/stored-actors.ts';
