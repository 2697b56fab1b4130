/**
 * Entry `escapement/stores`: stores of records, the leases and locks that say who may write them,
 * and the interfaces for adapters of one's own.
 *
 * This is a public entry. Importing it opens nothing, and loads the LMDB binding only when a
 * store in a directory is opened. Errors are `RuntimeError` of `escapement`.
 */

export type { Lease, LeaseClaim, LeaseHolder } from '../runtime/ports/lease.ts';
export type { LeaseStore } from '../runtime/ports/lease-store.ts';
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
} from '../runtime/ports/store.ts';
export { type DirectoryLeaseOptions, directoryLease } from './directory/lease.ts';
export { type MemoryLeaseStore, memoryLeaseStore } from './lease-store.ts';
export { type LmdbStoreOptions, lmdbStore } from './lmdb.ts';
export { type MemoryStoreOptions, memoryStore } from './memory.ts';
