/**
 * Escapement: a runtime for XState v5 statecharts as durable actors.
 *
 * This is the public entry for embedding. Machines import `escapement/machine`, tests import
 * `escapement/testing` and `escapement/simulator`, monitoring is in `escapement/telemetry`. The
 * stores, and the transport within one process, are here too; `escapement/stores` and
 * `escapement/transports` have all of them with their ports, and sockets.
 */

export { createRuntime, type RuntimeOptions } from './create-runtime.ts';
export type {
  DurablePerformer,
  HistoryRow,
  KindEntries,
  KindEntry,
  KindOptions,
  MachinesOf,
  MigratedState,
  Performer,
  PerformerCall,
  StandardSchema,
  Supervision,
  Undelivered,
} from './runtime/actor.ts';
export type {
  ActorHandle,
  ActorPage,
  ActorQuery,
  ActorRow,
  ReplyOf,
  SendOptions,
  SpawnOptions,
  WaitingFor,
} from './runtime/api.ts';
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorShape,
  RuntimeError,
} from './runtime/base/errors.ts';
export type { HistogramSnapshot } from './runtime/base/histogram.ts';
export type {
  InspectionFact,
  InspectionReader,
  InspectionRecord,
} from './runtime/base/inspection.ts';
export { DEFAULT_LIMITS, type Logger, type RuntimeLimits } from './runtime/base/limits.ts';
export type { MetricsSnapshot } from './runtime/base/metrics.ts';
export type { AskOptions, WaitingPlace } from './runtime/delivery.ts';
export type { Cancel, Clock } from './runtime/ports/clock.ts';
export type { Lease, LeaseClaim, LeaseHolder } from './runtime/ports/lease.ts';
export type { Random } from './runtime/ports/random.ts';
export type {
  ActorWrite,
  Group,
  IndexEntry,
  RowChanges,
  Settle,
  Store,
  StoredRow,
  StorePage,
  StoreQuery,
} from './runtime/ports/store.ts';
export type { Transport, TransportListener } from './runtime/ports/transport.ts';
export type { UpgradeKind, UpgradeModule } from './runtime/rehearsal.ts';
export type { AddressOf, KindMap, MachineAt, Runtime } from './runtime/runtime.ts';
export { SystemClock, systemClock } from './runtime/system/clock.ts';
export { type LocalLease, localLease } from './runtime/system/local-lease.ts';
export { systemRandom } from './runtime/system/random.ts';
export { type DirectoryLeaseOptions, directoryLease } from './stores/directory/lease.ts';
export { type LmdbStoreOptions, lmdbStore } from './stores/lmdb.ts';
export { type MemoryStoreOptions, memoryStore } from './stores/memory.ts';
export { inProcessNetwork } from './transports/in-process.ts';
