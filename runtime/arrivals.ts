/**
 * What arrives from peers: frames are opened, envelopes checked once, and handed to the
 * mailboxes, the outboxes that wait for receipts, or the questions that wait for answers.
 *
 * A malformed frame is refused whole, a malformed envelope alone; both are logged and
 * change nothing. A receipt goes back once the turn that took a message is durable, or
 * with the reason why none will; without one its sender would try for ever.
 */

import { placeOf } from './address.ts';
import type { Asks } from './asks.ts';
import type { Delivery } from './delivery.ts';
import { type Envelope, FETCH_EVENT, parseEnvelope, parseReceipt } from './envelope.ts';
import { errorFromShape, excerpt, messageOf, RuntimeError } from './errors.ts';
import type { Hints } from './hints.ts';
import { REPLY_EVENT } from './machine.ts';
import { message } from './mailbox.ts';
import type { Logger } from './options.ts';
import type { Peers } from './peers.ts';
import type { Shard } from './shard.ts';
import { decodeFrame } from './wire.ts';

export interface ArrivalServices {
  readonly place: string;
  readonly shard: Shard;
  readonly delivery: Delivery;
  readonly hints: Hints;
  readonly peers: Peers;
  readonly asks: Asks;
  readonly logger: Logger;
  /** A peer knows a greater fence of our place. */
  outranked(known: number, isHosted: boolean): void;
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
        if (peers.heard(peer, hello.places))
          delivery.resend([...hello.places.map(([place]) => place), peer]);
        if (hello.isAsking) peers.greet(peer);
        for (const [place, known, isHosted] of hello.outranked ?? [])
          if (place === this.#services.place) this.#services.outranked(known, isHosted);
      }
      for (const receipt of receipts)
        this.#guarded(peer, receipt, () => delivery.receive(parseReceipt(receipt)));
      for (const envelope of envelopes) {
        const refused = (error: unknown) => this.#refused(peer, envelope, error);
        this.#guarded(peer, envelope, () => this.#envelope(peer, parseEnvelope(envelope)), refused);
      }
    });
  }

  #envelope(peer: string, envelope: Envelope): void {
    const { place, shard, asks, peers } = this.#services;
    const { to, from, counter, after, event } = envelope;
    const isOurs = placeOf(to) === place;
    if (peers.isOutranked(peer, placeOf(from)))
      throw new RuntimeError('NOT_HOSTED', `Another node has hosted "${placeOf(from)}" since.`);
    if (event.type === REPLY_EVENT) {
      const { value, error } = event as { value?: unknown; error?: unknown };
      if (!asks.owns(to)) return;
      if (error === undefined) asks.answer(to, value);
      else asks.refuse(to, errorFromShape(error, from));
    } else if (event.type === FETCH_EVENT) {
      this.#answerFetch(envelope);
    } else if (counter === 0) {
      if (isOurs) shard.accept(to, message(event, { from, isHint: true }), 'sender');
    } else {
      const settle = (error?: Error): void => {
        const receipt = { from, to, counter };
        peers.sendReceipt(peer, error === undefined ? receipt : { ...receipt, error });
      };
      if (isOurs) shard.accept(to, message(event, { from, counter, after, settle }), 'sender');
      else settle(new RuntimeError('NOT_HOSTED', `This node does not host "${placeOf(to)}".`));
    }
  }

  #answerFetch({ to, event }: Envelope): void {
    const { hints, persisted } = this.#services;
    const { replyTo } = event as { replyTo?: unknown };
    if (typeof replyTo !== 'string') return;
    let answer: { readonly value?: unknown; readonly error?: unknown };
    try {
      answer = { value: persisted(to) };
    } catch (error) {
      answer = { error };
    }
    hints.send(to, replyTo, { type: REPLY_EVENT, ...answer });
  }

  /** Tells whoever waits for an answer to an envelope that could not be opened, if that can be seen. */
  #refused(peer: string, envelope: unknown, error: unknown): void {
    const { asks, peers } = this.#services;
    try {
      const { from, to, counter } = parseReceipt(envelope);
      if (asks.owns(to)) asks.refuse(to, error as Error);
      else if (counter > 0) peers.sendReceipt(peer, { from, to, counter, error });
    } catch {
      // Nobody can be named.
    }
  }

  #guarded(
    peer: string,
    what: unknown,
    take: () => void,
    refused?: (error: unknown) => void,
  ): void {
    try {
      take();
    } catch (thrown) {
      this.#services.logger.warn(
        { peer, error: messageOf(thrown), got: excerpt(what) },
        'something from a peer was refused',
      );
      refused?.(thrown);
    }
  }
}
