/**
 * By which names a server may be called, and from which pages.
 *
 * A page of another site that makes a browser ask us (DNS rebinding, cross-site requests) is
 * refused by its Host or its Origin. No answer ever allows another origin.
 */

import type { IncomingMessage } from 'node:http';
import { HttpRefusal } from './refusal.ts';

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

export class Origins {
  readonly #hosts: ReadonlySet<string>;
  readonly #hasOwn: boolean;

  /** `hosts`: names, with a port or for any. `hasOwn`: also those of loopback, and where the request arrived. */
  constructor(hosts: readonly string[], hasOwn: boolean) {
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
    this.#hasOwn = hasOwn;
  }

  /** @throws {HttpRefusal} wrongHost, forbidden */
  check({ headers, socket }: IncomingMessage): void {
    if (!this.#knows(headers.host, socket.localAddress))
      throw new HttpRefusal('wrongHost', 'This server is not called by that name.');
    const { origin } = headers;
    if (origin === undefined) return;
    const from = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
    if (!this.#knows(from, socket.localAddress))
      throw new HttpRefusal('forbidden', 'Pages of other sites have no access.');
  }

  #knows(host: string | undefined, localAddress: string | undefined): boolean {
    if (host === undefined) return false;
    const whole = host.toLowerCase();
    const name = whole.replace(/:\d{1,5}$/, '');
    if (this.#hosts.has(whole) || this.#hosts.has(name)) return true;
    return this.#hasOwn && (LOOPBACK_NAMES.has(name) || name === nameOf(localAddress));
  }
}

function nameOf(address: string | undefined): string | undefined {
  const plain = address?.replace(/^::ffff:/, '').toLowerCase();
  return plain?.includes(':') === true ? `[${plain}]` : plain;
}
