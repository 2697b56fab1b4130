/**
 * Messages without guarantee: hints, answers, and requests that are only worth an answer.
 *
 * Each is sent once. When nobody is there, or it cannot travel, it is gone. To a peer that takes
 * frames too slowly hints are left out: whoever gives one gives the next one too. Answers and
 * questions somebody waits for, so they go all the same, and where an answer cannot travel an error
 * takes its place.
 */

import { kindOf, placeOf } from './address.ts';
import { FETCH_EVENT } from './envelope.ts';
import { messageOf, RuntimeError } from './errors.ts';
import { REPLY_EVENT } from './machine.ts';
import { type Message, message } from './mailbox.ts';
import type { Metrics } from './metrics.ts';
import type { Logger, RuntimeLimits } from './options.ts';
import type { Peers } from './peers.ts';
import { Sendable } from './sendable.ts';
import type { Transport } from './transport.ts';
import { encodeEnvelope } from './wire.ts';

export interface HintServices {
  readonly place: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly peers: Peers;
  readonly transport: Transport;
  readonly limits: RuntimeLimits;
  /** The mailboxes of this node. */
  accept(address: string, message: Message): void;
  /** A hint was refused: a question in it is answered by nobody. */
  undelivered(to: string, event: { readonly type: string }, error: RuntimeError): void;
}

export class Hints {
  readonly #services: HintServices;
  readonly #sendable: Sendable;

  constructor(services: HintServices) {
    this.#services = services;
    this.#sendable = new Sendable(services.transport.own, services.limits);
  }

  send(from: string, to: string, event: { readonly type: string }): void {
    const { place, peers, logger, metrics, undelivered } = this.#services;
    // A question lives on the node that asked, whatever places are called like it.
    const isAnswer = kindOf(to) === 'ask';
    const target = placeOf(to);
    if (target === place && !isAnswer) {
      const settle = (error?: Error): void => {
        if (error !== undefined) undelivered(to, event, error as RuntimeError);
      };
      this.#services.accept(to, message(event, { from, isHint: true, settle }));
      return;
    }
    const node = isAnswer ? target : peers.nodeOf(target);
    if (node === undefined) return;
    const isAwaited = isAnswer || event.type === FETCH_EVENT;
    if (!isAwaited && peers.isCongested(node)) {
      metrics.hintsLeftOut += 1;
      return;
    }
    try {
      const text = JSON.stringify(event);
      const refusal = this.#sendable.refusalOf(event, text, false);
      if (refusal !== undefined) throw refusal;
      peers.sendEnvelope(node, encodeEnvelope(from, { to, counter: 0, text }, 0));
    } catch (thrown) {
      if (isAnswer && !('error' in event)) this.send(from, to, refused(thrown));
      const fields = { to, event: event.type, error: messageOf(thrown) };
      logger.warn(fields, 'a message without guarantee could not be sent');
    }
  }
}

/** The answer to a question that has none. */
function refused(thrown: unknown): { readonly type: string; readonly error: RuntimeError } {
  if (thrown instanceof RuntimeError) return { type: REPLY_EVENT, error: thrown };
  const what = `The answer cannot travel: ${messageOf(thrown)}`;
  return { type: REPLY_EVENT, error: new RuntimeError('ASK_UNANSWERED', what) };
}
