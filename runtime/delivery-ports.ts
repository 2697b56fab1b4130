/** What delivery is given, and whom it tells what became of messages. */

import type { Clock } from './clock.ts';
import type { RuntimeError } from './errors.ts';
import type { Message } from './mailbox.ts';
import type { Metrics } from './metrics.ts';
import type { Logger, RuntimeLimits } from './options.ts';
import type { OutboxRow } from './outbox.ts';
import type { Peers } from './peers.ts';
import type { Random } from './random.ts';
import type { Transport } from './transport.ts';

/** Whoever owns an outbox: the actors of this node, or the session of this process. */
export interface DeliveryOwner {
  /** The row was taken; with `failure`, in a turn that failed. */
  taken(from: string, row: OutboxRow, failure: RuntimeError | undefined): void;
  /** The row is refused for good. `noted` is called when that is durable; if it never is, the row is sent again. */
  refused(from: string, row: OutboxRow, refusal: RuntimeError, noted: () => void): void;
}

export interface DeliveryServices {
  readonly place: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RuntimeLimits;
  readonly peers: Peers;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly transport: Transport;
  /** The mailboxes of this node. */
  accept(address: string, message: Message): void;
  isHosting(): boolean;
}
