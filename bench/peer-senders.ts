/**
 * Senders as another node's actors are: each message has an identity (sender and counter)
 * and names the one before it that the receiver has not answered.
 *
 * They enter where `handle.send` does, with the identity that a handle leaves out. This is
 * the one file of the engine suite that reaches behind the public API.
 */

import type { Calls } from '../runtime/api/calls.ts';
import { Runtime } from '../runtime/runtime.ts';

interface Event {
  readonly type: string;
}

interface Sender {
  readonly address: string;
  counter: number;
  /** Counter of the last message to each receiver, 0 before the first. */
  readonly last: Float64Array;
}

export class PeerSenders {
  readonly #calls: Pick<Calls, 'deliver'>;
  readonly #senders: readonly Sender[];
  readonly #receivers: readonly string[];

  constructor(runtime: object, addresses: readonly string[], receivers: readonly string[]) {
    this.#calls = Runtime.hostOf(runtime as Runtime<never>) as Calls;
    this.#receivers = receivers;
    this.#senders = addresses.map((address) => ({
      address,
      counter: 0,
      last: new Float64Array(receivers.length),
    }));
  }

  /** Resolves when the turn that took the event is durable, as `handle.send` does. */
  send(senderIndex: number, receiver: number, event: Event): Promise<void> {
    const sender = this.#senders[senderIndex] as Sender;
    const after = sender.last[receiver] as number;
    sender.counter += 1;
    sender.last[receiver] = sender.counter;
    return this.#calls.deliver(this.#receivers[receiver] as string, event, {
      from: sender.address,
      counter: sender.counter,
      after,
    });
  }

  /** Sends the last message of a sender again; a receiver that remembers it takes no turn. */
  repeat(senderIndex: number, receiver: number, counter: number, event: Event): Promise<void> {
    const { address: from } = this.#senders[senderIndex] as Sender;
    const identity = { from, counter, after: 0 };
    return this.#calls.deliver(this.#receivers[receiver] as string, event, identity);
  }
}
