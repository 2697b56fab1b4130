/**
 * Lease of a shard: the right to host it now.
 *
 * Guarantees of every lease: at most one holder at a time as far as the adapter can see, and a
 * fence that is strictly greater at each acquisition than at any one before, of any holder. Safety
 * never rests on the lease: the store and every receiver check the fence. The lease only says who
 * should try.
 */

export interface Lease {
  /**
   * Asks for the lease called `name` and keeps asking: `acquired` is called, never
   * inside this call, each time it becomes ours, `lost` each time it stops being ours.
   */
  hold(name: string, holder: LeaseHolder): LeaseClaim;
}

export interface LeaseHolder {
  acquired(fence: number): void;
  /** Somebody else has it, and we wait; called at most once, before anything else. */
  standsBy(): void;
  lost(): void;
}

export interface LeaseClaim {
  /** True while the lease is ours. Cheap: the runtime asks before every batch of turns. */
  isHeld(): boolean;
  /**
   * Raises the fence of a lease that is ours to at least so much, for a holder that has learnt of
   * a greater one; later holders get greater ones still. Resolves with the fence that is ours then.
   */
  raise(fence: number): Promise<number>;
  /** Gives the lease up, or stops waiting for it. `lost` is not called. Idempotent. */
  release(): void;
}
