/**
 * Certificates: what TLS is told to ask for, and whose name one carries.
 *
 * Between nodes that show certificates to each other it is the name of the node that counts, not
 * the host name under which it was dialled.
 */

import type { Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions, TLSSocket } from 'node:tls';
import type { WebSocketTls } from './options.ts';

const VERSION_MIN = 'TLSv1.2';

/** For a listener: `https.createServer`. */
export function listenTls(tls: WebSocketTls, isMutual: boolean): SecureContextOptions {
  const asked = { requestCert: isMutual, rejectUnauthorized: isMutual };
  return { ...contextOf(tls), ...asked };
}

/** For a caller: `https.request`. */
export function dialTls(tls: WebSocketTls | undefined, isMutual: boolean): SecureContextOptions {
  if (tls === undefined) return { minVersion: VERSION_MIN };
  const named = isMutual ? { checkServerIdentity: () => undefined } : {};
  return { ...contextOf(tls), ...named };
}

/** @throws {Error} what OpenSSL says of PEM that is none, or of a key that belongs to another certificate. */
export function checkPem(tls: WebSocketTls): void {
  createSecureContext(contextOf(tls));
}

/** True when the other end has shown a certificate that TLS accepted and that names this node. */
export function isCertified(socket: Socket, node: string): boolean {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return false;
  const { subject, subjectaltname = '' } = socket.getPeerCertificate();
  // Who has several common names, which is a list here, is nobody in particular.
  if (subject?.CN === node) return true;
  return subjectaltname.split(', ').includes(`DNS:${node}`);
}

function contextOf({ cert, key, ca }: WebSocketTls): SecureContextOptions {
  return {
    minVersion: VERSION_MIN,
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
  };
}
