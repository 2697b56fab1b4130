/**
 * Listener of its own for an inspector: on this machine at 127.0.0.1 and ::1, at the first free port from 7878.
 *
 * Off this machine it listens only with TLS and a token, and is refused otherwise before anything is bound.
 */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpServer } from '../http/server.ts';
import { RuntimeError } from '../runtime/base/errors.ts';
import type { Logger } from '../runtime/base/limits.ts';
import type { InspectorHandler } from './mount.ts';
import type { InspectorOptions } from './options.ts';

const INSPECTOR_PORT = 7_878;
/** Ports that are tried, one after another. */
const PORTS_TRIED = 20;
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

export interface InspectorListener {
  /** Such as `http://127.0.0.1:7878`. */
  readonly url: string;
  close(): Promise<void>;
}

/** `keepsAlive`: the process lasts as long as it listens. @throws {RuntimeError} OPTION_INVALID of an address off this machine without TLS and token, or no free port */
export async function listenFor(
  handler: InspectorHandler,
  { host, port = INSPECTOR_PORT, tls, token, authorize }: InspectorOptions,
  logger: Logger,
  keepsAlive = false,
): Promise<InspectorListener> {
  checkAddress(host, port, tls !== undefined, token !== undefined || authorize !== undefined);
  const hosts = host === undefined || host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
  const [first = '127.0.0.1', second] = hosts;
  const options = tls === undefined ? {} : { tls };
  for (let tried = 0; tried < PORTS_TRIED; tried += 1) {
    const wanted = port === 0 ? 0 : port + tried;
    if (wanted > 65_535) break;
    const server = createHttpServer(handler, { ...options, logger }) as Server;
    if (!(await isBound(server, first, wanted))) continue;
    const servers = [server];
    const { port: bound } = server.address() as AddressInfo;
    if (second !== undefined) {
      const other = createHttpServer(handler, { ...options, logger }) as Server;
      // A machine without IPv6 has no ::1.
      if (await isBound(other, second, bound)) servers.push(other);
    }
    if (!keepsAlive) for (const each of servers) each.unref();
    const name = first.includes(':') ? `[${first}]` : first;
    const url = `${tls === undefined ? 'http' : 'https'}://${name}:${bound}`;
    return { url, close: () => closed(handler, servers) };
  }
  const last = port === 0 ? 0 : Math.min(65_535, port + PORTS_TRIED - 1);
  throw new RuntimeError(
    'OPTION_INVALID',
    `The inspector found no free port from ${port} to ${last} on ${first}. Name another one by "port".`,
  );
}

/** @throws {RuntimeError} OPTION_INVALID */
function checkAddress(
  host: string | undefined,
  port: number,
  hasTls: boolean,
  hasToken: boolean,
): void {
  if (!Number.isSafeInteger(port) || port < 0 || port > 65_535)
    throw new RuntimeError(
      'OPTION_INVALID',
      `"port" of an inspector is a whole number from 0 to 65,535, got ${port}.`,
    );
  if (host === undefined || LOOPBACK.has(host) || (hasTls && hasToken)) return;
  const what = `An inspector listens on "${host}" only with "tls" and "token": it shows and commands everything here.`;
  throw new RuntimeError('OPTION_INVALID', what);
}

function isBound(server: Server, host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(error.code ?? ''))
        resolve(false);
      else reject(error);
    };
    server.once('error', failed);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener('error', failed);
      resolve(true);
    });
  });
}

async function closed(handler: InspectorHandler, servers: readonly Server[]): Promise<void> {
  handler.close();
  await Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    ),
  );
}
