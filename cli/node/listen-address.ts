/**
 * Listen address `host:port`: `127.0.0.1:7400`, `[::1]:0`, `localhost:7400`.
 *
 * A host is always said: a listener without one would be open to every network there is.
 */

import { isIP } from 'node:net';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const PORT_MAX = 65_535;
const HOST_PATTERN = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

/** Nothing when the text is none. */
export function parseListen(text: string): ListenAddress | undefined {
  const match = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, inner, plain, digits] = match;
  const host = inner ?? (plain as string);
  const port = Number(digits);
  const isHost = inner === undefined ? HOST_PATTERN.test(host) : isIP(host) === 6;
  return isHost && port <= PORT_MAX ? { host, port } : undefined;
}

/**
 * True when a request can call a server by that: a listener's host, its port if it is for one port
 * only.
 */
export function isHost(text: string): boolean {
  return parseListen(text) !== undefined || parseListen(`${text}:0`) !== undefined;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** As it stands in a URL. */
export function hostAndPort({ host, port }: ListenAddress): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}
