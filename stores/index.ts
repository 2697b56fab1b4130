/**
 * `escapement/stores`: where records live, who may write them, and what an adapter of one's own
 * has to implement.
 *
 * This is a public entry. Importing it opens nothing, and loads the LMDB binding only when a
 * store in a directory is opened. Errors are `RuntimeError` of `escapement`.
 */

export type { Lease, LeaseClaim, LeaseHolder } from '../runtime/lease.ts';
export type { LeaseBoard } from '../runtime/lease-board.ts';
export type {
  ActorWrite,
  Group,
  IndexEntry,
  Settle,
  Store,
  StorePage,
  StoreQuery,
} from '../runtime/store.ts';
export { type DirectoryLeaseOptions, directoryLease } from './directory/lease.ts';
export { type MemoryLeaseBoard, memoryLeaseBoard } from './lease-board.ts';
export { type LmdbStoreOptions, lmdbStore } from './lmdb.ts';
export { type MemoryStoreOptions, memoryStore } from './memory.ts';
