/**
 * Escapement: a runtime for XState v5 statecharts as durable actors.
 *
 * This is the public entry for embedding. Machines import `escapement/machine`, tests import
 * `escapement/testing` and `escapement/simulator`, whoever watches a node `escapement/telemetry`. The
 * stores and transports are here too; `escapement/stores` and `escapement/transports` have them with
 * their ports alone.
 */

export { createRuntime, type RuntimeOptions } from './create-runtime.ts';
export type { AskOptions } from './runtime/asks.ts';
export type { Cancel, Clock } from './runtime/clock.ts';
export { ERROR_CODES, type ErrorCode, type ErrorShape, RuntimeError } from './runtime/errors.ts';
export type { ActorHandle, ReplyOf, SendOptions, SpawnOptions } from './runtime/handle.ts';
export type { HistoryRow } from './runtime/history.ts';
export type { InspectionFact, InspectionReader, InspectionRecord } from './runtime/inspection.ts';
export type {
  DurablePerformer,
  KindOptions,
  MigratedState,
  Performer,
  PerformerCall,
  StandardSchema,
} from './runtime/kind.ts';
export type { KindEntries, KindEntry, MachinesOf } from './runtime/kind-entry.ts';
export type { Lease, LeaseClaim, LeaseHolder } from './runtime/lease.ts';
export { type LocalLease, localLease } from './runtime/local-lease.ts';
export type { HistogramSnapshot, MetricsSnapshot } from './runtime/metrics.ts';
export { DEFAULT_LIMITS, type Logger, type RuntimeLimits } from './runtime/options.ts';
export type { ActorQuery, ActorRow } from './runtime/query.ts';
export type { Random } from './runtime/random.ts';
export type { UpgradeKind, UpgradeModule } from './runtime/rehearsal-kinds.ts';
export type { AddressOf, KindMap, MachineAt, Runtime } from './runtime/runtime.ts';
export type { WaitingPlace } from './runtime/silence.ts';
export type {
  ActorWrite,
  Group,
  IndexEntry,
  Settle,
  Store,
  StorePage,
  StoreQuery,
} from './runtime/store.ts';
export type { Supervision } from './runtime/supervision.ts';
export { SystemClock, systemClock } from './runtime/system-clock.ts';
export { systemRandom } from './runtime/system-random.ts';
export type { Transport, TransportListener } from './runtime/transport.ts';
export type { Undelivered } from './runtime/undelivered.ts';
export { type DirectoryLeaseOptions, directoryLease } from './stores/directory/lease.ts';
export { type LmdbStoreOptions, lmdbStore } from './stores/lmdb.ts';
export { type MemoryStoreOptions, memoryStore } from './stores/memory.ts';
export { inProcessNetwork } from './transports/in-process.ts';
