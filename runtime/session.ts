/**
 * What this process itself sends to actors on other nodes.
 *
 * A session is a sender like an actor, with counters and an outbox, but in memory:
 * its messages are sent again until answered and taken once, as long as the process
 * lives. Its address is new in each process, so its counters never meet old marks.
 */

import type { Delivery, DeliveryOwner } from './delivery.ts';
import { RuntimeError } from './errors.ts';
import { Outbox, type OutboxRow } from './outbox.ts';

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class Session implements DeliveryOwner {
  readonly address: string;
  readonly #delivery: Delivery;
  readonly #outbox = new Outbox();
  readonly #waiting = new Map<number, Waiting>();
  readonly #outboxMax: number;

  constructor(address: string, delivery: Delivery, outboxMax: number) {
    this.address = address;
    this.#delivery = delivery;
    this.#outboxMax = outboxMax;
  }

  /** Resolves once the turn that took the event is durable. */
  send(to: string, event: { readonly type: string }): Promise<void> {
    if (this.#outbox.size >= this.#outboxMax) {
      const what = `This process has ${this.#outboxMax} unanswered messages to other nodes already.`;
      return Promise.reject(new RuntimeError('OUTBOX_FULL', what, { address: to }));
    }
    return new Promise((resolve, reject) => {
      const row = this.#outbox.add(to, event);
      this.#waiting.set(row.counter, { resolve, reject });
      this.#delivery.dispatch(this.address, this.#outbox, to, this);
    });
  }

  settled(_from: string, row: OutboxRow, error: RuntimeError | undefined): void {
    this.#outbox.settle(row.to, row.counter);
    const waiting = this.#waiting.get(row.counter);
    this.#waiting.delete(row.counter);
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(error);
  }

  stop(): void {
    for (const { reject } of this.#waiting.values()) {
      reject(
        new RuntimeError('RUNTIME_STOPPED', 'The runtime stopped before the message was answered.'),
      );
    }
    this.#waiting.clear();
  }
}
