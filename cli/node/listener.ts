/**
 * Listener of a node, its only one, for the HTTP API and the sockets of its peers.
 *
 * Guarantees: nothing is started before it is bound, so a port that cannot be had leaves nothing
 * behind; from its first moment on it answers probes. Slow and idle connections are ended, and
 * there is a limit to how many there are.
 */

import type { RequestListener, Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createHttpServer, type ServerCounts, serverCounts } from '../../http/server.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts';
import { hostAndPort, type ListenAddress } from './listen-address.ts';
import type { NodeTls } from './proofs.ts';
import type { NodeConfiguration } from './resolve.ts';

export interface Listener {
  readonly server: Server | TlsServer;
  /** Such as `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Sets the handler that answers from now on. */
  answerWith(handler: RequestListener): void;
  counts(): ServerCounts | undefined;
  close(): Promise<void>;
}

/** @throws {CommandFailure} when the address cannot be had. */
export async function openListener(
  address: ListenAddress,
  {
    tls,
    limits,
    logger,
  }: Pick<NodeConfiguration, 'tls'> & {
    readonly limits: Pick<NodeConfiguration['limits'], 'http'>;
    readonly logger: Logger;
  },
  first: RequestListener,
): Promise<Listener> {
  let current = first;
  const server = createHttpServer((request, response) => current(request, response), {
    limits: limits.http,
    logger,
    ...(tls !== undefined && { tls: tlsOptions(tls) }),
  });
  await bound(server, address);
  const { port } = server.address() as AddressInfo;
  const scheme = tls === undefined ? 'http' : 'https';
  return {
    server,
    url: `${scheme}://${hostAndPort({ host: address.host, port })}`,
    answerWith: (handler) => {
      current = handler;
    },
    counts: () => serverCounts(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function tlsOptions({ cert, key, ca, requireClientCertificate }: NodeTls) {
  return {
    cert,
    key,
    ...(ca !== undefined && { ca }),
    requestCert: requireClientCertificate,
    rejectUnauthorized: requireClientCertificate,
  };
}

const EXITS: Readonly<Record<string, readonly [ExitCode, string]>> = {
  EACCES: [EXIT.noPermission, 'this user may not listen there'],
  EPERM: [EXIT.noPermission, 'this user may not listen there'],
  EADDRINUSE: [EXIT.unavailable, 'another process listens there'],
  EADDRNOTAVAIL: [EXIT.unavailable, 'this machine has no such address'],
  ENOTFOUND: [EXIT.unavailable, 'there is no host of this name'],
  EAI_AGAIN: [EXIT.unavailable, 'the name of the host cannot be resolved now'],
};

function bound(server: Server | TlsServer, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const [exitCode, why] = EXITS[error.code ?? ''] ?? [EXIT.unavailable, error.message];
      const what = `Cannot listen on ${hostAndPort({ host, port })}: ${why}.`;
      reject(new CommandFailure(exitCode, what, { cause: error }));
    };
    server.once('error', failed);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener('error', failed);
      resolve();
    });
  });
}
