/**
 * What arrives from peers: frames are opened, envelopes checked once, and handed to the
 * mailboxes, the outboxes that wait for receipts, or the questions that wait for answers.
 *
 * A malformed frame is refused whole, a malformed envelope alone; both are logged and
 * change nothing. A receipt goes back once the turn that took a message is durable.
 */

import { placeOf } from './address.ts';
import type { Asks } from './asks.ts';
import { type Delivery, message } from './delivery.ts';
import { type Envelope, FETCH_EVENT, parseEnvelope, parseReceipt } from './envelope.ts';
import { excerpt, messageOf, RuntimeError } from './errors.ts';
import { REPLY_EVENT } from './machine.ts';
import type { Logger } from './options.ts';
import type { Peers } from './peers.ts';
import type { Shard } from './shard.ts';
import { decodeFrame } from './wire.ts';

export interface ArrivalServices {
  readonly place: string;
  readonly shard: Shard;
  readonly delivery: Delivery;
  readonly peers: Peers;
  readonly asks: Asks;
  readonly logger: Logger;
  /** XState's persisted snapshot of an actor. */
  persisted(address: string): unknown;
}

export class Arrivals {
  readonly #services: ArrivalServices;

  constructor(services: ArrivalServices) {
    this.#services = services;
  }

  frame(peer: string, text: string): void {
    const { delivery, peers } = this.#services;
    this.#guarded(peer, text, () => {
      const { hello, envelopes, receipts } = decodeFrame(text);
      if (hello !== undefined) {
        peers.heard(peer, hello.places);
        delivery.resend([...hello.places, peer]);
      }
      for (const receipt of receipts)
        this.#guarded(peer, receipt, () => delivery.receive(parseReceipt(receipt)));
      for (const envelope of envelopes)
        this.#guarded(peer, envelope, () => this.#envelope(peer, parseEnvelope(envelope)));
    });
  }

  #envelope(peer: string, envelope: Envelope): void {
    const { place, shard, asks, peers } = this.#services;
    const { to, from, counter, settledBelow, event } = envelope;
    if (event.type === REPLY_EVENT) {
      if (asks.owns(to)) asks.answer(to, (event as { value?: unknown }).value);
    } else if (event.type === FETCH_EVENT) {
      this.#answerFetch(envelope);
    } else if (counter === 0) {
      shard.accept(to, message(event, { isHint: true }));
    } else {
      const settle = (error?: Error): void => {
        const receipt = { from, to, counter };
        peers.sendReceipt(peer, error === undefined ? receipt : { ...receipt, error });
      };
      if (placeOf(to) === place)
        shard.accept(to, message(event, { from, counter, settledBelow, settle }));
      else settle(new RuntimeError('NOT_HOSTED', `This node does not host "${placeOf(to)}".`));
    }
  }

  #answerFetch({ to, event }: Envelope): void {
    const { replyTo } = event as { replyTo?: unknown };
    if (typeof replyTo !== 'string') return;
    const answer = { type: REPLY_EVENT, value: this.#services.persisted(to) };
    this.#services.delivery.hint(to, replyTo, answer);
  }

  #guarded(peer: string, what: unknown, take: () => void): void {
    try {
      take();
    } catch (thrown) {
      this.#services.logger.warn(
        { peer, error: messageOf(thrown), got: excerpt(what) },
        'something from a peer was refused',
      );
    }
  }
}
