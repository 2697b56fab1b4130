/**
 * Claims that the two ends of a connection make about themselves in the handshake, as HTTP headers.
 *
 * A claim is only read here, strictly; whether it is true is for proof.ts.
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { PeerRole } from '../../runtime/ports/peer-role.ts';
import type { PeerIdentity, ProvedPeer } from '../../runtime/ports/transport.ts';

/** A claim as it travels. */
export interface Claim {
  readonly node: string;
  readonly role: string;
  readonly place: string;
  /** Rises with each start of the node. */
  readonly bootEpoch: number;
}

/** A claim of a role that is known here, with its rights. */
export interface KnownClaim extends Claim, ProvedPeer {}

/** Versions of the protocol between nodes that are spoken here: this one and, once there is one, the one before. */
export const VERSIONS = { min: 1, max: 1 } as const;
const PROTOCOL = 'escapement.';

export const HEADERS = {
  node: 'escapement-node',
  role: 'escapement-role',
  place: 'escapement-place',
  bootEpoch: 'escapement-boot-epoch',
  nonce: 'escapement-nonce',
  /** The nonce of the listener, given back by the caller. */
  challenge: 'escapement-challenge',
  proof: 'escapement-proof',
  version: 'escapement-version',
  /** The range that the listener speaks, when it speaks none that was offered. */
  versions: 'escapement-versions',
  reason: 'escapement-reason',
} as const;

/** `~` stands in names of clients only: what is before it is the name of their token. */
const NODE = /^[A-Za-z0-9._:~-]{1,128}$/;
const PLACE = /^[A-Za-z0-9._:-]{1,128}$/;
const NONCE = /^[A-Za-z0-9_-]{22,64}$/;
const NUMBER = /^(?:0|[1-9][0-9]{0,15})$/;

export function isNodeName(text: unknown): text is string {
  return typeof text === 'string' && NODE.test(text);
}

export function claimHeaders(claim: Claim): Record<string, string> {
  return {
    [HEADERS.node]: claim.node,
    [HEADERS.role]: claim.role,
    [HEADERS.place]: claim.place,
    [HEADERS.bootEpoch]: String(claim.bootEpoch),
  };
}

/** Reads a claim of one of the roles; undefined when a header is missing or is not what it should be. */
export function readClaim(
  headers: IncomingHttpHeaders,
  roles: readonly PeerRole[],
): KnownClaim | undefined {
  const node = headers[HEADERS.node];
  const place = headers[HEADERS.place];
  const rights = roles.find(({ name }) => name === headers[HEADERS.role]);
  const bootEpoch = headers[HEADERS.bootEpoch];
  if (!isNodeName(node) || rights === undefined) return undefined;
  if (typeof place !== 'string' || !(place === node ? NODE : PLACE).test(place)) return undefined;
  if (typeof bootEpoch !== 'string' || !NUMBER.test(bootEpoch)) return undefined;
  const epoch = Number(bootEpoch);
  if (!Number.isSafeInteger(epoch)) return undefined;
  return { node, role: rights.name, place, rights, bootEpoch: epoch };
}

/** Identity that a claim gives once it is proved. */
export function identityOf({ role, place, rights }: KnownClaim): PeerIdentity {
  return { role, place, rights };
}

export function readNonce(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && NONCE.test(value) ? value : undefined;
}

/** Subprotocols to offer, the newest first. */
export function offeredProtocols(): string[] {
  const count = VERSIONS.max - VERSIONS.min + 1;
  return Array.from({ length: count }, (_, index) => protocolOf(VERSIONS.max - index));
}

export function protocolOf(version: number): string {
  return `${PROTOCOL}${version}`;
}

/** The greatest version offered that is spoken here; `none` of ours, or not even `ours`. */
export function chooseVersion(offer: string | undefined): number | 'none' | 'foreign' {
  const offered = (offer ?? '').split(',').map((name) => name.trim());
  const ours = offered.filter((name) => /^escapement\.[1-9][0-9]{0,5}$/.test(name));
  if (ours.length === 0) return 'foreign';
  const spoken = ours
    .map((name) => Number(name.slice(PROTOCOL.length)))
    .filter((version) => version >= VERSIONS.min && version <= VERSIONS.max);
  return spoken.length === 0 ? 'none' : Math.max(...spoken);
}
