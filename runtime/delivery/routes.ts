/**
 * Routes: the node that takes what is sent to a place now.
 *
 * A node that stands by for its place knows its host, and sends there what is handed to it, as to
 * any other place. Where no host is known it keeps to itself, and says so.
 */

import { placeOf } from '../base/address.ts';
import { RuntimeError } from '../base/errors.ts';
import type { Peers } from './peers.ts';

export type Route = 'here' | { readonly node: string };

export interface RouteServices {
  readonly place: string;
  readonly peers: Pick<Peers, 'nodeOf'>;
  isHosting(): boolean;
}

export class Routes {
  readonly #services: RouteServices;

  constructor(services: RouteServices) {
    this.#services = services;
  }

  /** Undefined while nobody is known. */
  to(target: string): Route | undefined {
    const { place, peers, isHosting } = this.#services;
    if (target === place && isHosting()) return 'here';
    const node = peers.nodeOf(target);
    return node === undefined ? undefined : { node };
  }

  /** True of an actor of this place, unless another node is known to host it. */
  isHere(address: string): boolean {
    const target = placeOf(address);
    if (target !== this.#services.place) return false;
    const route = this.to(target);
    return route === undefined || route === 'here';
  }

  /** The other node that hosts a place, as far as is known. */
  hostOf(target: string): string | undefined {
    const route = this.to(target);
    return route === 'here' ? undefined : route?.node;
  }

  /** The node that takes a question to an address now; undefined for this one. @throws {RuntimeError} ASK_LOST */
  nodeOf(address: string): string | undefined {
    if (this.isHere(address)) return undefined;
    const place = placeOf(address);
    const node = this.hostOf(place);
    if (node !== undefined) return node;
    const what = `Nobody is known now who hosts "${place}". Ask again where asking twice does no harm.`;
    throw new RuntimeError('ASK_LOST', what, { address });
  }

  /** Refusal for another node that takes this one for the host. */
  notHosted(place: string): RuntimeError {
    const host = this.hostOf(place);
    const where = host === undefined ? '' : `; "${host}" does`;
    const what = `This node does not host "${place}" now${where}. Send again; the place may have moved.`;
    return new RuntimeError('NOT_HOSTED', what, { host });
  }

  /** Refusal for code that wants of this node what only the host has; `instead` reaches it there. */
  elsewhere(address: string, instead: string): RuntimeError {
    const host = this.hostOf(placeOf(address));
    const where = host === undefined ? '' : `, but by "${host}"`;
    const what = `${address} is not hosted by this node${where}; ${instead} reaches it on the node that does.`;
    return new RuntimeError('NOT_HOSTED', what, { address, host });
  }
}
