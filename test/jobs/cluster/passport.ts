/**
 * Passports: what the nodes of a cluster have proved to be, by their names.
 *
 * So every scenario also shows that honest nodes are never taken for others: one that is sent away
 * makes the cluster's end fail. Peers that a test plays by hand prove what the test says, or nothing.
 */

import { type JobsRole, jobsPeer } from '../../../programs/jobs/peer-roles.ts';
import type { PeerIdentity, Transport } from '../../../runtime/ports/transport.ts';
import { provingTransport } from '../../delivery/proving-transport.ts';
import { placeOfNode } from './plan.ts';
import { SocketNetwork } from './socket-network.ts';

export interface Expulsion {
  readonly node: string;
  readonly by: string;
  readonly reason: string;
}

export class Passport {
  readonly expelled: Expulsion[] = [];
  /** Set where frames travel over real sockets. */
  readonly sockets: SocketNetwork | undefined;
  readonly #network: { join(node: string): Transport };
  readonly #byHand = new Map<string, PeerIdentity | undefined>();

  constructor(network: { join(node: string): Transport }, isOverSockets: boolean) {
    this.#network = network;
    const identities = {
      identityOf: (node: string) => this.identityOf(node),
      isByHand: (node: string) => this.#byHand.has(node),
      expel: (node: string, by: string, reason: string) => this.#expel(node, by, reason),
    };
    this.sockets = isOverSockets ? new SocketNetwork(network, identities) : undefined;
  }

  join(node: string): Transport {
    if (this.sockets !== undefined) return this.sockets.join(node);
    return provingTransport(this.#network.join(node), {
      identityOf: (peer) => this.identityOf(peer),
      expelled: (peer, reason) => this.#expel(peer, node, reason),
    });
  }

  /** Names a peer that is played by hand. */
  admit(node: string, identity: PeerIdentity | undefined): void {
    this.#byHand.set(node, identity);
  }

  /** @throws {Error} when a program of the cluster was sent away. */
  checkManners(): void {
    const honest = this.expelled.find(({ node }) => !this.#byHand.has(node));
    if (honest !== undefined) throw new Error(`Sent away: ${JSON.stringify(honest)}.`);
  }

  #expel(node: string, by: string, reason: string): void {
    this.expelled.push({ node, by, reason });
  }

  /** Who a node proves to be. */
  identityOf(node: string): PeerIdentity | undefined {
    if (this.#byHand.has(node)) return this.#byHand.get(node);
    return jobsPeer(roleOfNode(node), placeOfNode(node));
  }
}

/** Clients are called whatever they like, with a number behind a tilde: `modest~2`. Other names say the role. */
function roleOfNode(node: string): JobsRole {
  if (/~\d+$/.test(node)) return 'client';
  const [, said] = /(?:^|\.)(gate|manager|worker|client)-\d+$/.exec(node) ?? [];
  return (said as JobsRole | undefined) ?? 'node';
}
