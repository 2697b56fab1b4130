/**
 * Shares of an inbox, by the place that its senders speak for.
 *
 * A peer may speak under any number of names at its own place, and each of them is a watermark: without shares one
 * peer shuts out all others. Clients that have shown the same token count as one, and so do all names of
 * requests, which belong to no place. Sessions are kept in the order in which they were heard, because
 * each is over with its process.
 */

import { placeOf } from '../base/address.ts';

const REQUEST = 'request:';
const SESSION = 'session:';

interface Share {
  count: number;
  readonly sessions: Set<string>;
}

/** The place that a sender speaks for: of clients the name before `~`, which they have proved, of effects that of their actor. */
export function ownerOf(sender: string): string {
  if (sender.startsWith(REQUEST)) return REQUEST;
  const place = placeOf(sender);
  const end = place.search(/[~#]/);
  return end < 0 ? place : place.slice(0, end);
}

export class Shares {
  readonly #owners = new Map<string, Share>();

  /** Takes these senders, the one heard least recently first. */
  constructor(senders: Iterable<string>) {
    for (const sender of senders) this.add(sender);
  }

  countOf(owner: string): number {
    return this.#owners.get(owner)?.count ?? 0;
  }

  /** The session of an owner that was heard least recently. */
  oldestSession(owner: string): string | undefined {
    return this.#owners.get(owner)?.sessions.values().next().value;
  }

  add(sender: string): void {
    const owner = ownerOf(sender);
    const share = this.#owners.get(owner) ?? { count: 0, sessions: new Set() };
    this.#owners.set(owner, share);
    share.count += 1;
    if (sender.startsWith(SESSION)) share.sessions.add(sender);
  }

  heard(sender: string): void {
    if (!sender.startsWith(SESSION)) return;
    const sessions = this.#owners.get(ownerOf(sender))?.sessions;
    sessions?.delete(sender);
    sessions?.add(sender);
  }

  delete(sender: string): void {
    const owner = ownerOf(sender);
    const share = this.#owners.get(owner);
    if (share === undefined) return;
    share.count -= 1;
    share.sessions.delete(sender);
    if (share.count === 0) this.#owners.delete(owner);
  }
}
