/**
 * Challenges: the nonces that a listener asks its callers to sign.
 *
 * A nonce carries its own expiry and a seal that only this process can make, so asking keeps
 * nothing in memory however many ask. Guarantees: a nonce is good once, for one caller, for a short
 * time. Only nonces that were used are remembered, until they expire, and only a caller that knows
 * the secret can use one.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Claim } from './claim.ts';

const EXPIRY_BYTES = 6;
const CHANCE_BYTES = 12;
const SEAL_BYTES = 16;
/** Bytes of a nonce that a caller chooses itself. */
const NONCE_BYTES = 16;
/** Handshakes within the life of a nonce; more are refused, and asked to come again. */
const USED_MAX = 10_000;

export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64url');
}

export class Challenges {
  readonly #clock: Clock;
  readonly #lifeMs: number;
  readonly #key = randomBytes(32);
  /** Expiry of each used nonce, in the order in which they were used. */
  readonly #used = new Map<string, number>();

  constructor(clock: Clock, lifeMs: number) {
    this.#clock = clock;
    this.#lifeMs = lifeMs;
  }

  ask(caller: Claim, callerNonce: string): string {
    const head = Buffer.alloc(EXPIRY_BYTES + CHANCE_BYTES);
    head.writeUIntBE(this.#clock.now() + this.#lifeMs, 0, EXPIRY_BYTES);
    randomBytes(CHANCE_BYTES).copy(head, EXPIRY_BYTES);
    return Buffer.concat([head, this.#seal(head, caller, callerNonce)]).toString('base64url');
  }

  /** True for a nonce of ours, for this caller, that is neither used nor too old. */
  isGood(nonce: string, caller: Claim, callerNonce: string): boolean {
    const bytes = Buffer.from(nonce, 'base64url');
    if (bytes.length !== EXPIRY_BYTES + CHANCE_BYTES + SEAL_BYTES) return false;
    // Base64 has several spellings of the same bytes; only one of them would be remembered.
    if (bytes.toString('base64url') !== nonce) return false;
    const head = bytes.subarray(0, EXPIRY_BYTES + CHANCE_BYTES);
    const seal = bytes.subarray(EXPIRY_BYTES + CHANCE_BYTES);
    if (!timingSafeEqual(seal, this.#seal(head, caller, callerNonce))) return false;
    return head.readUIntBE(0, EXPIRY_BYTES) > this.#clock.now() && !this.#used.has(nonce);
  }

  /** Uses up a nonce, once the proof was good. False when too many were used lately. */
  use(nonce: string): boolean {
    const now = this.#clock.now();
    for (const [used, until] of this.#used) {
      if (until > now) break;
      this.#used.delete(used);
    }
    if (this.#used.size >= USED_MAX) return false;
    this.#used.set(nonce, now + this.#lifeMs);
    return true;
  }

  #seal(head: Buffer, caller: Claim, callerNonce: string): Buffer {
    const said = JSON.stringify([head.toString('hex'), caller.node, callerNonce]);
    return createHmac('sha256', this.#key).update(said).digest().subarray(0, SEAL_BYTES);
  }
}
