/**
 * Origins and hosts: the names by which a server may be called, and the pages that may call it.
 *
 * A page of another site that makes a browser ask us (DNS rebinding, cross-site requests) is
 * refused by its Host or its Origin; a page of another port of the same machine is one of another site.
 * No answer ever allows another origin.
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
    if (headers.origin === undefined || this.#isOwn(headers.origin, headers.host, socket)) return;
    throw new HttpRefusal('forbidden', 'Pages of other sites have no access.');
  }

  /**
   * True for a page that this server was called by the same name for, or that is of one of the names
   * given.
   */
  #isOwn(origin: string, host: string | undefined, socket: IncomingMessage['socket']): boolean {
    const [, scheme, from] = /^(https?):\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? [];
    if (scheme === undefined || from === undefined) return false;
    const page = withoutDefault(from, scheme);
    if (this.#hosts.has(page)) return true;
    // A proxy that ends TLS in front of us may speak plainly to us, but goes by a name that was given.
    const isGiven = this.#hosts.has(nameIn(page));
    const ownScheme = 'encrypted' in socket ? 'https' : 'http';
    return (
      (isGiven || scheme === ownScheme) &&
      page === withoutDefault((host ?? '').toLowerCase(), isGiven ? scheme : ownScheme)
    );
  }

  #knows(host: string | undefined, localAddress: string | undefined): boolean {
    if (host === undefined) return false;
    const whole = host.toLowerCase();
    const name = nameIn(whole);
    if (this.#hosts.has(whole) || this.#hosts.has(name)) return true;
    return this.#hasOwn && (LOOPBACK_NAMES.has(name) || name === nameOf(localAddress));
  }
}

const nameIn = (host: string): string => host.replace(/:\d{1,5}$/, '');

/** The port that goes without saying is not said. */
function withoutDefault(host: string, scheme: string): string {
  return host.replace(scheme === 'https' ? /:443$/ : /:80$/, '');
}

function nameOf(address: string | undefined): string | undefined {
  const plain = address?.replace(/^::ffff:/, '').toLowerCase();
  return plain?.includes(':') === true ? `[${plain}]` : plain;
}
