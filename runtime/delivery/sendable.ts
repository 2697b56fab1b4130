/**
 * Check of events before they are sent: one that its receiver would refuse does not leave.
 *
 * Another node counts malformed messages among the faults of its peer; it disconnects a peer that has too
 * many, and at once a peer that speaks for somebody else. An event that no peer takes, sent again and again,
 * would keep two nodes apart for ever.
 */

import { placeOf } from '../base/address.ts';
import { RuntimeError } from '../base/errors.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import type { ProvedPeer } from '../ports/transport.ts';
import { checkEvent, FETCH_EVENT } from './envelope.ts';
import { isLonger } from './fragments.ts';
import { scanJson } from './json-limits.ts';
import { boundsOf, isPlaceOf, mayRead, messageBytesOf } from './peer-authority.ts';

interface Sent {
  readonly type: string;
  readonly replyTo?: unknown;
}

export class Sendable {
  readonly #limits: RuntimeLimits;
  /** Identity that this node proves to its peers; undefined where nobody has to prove anything. */
  readonly #own: ProvedPeer | undefined;

  constructor(own: ProvedPeer | undefined, limits: RuntimeLimits) {
    this.#own = own;
    this.#limits = limits;
  }

  /**
   * Reason why an event cannot be sent, if there is one; `isHere`: to an actor of this node. `text`: its
   * JSON.
   */
  refusalOf(event: Sent, text: string, isHere: boolean): RuntimeError | undefined {
    const bytesMax = isHere
      ? this.#limits.messageBytesMax
      : messageBytesOf(this.#own, this.#limits);
    if (isLonger(text, bytesMax)) return tooLarge(event.type, bytesMax);
    if (isHere) return undefined;
    try {
      checkEvent(event as { readonly type: string });
      if (this.#own !== undefined) this.#checkOwn(this.#own, event, text);
    } catch (thrown) {
      return thrown as RuntimeError;
    }
    return undefined;
  }

  #checkOwn(own: ProvedPeer, event: Sent, text: string): void {
    const { type, replyTo } = event;
    if (type === FETCH_EVENT && !mayRead(own, event)) {
      const what = `A ${own.role} reads no actors of other nodes, and watches none: ask them for what they should tell.`;
      throw new RuntimeError('NOT_ALLOWED', what);
    }
    const bounds = boundsOf(own, this.#limits);
    // Nothing in it can be longer than all of it, and its shape has been looked at.
    if (text.length > bounds.textMax) scanJson(text, bounds);
    if (typeof replyTo === 'string' && !isPlaceOf(own, placeOf(replyTo)))
      throw new RuntimeError(
        'EVENT_REFUSED',
        `A question of "${placeOf(replyTo)}" is not passed on.`,
      );
  }
}

function tooLarge(type: string, bytesMax: number): RuntimeError {
  const what = `Event "${type}" takes more than ${bytesMax} bytes (messageBytesMax). Keep large data elsewhere and send a reference.`;
  return new RuntimeError('EVENT_REFUSED', what);
}
