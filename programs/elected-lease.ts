/**
 * Elected lease: nodes elect its holder among themselves, over a lease store that all of them reach.
 *
 * Each claim is an actor `leadership/<name>@<node>` in a small runtime of its own, in memory: it
 * decides, and this file asks the lease store and tells the program that wants to lead. Guarantees, besides
 * those of every lease: a holder stops `leaseMarginMs` before the lease store can give the lease to
 * another, whether or not it reaches the lease store, and a process that was paused holds nothing when
 * it wakes. A holder that gives the lease up is followed at once where the lease store tells of
 * it, otherwise within a renewal's pause.
 */

import { createRuntime } from '../create-runtime.ts';
import { type LeadershipEvent, leadershipMachine } from '../machines/leadership.ts';
import type { LeaseRules } from '../machines/lease-rules.ts';
import type { Performer } from '../runtime/actor.ts';
import { messageOf } from '../runtime/base/errors.ts';
import { checkFence } from '../runtime/base/fence.ts';
import type { InspectionReader } from '../runtime/base/inspection.ts';
import { type Logger, SILENT_LOGGER } from '../runtime/base/limits.ts';
import type { Sent } from '../runtime/machine.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { Lease, LeaseClaim, LeaseHolder } from '../runtime/ports/lease.ts';
import type { LeaseStore } from '../runtime/ports/lease-store.ts';
import type { Random } from '../runtime/ports/random.ts';
import type { Runtime } from '../runtime/runtime.ts';

export interface ElectedLeaseOptions {
  /** Name of this node among those who stand for election. */
  readonly node: string;
  readonly leaseStore: LeaseStore;
  readonly rules: LeaseRules;
  readonly clock: Clock;
  readonly random: Random;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Reads the inspection stream of the runtime in which it hosts its actor. */
  readonly inspect?: InspectionReader;
}

export function electedLease(options: ElectedLeaseOptions): Lease {
  return {
    hold(name, holder) {
      const claim = new ElectedClaim(name, holder, options);
      claim.begin();
      return claim;
    },
  };
}

/** The last moment of a lease that is not ours. */
const NEVER = Number.NEGATIVE_INFINITY;

type Kinds = { leadership: typeof leadershipMachine };

class ElectedClaim implements LeaseClaim {
  readonly #name: string;
  readonly #holder: LeaseHolder;
  readonly #options: ElectedLeaseOptions;
  readonly #logger: Logger;
  #runtime: Promise<Runtime<Kinds>> | undefined;
  /** The fence under which the lease is ours, as far as its last moment has not passed. */
  #fence = 0;
  #heldUntil = NEVER;
  #isReleased = false;
  #wasTold = false;
  #unwatch: (() => void) | undefined;
  /** Those who wait for a greater fence. */
  #raising: Array<() => void> = [];

  constructor(name: string, holder: LeaseHolder, options: ElectedLeaseOptions) {
    this.#name = name;
    this.#holder = holder;
    this.#options = options;
    this.#logger = options.logger ?? SILENT_LOGGER;
  }

