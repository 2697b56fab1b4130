/**
 * Messages without guarantee: hints, answers, and requests that are only worth an answer.
 *
 * Each is sent once. When nobody is there, or it cannot travel, it is gone; nobody waits.
 */

import { kindOf, placeOf } from './address.ts';
import { messageOf } from './errors.ts';
import { type Message, message } from './mailbox.ts';
import type { Logger } from './options.ts';
import { ENVELOPE_LENGTH_MAX, type Peers } from './peers.ts';
import { encodeEnvelope } from './wire.ts';

export interface HintServices {
  readonly place: string;
  readonly logger: Logger;
  readonly peers: Peers;
  /** The mailboxes of this node. */
  accept(address: string, message: Message): void;
}

export class Hints {
  readonly #services: HintServices;

  constructor(services: HintServices) {
    this.#services = services;
  }

  send(from: string, to: string, event: { readonly type: string }): void {
    const { place, peers, logger } = this.#services;
    // A question lives on the node that asked, whatever places are called like it.
    const isAnswer = kindOf(to) === 'ask';
    const target = placeOf(to);
    if (target === place && !isAnswer) {
      this.#services.accept(to, message(event, { from, isHint: true }));
      return;
    }
    const node = isAnswer ? target : peers.nodeOf(target);
    if (node === undefined) return;
    try {
      const text = JSON.stringify(event);
      if (text.length > ENVELOPE_LENGTH_MAX)
        throw new RangeError(`${text.length} characters are too many for one frame`);
      peers.sendEnvelope(node, encodeEnvelope(from, { to, counter: 0, text }, 0));
    } catch (thrown) {
      const fields = { to, event: event.type, error: messageOf(thrown) };
      logger.warn(fields, 'a message without guarantee could not be sent');
    }
  }
}
