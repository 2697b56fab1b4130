/**
 * Conduct of one connected peer: the identity it has proved, its faults, the frame it has begun, how much it
 * sends.
 *
 * One malformed message may be an accident; many within the window are not. A peer without an identity is
 * never judged: in one process, and in simulations, noise is what is being tested.
 */

import { excerpt, RuntimeError } from '../base/errors.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import { Bucket } from '../base/token-bucket.ts';
import type { Clock } from '../ports/clock.ts';
import type { PeerIdentity, ProvedPeer } from '../ports/transport.ts';
import { Assembly, isFragment } from './fragments.ts';
import { type JsonBounds, scanJson } from './json-limits.ts';
import { boundsOf, messageBytesOf } from './peer-authority.ts';

export interface ConductServices {
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
}

export class PeerConduct {
  readonly node: string;
  readonly proved: ProvedPeer | undefined;
  /** True once nothing of the peer counts any more, including what is still under way. */
  isExpelled = false;
  readonly #clock: Clock;
  readonly #limits: RuntimeLimits;
  readonly #bounds: JsonBounds | undefined;
  readonly #messageBytesMax: number;
  readonly #assembly: Assembly;
  readonly #allowance: Bucket | undefined;
  /** Times of its faults within the window. */
  #faults: number[] = [];

  /** `stalled` is told when a frame that was begun does not go on. */
  constructor(
    node: string,
    identity: PeerIdentity | undefined,
    { clock, limits }: ConductServices,
    stalled: (conduct: PeerConduct) => void,
  ) {
    this.node = node;
    this.proved = identity && { ...identity, node };
    this.#clock = clock;
    this.#limits = limits;
    this.#bounds = identity && boundsOf(identity, limits);
    this.#messageBytesMax = messageBytesOf(identity, limits);
    this.#allowance = identity && allowanceOf(identity, clock, limits);
    this.#assembly = new Assembly(clock, limits.pieceWaitMs, () => stalled(this));
  }

  /**
   * The frame that is whole with this text, within the bounds of the peer's role.
   *
   * @throws {RuntimeError} ENVELOPE_MALFORMED
   */
  open(text: string): string | undefined {
    const frame = isFragment(text) ? this.#assembly.add(text, this.#messageBytesMax) : text;
    if (frame !== undefined && this.#bounds !== undefined) scanJson(frame, this.#bounds);
    return frame;
  }

  /** The frame it had begun, when what comes now does not go on with it. */
  interrupted(text: string): RuntimeError | undefined {
    return this.#assembly.isUnfinished && !isFragment(text)
      ? this.#assembly.interrupt()
      : undefined;
  }

  /** Notes messages that have come, however they were batched. @throws {RuntimeError} PEER_FLOODED */
  spend(messages: number): void {
    if (this.#allowance === undefined || this.#allowance.take(messages)) return;
    const what = `The ${this.proved?.role} ${excerpt(this.node)} sends more messages than it may.`;
    throw new RuntimeError('PEER_FLOODED', what);
  }

  /** Notes something malformed. True when that was once too often. */
  isTooFaulty(): boolean {
    if (this.proved === undefined) return false;
    const { peerFaultsMax, peerFaultsWindowMs } = this.#limits;
    const now = this.#clock.now();
    this.#faults = this.#faults.filter((at) => now - at < peerFaultsWindowMs);
    this.#faults.push(now);
    return this.#faults.length >= peerFaultsMax;
  }

  /** The connection is gone, or will be. */
  end(): void {
    this.isExpelled = true;
    this.#assembly.drop();
  }
}

const MINUTE_MS = 60_000;

function allowanceOf({ rights }: PeerIdentity, clock: Clock, limits: RuntimeLimits): Bucket {
  return rights.isClient
    ? new Bucket(clock, limits.clientMessagesPerMinute, MINUTE_MS)
    : new Bucket(clock, limits.peerMessagesPerSecond);
}
