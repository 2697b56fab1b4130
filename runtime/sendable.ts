/**
 * Which events may be sent: what its receiver would refuse does not leave.
 *
 * Another node counts what is malformed among the faults of its peer, parts from a peer that has too
 * many, and from one that speaks for somebody else at once. An event that no peer takes, sent again and
 * again, would keep two nodes apart for ever.
 */

import { placeOf } from './address.ts';
import { checkEvent } from './envelope.ts';
import { RuntimeError } from './errors.ts';
import { scanJson } from './json-scan.ts';
import type { RuntimeLimits } from './options.ts';
import { boundsOf, isPlaceOf, messageBytesOf } from './peer-authority.ts';
import { isLonger } from './pieces.ts';
import type { ProvedPeer } from './transport.ts';

interface Sent {
  readonly type: string;
  readonly replyTo?: unknown;
}

export class Sendable {
  readonly #limits: RuntimeLimits;
  /** What this node proves to its peers to be; undefined where nobody has to prove anything. */
  readonly #own: ProvedPeer | undefined;

  constructor(own: ProvedPeer | undefined, limits: RuntimeLimits) {
    this.#own = own;
    this.#limits = limits;
  }

  /** Why an event goes nowhere, if so; `isHere`: to an actor of this node. `text`: its JSON. */
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

  #checkOwn(own: ProvedPeer, { replyTo }: Sent, text: string): void {
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
