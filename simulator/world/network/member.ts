/**
 * One node of a simulated network: its transport, and what it has been told.
 *
 * Guarantees: what a node hears comes in the order in which it arrived, also what waited while
 * the node was frozen, and nothing is told to one that has not started or has stopped. Which
 * links there are and how long anything takes is the network's business.
 */

import type {
  PeerIdentity,
  Transport,
  TransportListener,
} from '../../../runtime/ports/transport.ts';
import type { NetworkWay } from './way.ts';

/** A connection of two nodes, from when it is made until one of them stops or it is cut. */
export interface Link {
  readonly members: readonly [NetworkMember, NetworkMember];
  /** From the first member to the second, and back. */
  readonly ways: readonly [NetworkWay, NetworkWay];
  /** It was cut: what is in flight is lost. */
  isBroken: boolean;
  /** One side has stopped: nothing new can be sent. */
  isEnded: boolean;
}

/** What a node needs of its network. */
export interface MemberNetwork {
  started(): void;
  stopped(): void;
  send(link: Link, frame: string, change: 'sent' | 'repeated'): void;
  /** In a task of its own, at the present moment. */
  soon(task: () => void): void;
  /** The link ends, and is not made again. */
  expel(link: Link): void;
}

export class NetworkMember implements Transport {
  readonly node: string;
  /** What it proves to others to be; nothing where nodes trust each other. */
  readonly identity: PeerIdentity | undefined;
  readonly #network: MemberNetwork;
  /** The links this node was told of, by peer. */
  readonly #links = new Map<string, Link>();
  #listener: TransportListener | undefined;
  #isStopped = false;
  #isFrozen = false;
  /** What the node has not heard yet, because it is frozen, or was until a moment ago. */
  #unheard: Hearing[] = [];

  constructor(node: string, network: MemberNetwork, identity?: PeerIdentity) {
    this.node = node;
    this.identity = identity;
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
    return this.#send(node, frame, 'sent');
  }

  /** As if the node had sent it, which has no part in it. */
  repeat(node: string, frame: string): boolean {
    return this.#send(node, frame, 'repeated');
  }

  #send(node: string, frame: string, change: 'sent' | 'repeated'): boolean {
    const link = this.#links.get(node);
    if (link === undefined || !this.isRunning) return false;
    this.#network.send(link, frame, change);
    return true;
  }

  /** Only of those that prove who they are is anybody sent away. */
  expel(node: string): void {
    const link = this.#links.get(node);
    if (link !== undefined) this.#network.expel(link);
  }

  peers(): readonly string[] {
    return this.isRunning ? [...this.#links.keys()] : [];
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    // First, so that nothing is told to this node any more.
    this.#isStopped = true;
    this.#isFrozen = false;
    this.#links.clear();
    const unheard = this.#unheard;
    this.#unheard = [];
    for (const hear of unheard) hear(undefined);
    this.#network.stopped();
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    for (let turn = 0; turn < this.#unheard.length; turn++) this.#hearSoon();
  }

  hearUp(peer: string, link: Link): void {
    this.#hear((listener) => {
      if (listener === undefined || link.isBroken || link.isEnded) return;
      this.#links.set(peer, link);
      listener.peerUp(peer, link.members.find(({ node }) => node === peer)?.identity);
    });
  }

  /** Over `link`, or over whatever link there is. `report` says whether the node was told. */
  hearFrame(
    peer: string,
    frame: string,
    link: Link | undefined,
    report: (change: 'delivered' | 'lost') => void,
  ): void {
    this.#hear((listener) => {
      const open = this.#links.get(peer);
      const isOpen = open !== undefined && !open.isBroken && (link === undefined || open === link);
      if (listener === undefined || !isOpen) {
        report('lost');
        return;
      }
      report('delivered');
      listener.frameReceived(peer, frame);
    });
  }

  hearDown(peer: string, link: Link): void {
    this.#hear((listener) => this.#missed(peer, link, listener));
  }

  /** The peer is connected no more, and this node may not have been told. */
  missEnded(peer: string): void {
    const link = this.#links.get(peer);
    if (link === undefined || !(link.isBroken || link.isEnded)) return;
    // What comes later at the same moment has to wait behind it.
    this.#unheard.push((listener) => this.#missed(peer, link, listener));
    if (!this.#isFrozen) this.#hearSoon();
  }

  #missed(peer: string, link: Link, listener: TransportListener | undefined): void {
    if (listener === undefined || this.#links.get(peer) !== link) return;
    this.#links.delete(peer);
    listener.peerDown(peer);
  }

  #hear(hear: Hearing): void {
    if (this.#isFrozen) {
      this.#unheard.push(hear);
    } else if (this.#unheard.length > 0) {
      this.#unheard.push(hear);
      this.#hearSoon();
    } else {
      hear(this.#isStopped ? undefined : this.#listener);
    }
  }

  /** Whatever is first then. */
  #hearSoon(): void {
    this.#network.soon(() => {
      if (!this.#isFrozen) this.#unheard.shift()?.(this.#isStopped ? undefined : this.#listener);
    });
  }
}

/** Without a listener nobody hears it. */
type Hearing = (listener: TransportListener | undefined) => void;
