/**
 * View of a runtime for code that watches it from outside: its live numbers, its log, a signal for
 * its end, and what it knows of its actors and of other nodes. It changes nothing.
 */

import type { Logger } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Node } from './node.ts';

/** Result of `Runtime.watchOf`. */
export interface RuntimeWatch {
  readonly metrics: Metrics;
  readonly ended: AbortSignal;
  readonly logger: Logger;
  /** True for actors that clients may not speak to. */
  readonly isClosedToClients: (address: string) => boolean;
  /** The other node that hosts a place, as far as is known. */
  readonly hostOf: (place: string) => string | undefined;
}

export function watchOf({ metrics, ending, ports, shard, messaging }: Node): RuntimeWatch {
  return {
    metrics,
    ended: ending.signal,
    logger: ports.logger,
    isClosedToClients: (address) => shard.kinds.isClosedToClients(address),
    hostOf: (place) => messaging.routes.hostOf(place),
  };
}
