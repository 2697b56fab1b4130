/**
 * One node of a cluster on sockets: the simulated network tells it when, its socket tells it what.
 *
 * Guarantees: a peer is up for the program when it is up in the simulation and its connection is there,
 * and not before; a frame is handed over once, in the order of the simulation. Whatever is still
 * on its way when one of the two goes is lost, as on any wire, and nobody waits for it.
 */

import type {
  PeerIdentity,
  Transport,
  TransportListener,
} from '../../../runtime/ports/transport.ts';
import type { WebSocketTransport } from '../../../transports/websocket.ts';

export interface SocketSurroundings {
  find(peer: string): SocketMember | undefined;
  hasSocket(peer: string): boolean;
  /** Of peers without a socket. */
  identityOf(peer: string): PeerIdentity | undefined;
  meets(peer: string): boolean;
  /** Something takes real time; `ended` once for each. */
  began(): void;
  ended(): void;
  carried(): void;
  /** The life before, if its sockets may still be open. */
  readonly before: Promise<void> | undefined;
  opened(): void;
  closed(ended: Promise<void>): void;
  expelled(peer: string, reason: string): void;
}

export class SocketMember implements Transport {
  readonly #node: string;
  readonly #simulated: Transport;
  readonly #socket: WebSocketTransport;
  readonly #surroundings: SocketSurroundings;
  /** Up in the simulation, and waiting for their connection. */
  readonly #awaited = new Set<string>();
  readonly #up = new Set<string>();
  readonly #proved = new Map<string, PeerIdentity | undefined>();
  /** Frames on their way here, by sender. */
  readonly #incoming = new Map<string, number>();
  #listener: TransportListener | undefined;
  #stopping: Promise<void> | undefined;

  constructor(
    node: string,
    simulated: Transport,
    socket: WebSocketTransport,
    surroundings: SocketSurroundings,
  ) {
    this.#node = node;
    this.#simulated = simulated;
    this.#socket = socket;
    this.#surroundings = surroundings;
  }

  get url(): string | undefined {
    return this.#socket.url;
  }

  /** What has begun here and has not ended, in words. */
  get underWay(): string[] {
    const frames = [...this.#incoming].filter(([, count]) => count > 0);
    return [
      ...[...this.#awaited].map((peer) => `a connection of ${this.#node} and ${peer}`),
      ...frames.map(([peer, count]) => `${count} frames from ${peer} to ${this.#node}`),
    ];
  }

  async start(listener: TransportListener): Promise<void> {
    this.#listener = listener;
    const { began, before, ended, opened } = this.#surroundings;
    began();
    await before;
    await this.#socket.start({
      peerUp: (peer, identity) => {
        this.#proved.set(peer, identity);
        if (this.#awaited.has(peer)) this.#tellUp(peer);
      },
      peerDown: (peer) => {
        this.#proved.delete(peer);
        this.#forget(peer);
      },
      frameReceived: (peer, frame) => this.#cameOut(peer, frame),
    });
    ended();
    if (this.#stopping !== undefined) return;
    opened();
    await this.#simulated.start({
      peerUp: (peer) => this.#simulatedUp(peer),
      peerDown: (peer) => this.#simulatedDown(peer),
      frameReceived: (peer, frame) => this.#arrived(peer, frame),
    });
  }

  send(peer: string, frame: string): boolean {
    return this.#up.has(peer) && this.#simulated.send(peer, frame);
  }

  peers(): readonly string[] {
    return this.#simulated.peers().filter((peer) => this.#up.has(peer));
  }

  frameBytesMax(peer: string): number {
    return this.#socket.frameBytesMax?.(peer) ?? Number.POSITIVE_INFINITY;
  }

  expel(peer: string, reason: string): void {
    this.#surroundings.expelled(peer, reason);
    this.#socket.expel?.(peer, reason);
    this.#simulatedDown(peer);
  }

  stop(): Promise<void> {
    if (this.#stopping === undefined) {
      this.#stopping = this.#stop();
      this.#surroundings.closed(this.#stopping);
    }
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { began, ended } = this.#surroundings;
    this.#listener = undefined;
    for (const peer of [...this.#awaited]) this.#noLongerAwaited(peer);
    for (const peer of [...this.#incoming.keys()]) this.#forget(peer);
    began();
    await this.#simulated.stop();
    await this.#socket.stop();
    ended();
  }

  /** What has arrived in the simulation sets out for real. False when there is no way. */
  carry(to: SocketMember, frame: string): boolean {
    if (!this.#proved.has(to.#node) || !to.#proved.has(this.#node)) return false;
    if (!this.#socket.send(to.#node, frame)) return false;
    to.#incoming.set(this.#node, (to.#incoming.get(this.#node) ?? 0) + 1);
    this.#surroundings.began();
    return true;
  }

  #arrived(peer: string, frame: string): void {
    if (!this.#up.has(peer)) return;
    if (this.#surroundings.find(peer)?.carry(this, frame) === true) return;
    this.#listener?.frameReceived(peer, frame);
  }

  #cameOut(peer: string, frame: string): void {
    const { ended, carried } = this.#surroundings;
    const left = (this.#incoming.get(peer) ?? 0) - 1;
    if (left < 0) return;
    this.#incoming.set(peer, left);
    carried();
    if (this.#up.has(peer)) this.#listener?.frameReceived(peer, frame);
    ended();
  }

  /** What is on its way from there will not come. */
  #forget(peer: string): void {
    for (let left = this.#incoming.get(peer) ?? 0; left > 0; left -= 1) this.#surroundings.ended();
    this.#incoming.delete(peer);
  }

  #simulatedUp(peer: string): void {
    const { hasSocket, identityOf, meets, began } = this.#surroundings;
    if (!hasSocket(peer)) {
      this.#up.add(peer);
      this.#listener?.peerUp(peer, identityOf(peer));
      return;
    }
    if (!meets(peer)) return;
    this.#awaited.add(peer);
    began();
    if (this.#proved.has(peer)) this.#tellUp(peer);
  }

  #tellUp(peer: string): void {
    this.#up.add(peer);
    this.#listener?.peerUp(peer, this.#proved.get(peer));
    this.#noLongerAwaited(peer);
  }

  #simulatedDown(peer: string): void {
    if (this.#awaited.has(peer)) this.#noLongerAwaited(peer);
    if (this.#up.delete(peer)) this.#listener?.peerDown(peer);
  }

  #noLongerAwaited(peer: string): void {
    if (this.#awaited.delete(peer)) this.#surroundings.ended();
  }
}