  begin(): void {
    const { leaseStore } = this.#options;
    this.#unwatch = leaseStore.watch?.(this.#name, () =>
      this.#tell({ type: 'leaseStore.changed' }),
    );
    this.#runtime = this.#start();
    this.#runtime.catch((thrown) => this.#complain(thrown));
  }

  isHeld(): boolean {
    if (this.#options.clock.now() <= this.#heldUntil) return true;
    this.#expire();
    return false;
  }

  async raise(fence: number): Promise<number> {
    checkFence(fence);
    while (this.isHeld() && this.#fence < fence) {
      const settled = new Promise<void>((resolve) => this.#raising.push(resolve));
      this.#tell({ type: 'fence.raise', atLeast: fence });
      await settled;
    }
    return this.#fence;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#heldUntil = NEVER;
    this.#settleRaising();
    this.#unwatch?.();
    this.#end().catch((thrown) => this.#complain(thrown));
  }

  async #start(): Promise<Runtime<Kinds>> {
    const { node, clock, random, rules, inspect } = this.#options;
    // Not inside the call of the program that wants to hold it.
    await Promise.resolve();
    const runtime = await createRuntime({
      node,
      clock,
      random,
      // That it hosts its own actor is no news of the place.
      logger: { ...SILENT_LOGGER, ...this.#alarms() },
      telemetry: false,
      ...(inspect !== undefined && { inspect }),
    });
    const known = runtime.register('leadership', leadershipMachine, {
      perform: this.#performers(),
    });
    if (!this.#isReleased) await known.spawn(`leadership/${this.#name}`, { input: { rules } });
    return known;
  }

  #alarms(): Pick<Logger, 'warn' | 'error'> {
    return {
      warn: (fields, message) => this.#logger.warn(fields, message),
      error: (fields, message) => this.#logger.error(fields, message),
    };
  }

  async #end(): Promise<void> {
    const runtime = await this.#runtime;
    if (runtime === undefined) return;
    try {
      await runtime.actor(`leadership/${this.#name}`).send({ type: 'lease.resign' });
    } catch {
      // It was released before it was spawned: there is nothing to give back.
    }
    await runtime.stop();
  }

  /**
   * Performers of what the machine asks for. Every answer names its request and brings a number for
   * the next pause.
   */
  #performers(): Record<string, Performer> {
    const name = this.#name;
    const { leaseStore, node, random } = this.#options;
    let isReached = true;
    // Once for each time that it is out of reach, however often it is asked meanwhile.
    const complain = (thrown: unknown): void => {
      const fields = { node, lease: name, error: messageOf(thrown) };
      if (isReached) this.#logger.warn(fields, 'the lease store cannot be reached');
      isReached = false;
    };
    const reached = (): void => {
      if (!isReached) this.#logger.info({ node, lease: name }, 'the lease store is reached again');
      isReached = true;
    };
    const ask =
      (question: (params: never) => Promise<Answer>): Performer =>
      async ({ params, send }) => {
        let answer: Answer;
        try {
          answer = await question(params as never);
          reached();
        } catch (thrown) {
          complain(thrown);
          answer = { type: 'leaseStore.failed' };
        }
        await send({ jitter: random.next(), ...answer, request: params.request });
      };
    return {
      acquireLease: ask(async ({ leaseMs }: Asked) => {
        const fence = await leaseStore.acquire(name, node, leaseMs);
        return fence === undefined ? REFUSED : { type: 'lease.granted', fence };
      }),
      renewLease: ask(async ({ fence, leaseMs }: Asked) =>
        (await leaseStore.renew(name, node, fence, leaseMs)) ? { type: 'lease.renewed' } : REFUSED,
      ),
      raiseLease: ask(async ({ fence, atLeast }: Asked) => {
        const raised = await leaseStore.raise(name, node, fence, atLeast);
        return raised === undefined ? REFUSED : { type: 'lease.raised', fence: raised };
      }),
      // Where it cannot be given back it runs out.
      releaseLease: ({ params }) => leaseStore.release(name, node, params.fence).catch(complain),
      announceFollowing: () => this.#follow(),
      announceLeading: ({ params }) => this.#lead(params.fence, params.until),
      announceRenewed: ({ params }) => this.#extend(params.until),
      announceRaised: ({ params }) => this.#adopt(params.fence),
      announceLost: () => this.#lose(),
    };
  }

  #follow(): void {
    if (this.#isReleased || this.#wasTold) return;
    this.#wasTold = true;
    this.#holder.standsBy();
  }

  #lead(fence: number, until: number): void {
    if (this.#isReleased) return;
    this.#fence = fence;
    this.#heldUntil = until;
    this.#wasTold = true;
    this.#holder.acquired(fence);
  }

  #extend(until: number): void {
    if (this.#heldUntil !== NEVER) this.#heldUntil = until;
  }

  /** A program that was told that it is over is not told otherwise by a renewal that is under way. */
  #expire(): void {
    if (this.#heldUntil === NEVER) return;
    this.#heldUntil = NEVER;
    this.#tell({ type: 'lease.expired' });
  }

  #adopt(fence: number): void {
    this.#fence = fence;
    this.#settleRaising();
  }

  #lose(): void {
    if (this.#isReleased) return;
    this.#heldUntil = NEVER;
    this.#settleRaising();
    this.#holder.lost();
  }

  #settleRaising(): void {
    for (const settle of this.#raising.splice(0)) settle();
  }

  #tell(event: Sent<LeadershipEvent>): void {
    this.#send(event).catch((thrown) => this.#complain(thrown));
  }

  async #send(event: Sent<LeadershipEvent>): Promise<void> {
    const runtime = await this.#runtime;
    if (!this.#isReleased) await runtime?.actor(`leadership/${this.#name}`).send(event);
  }

  #complain(thrown: unknown): void {
    if (this.#isReleased) return;
    const { node } = this.#options;
    this.#logger.error(
      { node, lease: this.#name, error: messageOf(thrown) },
      'the election of a leader has failed',
    );
  }
}

interface Asked {
  readonly leaseMs: number;
  readonly fence: number;
  readonly atLeast: number;
}

interface Answer {
  readonly type: LeadershipEvent['type'];
  readonly fence?: number;
}

const REFUSED: Answer = { type: 'lease.refused' };
