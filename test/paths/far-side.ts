/**
 * Everybody a machine speaks to on its paths, at their places: they hear, and answer only when told.
 *
 * It is the transport of the node that walks a path: each place that is spoken to is a connected
 * node of that name. A message that is kept is heard once however often it is sent; its sender goes
 * on keeping it until the path has it taken or refused.
 */

import { placeOf } from '../../runtime/base/address.ts';
import { type ErrorCode, RuntimeError } from '../../runtime/base/errors.ts';
import { decodeFrame, encodeFrame, encodeReceipt } from '../../runtime/delivery/frame.ts';
import type { Transport, TransportListener } from '../../runtime/ports/transport.ts';
import type { KeptMessage, Message } from './situation.ts';

interface Envelope extends Message {
  readonly from: string;
  readonly counter: number;
}

export class FarSide {
  #listener: TransportListener | undefined;
  readonly #places = new Set<string>();
  #hints: Message[] = [];
  /** Of each message that is kept, who sent it. */
  readonly #senders = new Map<number, string>();

  /** The node's link; a new one after each crash. */
  join(): Transport {
    return {
      start: async (listener) => {
        this.#listener = listener;
        for (const place of this.#places) listener.peerUp(place);
      },
      send: (_, frame) => {
        for (const envelope of decodeFrame(frame).envelopes) this.#hear(envelope as Envelope);
        return true;
      },
      peers: () => [...this.#places],
      stop: async () => {
        this.#listener = undefined;
      },
    };
  }

  /** Lets the node know where these receivers are. */
  expect(messages: readonly Message[]): void {
    for (const { to } of messages) {
      const place = placeOf(to);
      if (this.#places.has(place)) continue;
      this.#places.add(place);
      this.#listener?.peerUp(place);
    }
  }

  /** What was said without guarantee since the last look. */
  hints(): Message[] {
    return this.#hints.splice(0);
  }

  /** The receiver has taken the message, or refuses it for good. */
  answer({ to, counter }: KeptMessage, refusal?: ErrorCode): void {
    const from = this.#senders.get(counter);
    if (from === undefined) throw new Error(`Message ${counter} to ${to} has not been heard.`);
    const error = refusal && new RuntimeError(refusal, 'Refused on this path.').toJSON();
    const receipt = encodeReceipt({ from, to, counter, ...(error !== undefined && { error }) });
    this.#listener?.frameReceived(placeOf(to), encodeFrame([], [receipt]));
  }

  #hear({ from, to, counter, event }: Envelope): void {
    if (counter === 0) this.#hints.push({ to, event });
    else this.#senders.set(counter, from);
  }
}
