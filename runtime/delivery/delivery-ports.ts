/** Ports of delivery: what it is given, and the owners of outboxes that hear the outcome of messages. */

import type { Message, OutboxRow } from '../actor.ts';
import type { RuntimeError } from '../base/errors.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Transport } from '../ports/transport.ts';
import type { Peers } from './peers.ts';
import type { Routes } from './routes.ts';

/** Owner of outboxes: the actors of this node, or the session of this process. */
export interface DeliveryOwner {
  /** The row was taken; with `failure`, in a turn that failed. */
  taken(from: string, row: OutboxRow, failure: RuntimeError | undefined): void;
  /** The row is refused for good. `noted` is called when that is durable; if it never is, the row is sent again. */
  refused(from: string, row: OutboxRow, refusal: RuntimeError, noted: () => void): void;
}

export interface DeliveryServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RuntimeLimits;
  readonly peers: Peers;
  readonly routes: Routes;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly transport: Transport;
  /** Actors of this place may take what is not durable yet: a group of the store is written whole or not at all. */
  readonly mayGoAhead: boolean;
  /** The mailboxes of this node. */
  accept(address: string, message: Message): void;
  isHosting(): boolean;
}
