/**
 * One node of a simulated network: its transport, and what it has been told.
 *
 * Guarantees: what a node hears comes in the order in which it arrived, also what waited while
 * the node was frozen, and nothing is told to one that has not started or has stopped. Which
 * links there are and how long anything takes is the network's business.
 */

import type { Transport, TransportListener } from '../runtime/transport.ts';

/** A connection of two nodes, from when it is made until one of them stops or it is cut. */
export interface Link {
  readonly members: readonly [NetworkMember, NetworkMember];
  /** It was cut: what is in flight is lost. */
  isBroken: boolean;
  /** One side has stopped: nothing new can be sent. */
  isEnded: boolean;
}

/** What a node needs of its network. */
export interface MemberNetwork {
  started(): void;
  stopped(): void;
  send(link: Link, frame: string): void;
  /** In a task of its own, at the present moment. */
  soon(task: () => void): void;
}

export class NetworkMember implements Transport {
  readonly node: string;
  readonly #network: MemberNetwork;
  /** The links this node was told of, by peer. */
  readonly #links = new Map<string, Link>();
  #listener: TransportListener | undefined;
  #isStopped = false;
  /** What a frozen node has not heard yet. */
  #held: Array<() => void> | undefined;

  constructor(node: string, network: MemberNetwork) {
    this.node = node;
    this.#network = network;
  }

  get isRunning(): boolean {
    return this.#listener !== undefined && !this.#isStopped;
  }

  async start(listener: TransportListener): Promise<void> {
    if (this.#listener !== undefined || this.#isStopped)
      throw new Error(`The transport of node "${this.node}" can be started once.`);
    this.#listener = listener;
    this.#network.started();
  }

  send(node: string, frame: string): boolean {
    const link = this.#links.get(node);
    if (link === undefined || !this.isRunning) return false;
    this.#network.send(link, frame);
    return true;
  }

  peers(): readonly string[] {
    return this.isRunning ? [...this.#links.keys()] : [];
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    // First, so that nothing is told to this node any more.
    this.#isStopped = true;
    this.#links.clear();
    this.#network.stopped();
  }

  freeze(): void {
    this.#held ??= [];
  }

  thaw(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const hear of held) this.#network.soon(() => this.#hear(hear));
  }

  hearUp(peer: string, link: Link): void {
    this.#hear((listener) => {
      if (link.isBroken || link.isEnded) return;
      this.#links.set(peer, link);
      listener.peerUp(peer);
    });
  }

  hearFrame(peer: string, frame: string, link: Link): void {
    this.#hear((listener) => {
      if (this.#links.get(peer) === link && !link.isBroken) listener.frameReceived(peer, frame);
    });
  }

  hearDown(peer: string, link: Link): void {
    this.#hear((listener) => {
      if (this.#links.get(peer) !== link) return;
      this.#links.delete(peer);
      listener.peerDown(peer);
    });
  }

  /** The peer is connected no more, and this node may not have been told. */
  missEnded(peer: string): void {
    const link = this.#links.get(peer);
    if (link === undefined || !(link.isBroken || link.isEnded)) return;
    this.#network.soon(() => this.hearDown(peer, link));
  }

  #hear(hear: (listener: TransportListener) => void): void {
    if (this.#held !== undefined) this.#held.push(() => this.#tell(hear));
    else this.#tell(hear);
  }

  #tell(hear: (listener: TransportListener) => void): void {
    if (this.#listener !== undefined && !this.#isStopped) hear(this.#listener);
  }
}
