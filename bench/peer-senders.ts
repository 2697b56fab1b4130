/**
 * Senders as another node's actors are: each message has an identity (sender and counter)
 * and names the one before it that the receiver has not answered.
 *
 * They enter where `handle.send` does, with the identity that a handle leaves out. This is
 * the one file of the engine suite that reaches behind the public API.
 */

import type { Calls } from '../runtime/calls.ts';
import { Runtime } from '../runtime/runtime.ts';

interface Event {
  readonly type: string;
}

interface Sender {
  readonly address: string;
  counter: number;
  /** Counters under way, by receiver, lowest first. */
  readonly lanes: number[][];
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
      lanes: receivers.map(() => []),
    }));
  }

  /** Resolves when the turn that took the event is durable, as `handle.send` does; then call `settled`. */
  send(senderIndex: number, receiver: number, event: Event): Promise<void> {
    const sender = this.#senders[senderIndex] as Sender;
    sender.counter += 1;
    const lane = sender.lanes[receiver] as number[];
    lane.push(sender.counter);
    return this.#calls.deliver(this.#receivers[receiver] as string, event, {
      from: sender.address,
      counter: sender.counter,
      after: lane.at(-2) ?? 0,
    });
  }

  /** What is sent first to a receiver is answered first. */
  settled(senderIndex: number, receiver: number): void {
    this.#senders[senderIndex]?.lanes[receiver]?.shift();
  }

  /** Sends the last message of a sender again; a receiver that remembers it takes no turn. */
  repeat(senderIndex: number, receiver: number, counter: number, event: Event): Promise<void> {
    const { address: from } = this.#senders[senderIndex] as Sender;
    const identity = { from, counter, after: 0 };
    return this.#calls.deliver(this.#receivers[receiver] as string, event, identity);
  }
}
