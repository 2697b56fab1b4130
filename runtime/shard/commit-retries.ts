/**
 * Retries of a shard's commits that were refused: the claim of the place, and probes of a store that takes nothing.
 *
 * A probe is an empty group under the fence that holds anyway: it changes nothing. Without it nobody would send work to
 * a node that says it can take none.
 */

import { pauseMs } from '../base/backoff.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import type { Cancel, Clock } from '../ports/clock.ts';

export interface RetryServices {
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  /** Commits an empty group. */
  claim(): void;
}

export class CommitRetries {
  readonly #services: RetryServices;
  readonly #claims = { refused: 0, cancel: undefined as Cancel | undefined };
  readonly #probes = { refused: 0, cancel: undefined as Cancel | undefined };

  constructor(services: RetryServices) {
    this.#services = services;
  }

  /** The place is claimed for the first time. */
  begin(): void {
    this.#claims.refused = 0;
    this.#services.claim();
  }

  /** The claim was refused. */
  claimLater(): void {
    this.#later(this.#claims);
  }

  /** Another commit was refused: one probe is under way until one is not. */
  probeLater(): void {
    if (this.#probes.cancel === undefined) this.#later(this.#probes);
  }

  /** A commit was not refused. */
  endProbing(): void {
    this.#probes.cancel?.();
    this.#probes.cancel = undefined;
    this.#probes.refused = 0;
  }

  end(): void {
    this.#claims.cancel?.();
    this.endProbing();
  }

  #later(tries: { refused: number; cancel: Cancel | undefined }): void {
    const { clock, limits } = this.#services;
    tries.refused += 1;
    tries.cancel = clock.schedule(clock.now() + pauseMs(tries.refused, limits), () => {
      tries.cancel = undefined;
      this.#services.claim();
    });
  }
}
