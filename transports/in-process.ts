/**
 * In-process transport: nodes in one process, each connected to all others.
 *
 * Guarantees, besides those of every transport: both sides hear `peerUp` before the first frame,
 * and `peerDown` once for each `peerUp`; frames in flight when a link is cut are lost. It drops
 * nothing else, so only cutting makes it behave like a network.
 *
 * All news comes in microtasks, in the order in which it happened: before timers and I/O, so two
 * nodes that answer each other without ever waiting keep both from running. Frames over the limit
 * are refused as they would be by a transport with a wire.
 */

import { startedOnce, type Transport, type TransportListener } from '../runtime/ports/transport.ts';

export interface InProcessNetworkOptions {
  /**
   * UTF-8 bytes of one frame, above which `send` throws a RangeError.
   *
   * @defaultValue 1048576
   */
  readonly frameBytesMax?: number;
}

export interface InProcessNetwork {
  /**
   * A transport for the node of that name, which is free again once the transport is stopped.
   *
   * @throws {Error} when the name is taken.
   */
  join(node: string): Transport;
  /** Breaks the link between two nodes, or prevents it, until it is healed. */
  cut(node: string, other: string): void;
  /** Undoes `cut`: nodes that have started are connected again. */
  heal(node: string, other: string): void;
}

const DEFAULT_FRAME_BYTES_MAX = 2 ** 20;
/** UTF-8 takes at most three bytes for a code unit, so most frames need not be measured. */
const BYTES_PER_CODE_UNIT_MAX = 3;

export function inProcessNetwork(options: InProcessNetworkOptions = {}): InProcessNetwork {
  const network = new Network(options.frameBytesMax ?? DEFAULT_FRAME_BYTES_MAX);
  return {
    join: (node) => network.join(node),
    cut: (node, other) => network.cut(node, other),
    heal: (node, other) => network.heal(node, other),
  };
}

class Network {
  readonly frameBytesMax: number;
  readonly #members = new Map<string, Member>();
  readonly #cuts = new Set<string>();
  #events: Array<() => void> = [];

  constructor(frameBytesMax: number) {
    this.frameBytesMax = frameBytesMax;
  }

  join(node: string): Member {
    if (this.#members.has(node)) {
      throw new Error(
        `A node named "${node}" is in this network. Stop it, or choose another name.`,
      );
    }
    const member = new Member(this, node);
    this.#members.set(node, member);
    return member;
  }

  leave(member: Member): void {
    this.#members.delete(member.node);
  }

  cut(node: string, other: string): void {
    this.#cuts.add(linkName(node, other));
    this.#members.get(node)?.disconnect(other);
  }

  heal(node: string, other: string): void {
    this.#cuts.delete(linkName(node, other));
    this.#members.get(node)?.connectTo(this.#members.get(other));
  }

  connectToAll(member: Member): void {
    for (const other of this.#members.values()) member.connectTo(other);
  }

  isCut(node: string, other: string): boolean {
    return this.#cuts.has(linkName(node, other));
  }

  /** Tells something in a microtask, after everything told before. */
  tell(event: () => void): void {
    this.#events.push(event);
    if (this.#events.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const events = this.#events;
    this.#events = [];
    let told = 0;
    try {
      for (const event of events) {
        told++;
        event();
      }
    } finally {
      // A listener that threw is not the others' loss: the rest is told before anything newer.
      if (told < events.length) {
        if (this.#events.length === 0) queueMicrotask(() => this.#flush());
        this.#events = [...events.slice(told), ...this.#events];
      }
    }
  }
}

/** One side of a connection, seen by its owner. */
interface End {
  readonly peer: Member;
  isOpen: boolean;
  /** True if the owner was told of the peer. */
  isAnnounced: boolean;
}

class Member implements Transport {
  readonly node: string;
  readonly #network: Network;
  readonly #ends = new Map<string, End>();
  #listener: TransportListener | undefined;
  #isStopped = false;

  constructor(network: Network, node: string) {
    this.#network = network;
    this.node = node;
  }

  async start(listener: TransportListener): Promise<void> {
    if (this.#listener !== undefined || this.#isStopped) {
      throw startedOnce(this.node);
    }
    this.#listener = listener;
    this.#network.connectToAll(this);
  }

  /** @throws {RangeError} when the frame is over the network's limit. */
  send(node: string, frame: string): boolean {
    this.#refuseLarge(frame);
    const end = this.#ends.get(node);
    if (end === undefined || !end.isAnnounced) return false;
    const { peer } = end;
    const farEnd = peer.#ends.get(this.node);
    this.#network.tell(() => {
      if (farEnd?.isOpen) peer.#listener?.frameReceived(this.node, frame);
    });
    return true;
  }

  frameBytesMax(): number {
    return this.#network.frameBytesMax;
  }

  peers(): readonly string[] {
    return [...this.#ends.values()].filter((end) => end.isAnnounced).map((end) => end.peer.node);
  }

  async stop(): Promise<void> {
    // First, so that nothing is told to this node any more.
    this.#isStopped = true;
    for (const node of [...this.#ends.keys()]) this.disconnect(node);
    this.#network.leave(this);
  }

  connectTo(other: Member | undefined): void {
    if (other === undefined || other === this) return;
    if (!this.#isRunning() || !other.#isRunning() || this.#ends.has(other.node)) return;
    if (this.#network.isCut(this.node, other.node)) return;
    this.#open(other);
    other.#open(this);
  }

  disconnect(node: string): void {
    const peer = this.#ends.get(node)?.peer;
    this.#close(node);
    if (peer !== undefined) peer.#close(this.node);
  }

  #isRunning(): boolean {
    return this.#listener !== undefined && !this.#isStopped;
  }

  #open(peer: Member): void {
    const end: End = { peer, isOpen: true, isAnnounced: false };
    this.#ends.set(peer.node, end);
    this.#network.tell(() => {
      if (!end.isOpen) return;
      end.isAnnounced = true;
      this.#listener?.peerUp(peer.node);
    });
  }

  #close(node: string): void {
    const end = this.#ends.get(node);
    if (end === undefined) return;
    end.isOpen = false;
    this.#ends.delete(node);
    if (!end.isAnnounced) return;
    this.#network.tell(() => {
      if (this.#isRunning()) this.#listener?.peerDown(node);
    });
  }

  #refuseLarge(frame: string): void {
    const { frameBytesMax } = this.#network;
    if (frame.length * BYTES_PER_CODE_UNIT_MAX <= frameBytesMax) return;
    const sizeBytes = Buffer.byteLength(frame);
    if (sizeBytes > frameBytesMax) {
      throw new RangeError(
        `A frame of ${sizeBytes} bytes is over frameBytesMax (${frameBytesMax}).`,
      );
    }
  }
}

function linkName(node: string, other: string): string {
  return JSON.stringify([node, other].sort());
}
