/**
 * Messages without guarantee: hints, answers, and requests that are only worth an answer.
 *
 * Each is sent once. When nobody is there, or it cannot travel, it is gone. To a peer that takes frames too
 * slowly hints are left out: a sender that gave one gives the next one too. Somebody waits for answers and
 * questions, so they go all the same, and where an answer cannot travel an error takes its place.
 */

import { type Message, message } from '../actor.ts';
import { kindOf, placeOf } from '../base/address.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import { REPLY_EVENT } from '../machine.ts';
import type { Transport } from '../ports/transport.ts';
import { FETCH_EVENT } from './envelope.ts';
import { encodeEnvelope } from './frame.ts';
import type { Peers } from './peers.ts';
import type { Routes } from './routes.ts';
import { Sendable } from './sendable.ts';

export interface HintServices {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly peers: Peers;
  readonly routes: Routes;
  readonly transport: Transport;
  readonly limits: RuntimeLimits;
  /** Asks who hosts a place of which nothing is known. */
  inquire(place: string): void;
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

  /** Returns why it cannot travel, where that is so; whether it arrives nobody knows. */
  send(from: string, to: string, event: { readonly type: string }): unknown {
    const { peers, routes, logger, metrics, undelivered } = this.#services;
    // A question lives on the node that asked, whatever places are called like it.
    const isAnswer = kindOf(to) === 'ask';
    if (!isAnswer && routes.isHere(to)) {
      const settle = (error?: Error): void => {
        if (error !== undefined) undelivered(to, event, error as RuntimeError);
      };
      this.#services.accept(to, message(event, { from, isHint: true, settle }));
      return undefined;
    }
    const node = isAnswer ? placeOf(to) : routes.hostOf(placeOf(to));
    if (node === undefined) {
      this.#services.inquire(placeOf(to));
      return undefined;
    }
    const isAwaited = isAnswer || event.type === FETCH_EVENT;
    if (!isAwaited && peers.isCongested(node)) {
      metrics.hintsLeftOut += 1;
      return undefined;
    }
    try {
      const text = JSON.stringify(event);
      const refusal = this.#sendable.refusalOf(event, text, false);
      if (refusal !== undefined) throw refusal;
      peers.sendEnvelope(node, encodeEnvelope(from, { to, counter: 0, text }, 0));
      return undefined;
    } catch (thrown) {
      if (isAnswer && !('error' in event)) this.send(from, to, refused(thrown));
      const fields = { to, event: event.type, error: messageOf(thrown) };
      logger.warn(fields, 'a message without guarantee could not be sent');
      return thrown;
    }
  }
}

/** The answer to a question that has none. */
function refused(thrown: unknown): { readonly type: string; readonly error: RuntimeError } {
  if (thrown instanceof RuntimeError) return { type: REPLY_EVENT, error: thrown };
  const what = `The answer cannot travel: ${messageOf(thrown)}`;
  return { type: REPLY_EVENT, error: new RuntimeError('ASK_UNANSWERED', what) };
}
