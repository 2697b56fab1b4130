/**
 * Lease store: it keeps the holders of leases, for nodes that elect one among themselves.
 *
 * Guarantees of every lease store: the fence of a lease rises with each holder it had, and is
 * durable before it is told; nobody acquires a lease before the one before it was released or has
 * run out by the store's own clock. Its calls settle: a store that cannot be reached rejects.
 */

export interface LeaseStore {
  /** A fence greater than any before if the lease was free or has run out, otherwise nothing. */
  acquire(name: string, holder: string, leaseMs: number): Promise<number | undefined>;
  /** Begins `leaseMs` again. False when the lease is not the holder's under that fence any more. */
  renew(name: string, holder: string, fence: number, leaseMs: number): Promise<boolean>;
  /** Frees the lease; nothing when it is not the holder's. */
  release(name: string, holder: string, fence: number): Promise<void>;
  /**
   * Raises the fence to at least so much, and resolves with what it is then; with nothing when the
   * lease is not the holder's. How long it holds is left as it was.
   */
  raise(name: string, holder: string, fence: number, atLeast: number): Promise<number | undefined>;
  /**
   * Calls `changed`, never inside another call of the lease store, when the lease was freed or taken away
   * before its time, until the returned function is called. A lease store without it is asked in turns.
   */
  watch?(name: string, changed: () => void): () => void;
}
