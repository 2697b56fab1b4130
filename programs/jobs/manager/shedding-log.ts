/**
 * Shedding log: refusals of an overload, the first one at once, then how many there were, now and then.
 *
 * A flood of submissions is no flood of lines. Their total is counted elsewhere.
 */

import type { Logger } from '../../../runtime/base/limits.ts';
import type { Overload } from './backlog.ts';

const PAUSE_MS = 10_000;

export interface SheddingLogOptions {
  readonly datacenter: string;
  readonly logger: Logger;
  readonly now: () => number;
}

export class SheddingLog {
  readonly #options: SheddingLogOptions;
  #refused = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(options: SheddingLogOptions) {
    this.#options = options;
  }

  add({ bound, waiting, max, retryAfterMs }: Overload): void {
    this.#refused += 1;
    const { datacenter, logger, now } = this.#options;
    const at = now();
    if (at - this.#saidAt < PAUSE_MS) return;
    const fields = { at, datacenter, refused: this.#refused, bound, waiting, max, retryAfterMs };
    logger.warn({ event: 'submission.shed', ...fields }, 'submission.shed');
    this.#refused = 0;
    this.#saidAt = at;
  }
}
