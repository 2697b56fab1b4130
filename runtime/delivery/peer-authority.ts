/**
 * Authority of a peer that has proved who it is: what it may say, and for whom.
 *
 * Such a peer speaks for the actors of its own place and for the code of its own node, and for nobody else;
 * under names of requests, which belong to no place, only where its role repeats requests. It claims no other
 * place, and has answers sent nowhere else. A client only asks, and only those kinds that are open to
 * clients. What it reads from outside is said by its role, as its program has declared it. Peers of a transport
 * that knows nothing of identities are not checked: there all nodes trust each other. Which senders an actor
 * accepts is decided later, by the `admit` of its kind.
 */

import { placeOf } from '../base/address.ts';
import { excerpt, RuntimeError } from '../base/errors.ts';
import { FENCE_MAX, isFence } from '../base/fence.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import { REPLY_EVENT } from '../machine.ts';
import type { PeerBounds } from '../ports/peer-role.ts';
import { isHostOf, type PeerIdentity, type ProvedPeer } from '../ports/transport.ts';
import { type Envelope, FETCH_EVENT, INSPECT_QUESTION, type Receipt } from './envelope.ts';
import type { Hello } from './frame.ts';
import type { JsonBounds } from './json-limits.ts';

/** Prefix of the names that requests are sent under, see `Calls.request`: they belong to no place. */
const REQUEST = 'request:';

/** An event may be 32 levels deep and lies four levels deep in its frame, as one of a batch. */
const FRAME_DEPTH_MAX = 36;
const KEYS_MAX = 1_000;
const UNBOUNDED: PeerBounds = {
  partsMax: Number.POSITIVE_INFINITY,
  itemsMax: Number.POSITIVE_INFINITY,
};

/** Bounds of a frame of such a peer, checked before it is parsed. */
export function boundsOf({ rights: { bounds } }: PeerIdentity, limits: RuntimeLimits): JsonBounds {
  const { partsMax, itemsMax, payloadKeys } = bounds ?? UNBOUNDED;
  const { payloadLengthMax: payloadMax, textLengthMax } = limits;
  const textMax = payloadKeys === undefined ? payloadMax : textLengthMax;
  return {
    depthMax: FRAME_DEPTH_MAX,
    keysMax: KEYS_MAX,
    partsMax,
    itemsMax,
    textMax: bounds === undefined ? Number.POSITIVE_INFINITY : textMax,
    payloadMax,
    payloadKeys: new Set(payloadKeys),
  };
}

/** Bytes of the largest message of such a peer. */
export function messageBytesOf(peer: PeerIdentity | undefined, limits: RuntimeLimits): number {
  return peer?.rights.isClient ? limits.clientMessageBytesMax : limits.messageBytesMax;
}

/** Fences known of the places that a hello speaks of. */
export interface KnownFences {
  /** The place of this node. */
  readonly place: string;
  /** Distance that a claim may be above the known fence, at most. */
  readonly stepMax: number;
  /** The greatest fence known of a place, 0 where none is. */
  fenceOf(place: string): number;
}

/**
 * Checks the claims of a hello. Only a peer that may host a place claims it, and only such a peer says that
 * another one is outranked there: a host gives way to nobody else's word. No claim goes further than a step
 * above the known fence.
 *
 * @throws {RuntimeError} PEER_OVERSTEPPED
 */
export function checkHelloOf(peer: ProvedPeer, hello: Hello, known: KnownFences): void {
  if (hello.node !== peer.node) throw overstepped(peer, `calls itself ${excerpt(hello.node)}`);
  for (const [place, fence] of hello.places) {
    if (!isPlaceOf(peer, place)) throw overstepped(peer, `claims ${excerpt(place)}`);
    checkStep(peer, place, fence, known);
  }
  for (const [place, fence] of hello.outranked ?? []) {
    if (place !== known.place || !isHostOf(peer, place))
      throw overstepped(peer, `says that fence ${fence} of ${excerpt(place)} is known`);
    checkStep(peer, place, fence, known);
  }
}

/** Checks how far above the known fence a claim is. Of an unknown place any fence is the first. */
function checkStep(peer: ProvedPeer, place: string, fence: number, known: KnownFences): void {
  const before = known.fenceOf(place);
  const highest = before === 0 ? FENCE_MAX : before + known.stepMax;
  if (isFence(fence) && fence <= highest) return;
  throw overstepped(peer, `claims fence ${fence} of ${excerpt(place)}, where ${before} is known`);
}

/** Checks the claims of a peer that proves nothing. @throws {RuntimeError} ENVELOPE_MALFORMED */
export function checkFences({ places, outranked = [] }: Hello): void {
  for (const [place, fence] of [...places, ...outranked])
    if (!isFence(fence))
      throw new RuntimeError('ENVELOPE_MALFORMED', `${fence} is no fence of ${excerpt(place)}.`);
}

/** @throws {RuntimeError} PEER_OVERSTEPPED */
export function checkReceiptOf(peer: ProvedPeer, { to }: Receipt): void {
  if (!isPlaceOf(peer, placeOf(to))) throw overstepped(peer, `answers for ${excerpt(to)}`);
}

/** `isClosed`: the receiver's kind is not open to clients. @throws {RuntimeError} PEER_OVERSTEPPED */
export function checkEnvelopeOf(
  peer: ProvedPeer,
  { to, from, event }: Envelope,
  isClosed: (address: string) => boolean,
): void {
  const isRequest = from.startsWith(REQUEST) && !from.includes('@') && peer.rights.repeatsRequests;
  const isOwn = from.includes('@') && isPlaceOf(peer, placeOf(from));
  if (!isOwn && !isRequest) throw overstepped(peer, `speaks as ${excerpt(from)}`);
  const { replyTo } = event as { replyTo?: unknown };
  if (typeof replyTo === 'string' && !isPlaceOf(peer, placeOf(replyTo)))
    throw overstepped(peer, `has answers sent to ${excerpt(replyTo)}`);
  if (event.type === FETCH_EVENT && !mayRead(peer, event))
    throw overstepped(peer, `wants to read ${excerpt(to)}`);
  if (!peer.rights.isClient) return;
  if (event.type === REPLY_EVENT) throw overstepped(peer, 'answers what nobody asked it');
  if (isClosed(to)) throw overstepped(peer, `speaks to ${excerpt(to)}, which is not for clients`);
}

/** True if its role may read what it asks for. What an inspector shows is answered where one is on. */
export function mayRead({ rights: { reads } }: ProvedPeer, event: object): boolean {
  if (reads === 'actors') return true;
  return reads === 'inspector' && (event as { what?: unknown }).what === INSPECT_QUESTION;
}

/** True if the peer may speak for actors of that place. */
export function isPlaceOf(peer: ProvedPeer, name: string): boolean {
  return name === peer.node || isHostOf(peer, name);
}

function overstepped({ node, role }: ProvedPeer, what: string): RuntimeError {
  return new RuntimeError('PEER_OVERSTEPPED', `The ${role} ${excerpt(node)} ${what}.`);
}
