/**
 * Proofs by which two nodes show each other that both know the secret, without saying it.
 *
 * Each end signs all that was said in the handshake: the version, who both are, their boot epochs
 * and a nonce of each. Guarantees: a proof is good for one pair of nodes, one direction and one
 * pair of nonces; neither end can be made to answer its own question. The id of the connection
 * comes from the same, so that only a node that knows the secret knows it.
 *
 * Without a secret the same is done with an empty one. That proves nothing, except that neither end
 * has a secret that the other lacks.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Claim } from './claim.ts';
import { LINK_ID_LENGTH } from './frame-text.ts';

/** All that was said in one handshake. */
export interface Transcript<TClaim extends Claim = Claim> {
  readonly version: number;
  readonly caller: TClaim;
  readonly listener: TClaim;
  readonly callerNonce: string;
  readonly listenerNonce: string;
}

/**
 * `later`: the listener, when it refuses the caller because of a later start of it. `namesake`: the
 * listener, when it has the caller's name and was started before.
 */
export type Side = 'caller' | 'listener' | 'later' | 'namesake';

export function proofOf(side: Side, secret: string, transcript: Transcript): string {
  return sign(side, secret, transcript);
}

export function isProof(
  shown: string | string[] | undefined,
  side: Side,
  secret: string,
  transcript: Transcript,
): boolean {
  const expected = Buffer.from(sign(side, secret, transcript));
  const given = Buffer.from(typeof shown === 'string' ? shown : '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export function linkIdOf(secret: string, transcript: Transcript): string {
  return sign('link', secret, transcript).slice(0, LINK_ID_LENGTH);
}

function sign(what: Side | 'link', secret: string, transcript: Transcript): string {
  const { version, caller, listener, callerNonce, listenerNonce } = transcript;
  const said = [
    what,
    version,
    ...wordsOf(caller),
    ...wordsOf(listener),
    callerNonce,
    listenerNonce,
  ];
  return createHmac('sha256', secret).update(JSON.stringify(said)).digest('base64url');
}

function wordsOf({ node, role, place, bootEpoch }: Claim): readonly (string | number)[] {
  return [node, role, place, bootEpoch];
}
