/**
 * Hosting of this node's place: from asking for the lease to being sure of the fence.
 *
 * Guarantees: nothing of the place is read before the lease is ours and the store is open, and
 * nothing is written before the fence of this holding is raised in the store. A node that peers
 * know to be outranked acts again only under a greater fence, and only when nobody else hosts.
 */

import { messageOf, RuntimeError } from '../base/errors.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { Lease, LeaseClaim } from '../ports/lease.ts';
import type { Store } from '../ports/store.ts';
import type { Shard } from './shard.ts';

export interface HostingServices {
  readonly node: string;
  readonly place: string;
  readonly clock: Clock;
  readonly lease: Lease;
  readonly limits: RuntimeLimits;
  readonly logger: Logger;
  readonly shard: Shard;
  readonly store: Store;
}

export interface HostingListener {
  /** The place is hosted here. */
  began(fence: number): void;
  /**
   * The place is not hosted here any more: what was uncommitted is dropped, and the lease is asked for
   * again.
   */
  ended(fence: number): void;
  /** The place is not hosted here under this fence: peers are asked whether somebody else hosts it. */
  contests(fence: number): void;
  /** The store cannot be used, or nobody knows what is in it. `isStarting` when `start` will tell. */
  failed(failure: Error, isStarting: boolean): void;
}

export class Hosting {
  readonly #services: HostingServices;
  readonly #listener: HostingListener;
  #claim: LeaseClaim | undefined;
  #isEnding = false;
  /** A peer said so since we asked last. */
  #isHostedElsewhere = false;
  #refusal: Error | undefined;
  /** Set while `start` waits to hear whether the place is hosted here. */
  #settled: ((failure?: Error) => void) | undefined;

  constructor(services: HostingServices, listener: HostingListener) {
    this.#services = services;
    this.#listener = listener;
  }

  /** Resolves when the place is hosted here, or somebody else holds the lease. */
  async start(): Promise<void> {
    if (this.#isEnding) return;
    await new Promise<void>((resolve, reject) => {
      this.#settled = (failure) => (failure === undefined ? resolve() : reject(failure));
      this.#hold();
    });
    this.#settled = undefined;
  }

  end(): void {
    this.#isEnding = true;
    this.#settled?.();
    this.#claim?.release();
  }

  /**
   * Reason why the store refuses what is committed here; nothing once a commit has succeeded, or somebody
   * else hosts.
   */
  get refusal(): Error | undefined {
    return this.#refusal;
  }

  committed(): void {
    if (this.#refusal === undefined) return;
    this.#refusal = undefined;
    const { node, place, logger } = this.#services;
    logger.info({ event: 'node.committing', node, place }, 'the store takes commits again');
  }

  /** A commit was refused: not the moment to wait for hosting any longer. */
  refused(refusal: Error): void {
    this.#refuse(refusal);
    this.#settled?.();
  }

  #refuse(refusal: Error): void {
    const isNew = this.#refusal === undefined;
    this.#refusal = refusal;
    if (!isNew) return;
    const { node, place, logger } = this.#services;
    const fields = { event: 'node.refusing', node, place, reason: messageOf(refusal) };
    logger.error(fields, 'the store refuses what is committed');
  }

  /** The store or the lease says that this node does not host the place any more. */
  deposed(refusal: Error): void {
    const { shard } = this.#services;
    if (this.#isEnding || !(shard.isHosting || shard.isOpening)) return;
    this.#stepDown(messageOf(refusal));
    // The lease says we hold the place and the store says we do not: the store is right.
    if ((refusal as Partial<RuntimeError>).code !== 'FENCE_STALE') return;
    this.#refuse(refusal);
    this.#holdLater();
  }

  /**
   * A peer knows a greater fence of our place, as after the restoring of an old copy of the store.
   * While it also knows who hosts the place, we stay down and ask again; then we go on above it.
   */
  outranked(known: number, isHosted: boolean): void {
    const { shard } = this.#services;
    if (this.#isEnding) return;
    if (isHosted) this.#isHostedElsewhere = true;
    if (!shard.isHosting || known <= shard.fence) return;
    const { fence } = shard;
    this.#stepDown(`A peer knows fence ${known}.`);
    this.#beginAbove(fence, known);
  }

  #beginAbove(fence: number, known: number): void {
    const { clock, limits } = this.#services;
    const claim = this.#claim as LeaseClaim;
    if (this.#isEnding || !claim.isHeld()) return;
    if (!this.#isHostedElsewhere) {
      this.#begin(claim, known).catch((thrown: Error) => this.failed(thrown));
      return;
    }
    this.#isHostedElsewhere = false;
    this.#listener.contests(fence);
    clock.schedule(clock.now() + limits.retryMaxMs, () => this.#beginAbove(fence, known));
  }

  failed(failure: Error): void {
    if (this.#isEnding) return;
    const { node, place, logger } = this.#services;
    logger.error({ node, place, error: messageOf(failure) }, 'the store has failed');
    const tell = this.#settled;
    this.#settled = undefined;
    this.#listener.failed(failure, tell !== undefined);
    tell?.(failure);
  }

  #hold(): void {
    const { lease, place } = this.#services;
    this.#claim = lease.hold(place, {
      acquired: (fence) => {
        const claim = this.#claim as LeaseClaim;
        this.#begin(claim, fence - 1).catch((thrown: Error) => this.failed(thrown));
      },
      standsBy: () => {
        this.#refusal = undefined;
        this.#settled?.();
      },
      lost: () => this.deposed(new RuntimeError('NOT_HOSTED', `The lease of "${place}" was lost.`)),
    });
  }

  /** Asks again after a pause, behind all that wait. */
  #holdLater(): void {
    const { clock, limits } = this.#services;
    this.#claim?.release();
    clock.schedule(clock.now() + limits.retryMaxMs, () => {
      if (!this.#isEnding) this.#hold();
    });
  }

  /** The lease is ours: opens what the holder before us left, and hosts under a fence above all that are known. */
  async #begin(claim: LeaseClaim, known: number): Promise<void> {
    const { place, store, shard, logger, node } = this.#services;
    const isHeld = () => !this.#isEnding && this.#claim === claim && claim.isHeld();
    await store.open(place);
    if (!isHeld()) return;
    for (const [address, reason] of store.damaged())
      logger.error({ node, address, reason }, 'a record is damaged; its actor is left alone');
    // Somebody hosted the place before, and nothing of it is here: that may be meant, and is never usual.
    if (known > 0 && store.fence(place) === 0)
      logger.warn({ node, place, known }, 'the place was hosted before, and its store is empty');
    const fence = await claim.raise(Math.max(known, store.fence(place)) + 1);
    if (!isHeld()) return;
    shard.open(fence, isHeld, () => {
      logger.info({ node, place, fence }, 'hosting');
      this.#listener.began(fence);
      this.#settled?.();
    });
  }

  #stepDown(reason: string): void {
    const { shard, node, place, logger } = this.#services;
    const { fence } = shard;
    this.#settled?.();
    logger.warn({ node, place, fence, reason }, 'no longer hosting');
    shard.close();
    this.#listener.ended(fence);
  }
}
