/**
 * Senders as another node's actors are: each message has an identity (sender and counter)
 * and brings the lowest counter not yet acknowledged, exactly, per receiver.
 *
 * They enter where a peer's envelope does once it is parsed: `accept` of the shard. This
 * is the one file of the engine suite that reaches behind the public API.
 */

import { message } from '../runtime/delivery.ts';
import type { Message } from '../runtime/mailbox.ts';
import { Runtime } from '../runtime/runtime.ts';

interface Entry {
  readonly shard: { accept(address: string, message: Message): void };
}

type EventOf = { readonly type: string };

export class PeerSenders {
  readonly #entry: Entry;
  readonly #senders: ReadonlyArray<{
    readonly address: string;
    counter: number;
    /** Counters under way, by receiver, lowest first. */
    readonly lanes: number[][];
  }>;
  readonly #receivers: readonly string[];

  constructor(runtime: object, addresses: readonly string[], receivers: readonly string[]) {
    this.#entry = Runtime.hostOf(runtime as Runtime<never>) as unknown as Entry;
    this.#receivers = receivers;
    this.#senders = addresses.map((address) => ({
      address,
      counter: 0,
      lanes: receivers.map(() => []),
    }));
  }

  get addresses(): readonly string[] {
    return this.#senders.map(({ address }) => address);
  }

  /** Resolves when the turn that took the event is durable, as `handle.send` does. */
  send(senderIndex: number, receiver: number, event: EventOf): Promise<void> {
    const sender = this.#senders[senderIndex] as (typeof this.#senders)[number];
    sender.counter += 1;
    const { address: from, counter } = sender;
    const lane = sender.lanes[receiver] as number[];
    lane.push(counter);
    const settledBelow = lane[0] as number;
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        lane.splice(lane.indexOf(counter), 1);
        if (error === undefined) resolve();
        else reject(error);
      };
      const address = this.#receivers[receiver] as string;
      this.#entry.shard.accept(address, message(event, { from, counter, settledBelow, settle }));
    });
  }

  /** Sends an old message again; a receiver that remembers it takes no turn for it. */
  repeatLast(senderIndex: number, receiver: number, counter: number, event: EventOf): Promise<void> {
    const { address: from } = this.#senders[senderIndex] as { address: string };
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      const parts = { from, counter, settledBelow: 1, settle };
      this.#entry.shard.accept(this.#receivers[receiver] as string, message(event, parts));
    });
  }
}
