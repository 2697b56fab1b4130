/**
 * Certificates: the options of TLS that ask for them, and the identity that a certificate gives its holder.
 *
 * The identity is a URI among the alternative names, `escapement:role/place/node`; a certificate has one for
 * each thing that its holder may be. A certificate without any gives a name alone, as common name or DNS
 * name: then the holder is what the name says, `A.boss-1` a boss of A where roles that are in names have one
 * called `boss`, and any other a node that hosts nothing but what is called like itself. Between nodes that show certificates to
 * each other this identity counts, not the host name under which a node was dialled.
 */

import type { Socket } from 'node:net';
import {
  checkServerIdentity,
  createSecureContext,
  type PeerCertificate,
  type SecureContextOptions,
  TLSSocket,
} from 'node:tls';
import type { PeerRole } from '../../runtime/ports/peer-role.ts';
import type { ProvedPeer } from '../../runtime/ports/transport.ts';
import type { WebSocketTls } from './options.ts';

const VERSION_MIN = 'TLSv1.2';
const SCHEME = 'escapement:';
/** Names that may say a place and a role. */
const ROLE_IN_NAME = /^(.+)\.([^.-]+)-[^.]*$/;

/** Options of a listener: `https.createServer`. */
export function listenTls(tls: WebSocketTls, isMutual: boolean): SecureContextOptions {
  const asked = { requestCert: isMutual, rejectUnauthorized: isMutual };
  return { ...contextOf(tls), ...asked };
}

/**
 * Options of a caller: `https.request`. A client shows its token at once, so it looks at who is there
 * before.
 */
export function dialTls(
  tls: WebSocketTls | undefined,
  isMutual: boolean,
  isClient: boolean,
  roles: readonly PeerRole[],
): SecureContextOptions {
  if (tls === undefined) return { minVersion: VERSION_MIN };
  const check = isClient ? checkService(roles) : () => undefined;
  const named = isMutual ? { checkServerIdentity: check } : {};
  return { ...contextOf(tls), ...named };
}

/** @throws {Error} what OpenSSL says of PEM that is none, or of a key that belongs to another certificate. */
export function checkPem(tls: WebSocketTls): void {
  createSecureContext(contextOf(tls));
}

/** True when the other end has shown a certificate that TLS accepted and that says it is this peer. */
export function isCertified(socket: Socket, peer: ProvedPeer, roles: readonly PeerRole[]): boolean {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return false;
  return saysOf(socket.getPeerCertificate(), peer, roles);
}

function saysOf(
  certificate: PeerCertificate,
  { node, role, place, rights }: ProvedPeer,
  roles: readonly PeerRole[],
): boolean {
  const said = identitiesIn(certificate);
  if (said.length > 0) return said.includes(`${role}/${place}/${node}`);
  // A holder of several common names, which are a list here, is nobody in particular.
  const isNamed = certificate.subject?.CN === node || namesIn(certificate).includes(`DNS:${node}`);
  if (!isNamed) return false;
  const named = inName(node, roles);
  if (named === undefined) return place === node;
  const isNamedPlace = rights.hostsPlace && place === named.place;
  return role === named.role.name && (place === node || isNamedPlace);
}

/** A certificate of a role that serves clients; one that says a name alone is that of the host dialled. */
function checkService(
  roles: readonly PeerRole[],
): (host: string, certificate: PeerCertificate) => Error | undefined {
  const serving = roles.filter(({ servesClients }) => servesClients).map(({ name }) => name);
  return (host, certificate) => {
    const said = identitiesIn(certificate);
    if (said.some((identity) => serving.includes(identity.split('/', 1)[0] ?? '')))
      return undefined;
    const named = inName(String(certificate.subject?.CN), roles);
    if (said.length > 0 || named?.role.servesClients === false)
      return new Error(`its certificate is not that of a ${serving.join(' or a ')}`);
    return named === undefined ? checkServerIdentity(host, certificate) : undefined;
  };
}

/** The place and the role that a name says, where it says one that is in names. */
function inName(
  node: string,
  roles: readonly PeerRole[],
): { readonly place: string; readonly role: PeerRole } | undefined {
  const [, place, said] = ROLE_IN_NAME.exec(node) ?? [];
  const role = roles.find(({ name, isInNames }) => isInNames && name === said);
  return place === undefined || role === undefined ? undefined : { place, role };
}

function identitiesIn(certificate: PeerCertificate): string[] {
  const start = `URI:${SCHEME}`;
  return namesIn(certificate).flatMap((name) =>
    name.startsWith(start) ? [name.slice(start.length)] : [],
  );
}

function namesIn({ subjectaltname = '' }: PeerCertificate): string[] {
  return subjectaltname.split(', ');
}

function contextOf({ cert, key, ca }: WebSocketTls): SecureContextOptions {
  return {
    minVersion: VERSION_MIN,
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
  };
}
