/**
 * The simulated network of a cluster with real sockets in it: every frame of a program travels as
 * bytes, over a WebSocket connection on loopback, in simulated time.
 *
 * The simulated network still decides what arrives, and when: its delays, cuts and faults are those
 * of the script. At the moment at which a frame arrives there, its sender's socket sends it, and the
 * receiver is handed what comes out of its own socket: handshake, framing, limits and fragments are the
 * real ones, and so is what each has proved. Simulated time stands still until all has come out.
 * Peers that a test plays by hand have no socket, and neither has a sender that has died meanwhile:
 * what they say is handed over as it is.
 */

import { JOBS_ROLES } from '../../../programs/jobs/peer-roles.ts';
import type { PeerIdentity, Transport } from '../../../runtime/ports/transport.ts';
import { websocketTransport } from '../../../transports/websocket.ts';
import { SocketMember } from './socket-member.ts';

const SECRET = 'known to every node of a cluster under test';
const TOKEN = 'of-every-client';

/** Real seconds are long where simulated ones pass by the thousand. */
const LIMITS = {
  redialMinMs: 1,
  redialMaxMs: 1_000,
  handshakesPerSecond: 1_000_000,
  peerBytesPerSecond: 2 ** 40,
  clientBytesPerSecond: 2 ** 40,
} as const;

export interface Identities {
  identityOf(node: string): PeerIdentity | undefined;
  /** Played by a test: such a peer has no socket. */
  isByHand(node: string): boolean;
  expel(node: string, by: string, reason: string): void;
}

export class SocketNetwork {
  readonly #network: { join(node: string): Transport };
  readonly #identities: Identities;
  readonly #members = new Map<string, SocketMember>();
  /** Where each node has listened: when it comes back it does so there again, and is dialled there. */
  readonly #urls = new Map<string, string>();
  /** Settles when the life before has closed its sockets. */
  readonly #ended = new Map<string, Promise<void>>();
  #epoch = 0;
  #pending = 0;
  #carried = 0;

  constructor(network: { join(node: string): Transport }, identities: Identities) {
    this.#network = network;
    this.#identities = identities;
  }

  /** True while something is on its way through a socket, or a connection is being made or ended. */
  get isBusy(): boolean {
    return this.#pending > 0;
  }

  get underWay(): string {
    const known = [...this.#members.values()].flatMap(({ underWay }) => underWay);
    return known.length > 0 ? known.join(', ') : `${this.#pending} sockets that open or close`;
  }

  /** Frames that came out of a socket. */
  get carried(): number {
    return this.#carried;
  }

  join(node: string): Transport {
    const identity = this.#identities.identityOf(node);
    if (identity === undefined || this.#identities.isByHand(node)) return this.#network.join(node);
    const member: SocketMember = new SocketMember(
      node,
      this.#network.join(node),
      this.#socket(node, identity),
      {
        find: (peer) => this.#members.get(peer),
        hasSocket: (peer) => !this.#identities.isByHand(peer),
        identityOf: (peer) => this.#identities.identityOf(peer),
        // Clients dial and are not dialled: two of them never meet.
        meets: (peer) =>
          identity.role !== 'client' || this.#identities.identityOf(peer)?.role !== 'client',
        began: () => {
          this.#pending += 1;
        },
        ended: () => {
          this.#pending -= 1;
        },
        carried: () => {
          this.#carried += 1;
        },
        before: this.#ended.get(node),
        opened: () => {
          this.#members.set(node, member);
          if (member.url !== undefined) this.#urls.set(node, member.url);
        },
        closed: (ended) => {
          this.#ended.set(node, ended);
          if (this.#members.get(node) === member) this.#members.delete(node);
        },
        expelled: (peer, reason) => this.#identities.expel(peer, node, reason),
      },
    );
    return member;
  }

  #socket(node: string, { role, place, rights }: PeerIdentity) {
    this.#epoch += 1;
    const known = this.#urls.get(node);
    const port = known === undefined ? 0 : Number(new URL(known).port);
    return websocketTransport({
      node,
      role,
      roles: JOBS_ROLES,
      place,
      bootEpoch: this.#epoch,
      secret: SECRET,
      ...(rights.isClient ? { token: TOKEN } : { listen: { port } }),
      clientOf: (token, name) =>
        token === TOKEN ? { name: name.slice(0, name.indexOf('~')) } : undefined,
      peers: [...this.#urls.values()],
      limits: LIMITS,
    });
  }
}
