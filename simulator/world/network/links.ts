/**
 * Members of a simulated network, and the links between them.
 *
 * Guarantees: two nodes that run and are not parted are connected, or about to be; a link that is cut
 * loses what is in flight and tells both sides, unless one is to stay unaware. A node that stops
 * is missed after one delay, when what it had sent has arrived.
 */

import type { PeerIdentity } from '../../../runtime/ports/transport.ts';
import { type Link, NetworkMember } from './member.ts';
import type { LinkState } from './partitions.ts';
import type { NetworkWay } from './way.ts';

export interface LinksOptions {
  /** What a member needs, once it is one. */
  send(member: NetworkMember, link: Link, frame: string, change: 'sent' | 'repeated'): void;
  soon(task: () => void): void;
  way(from: string, to: string): NetworkWay;
  stateOf(node: string, other: string): LinkState;
  /** It shall not be told that it is disconnected from the other. */
  isUnaware(node: string, other: string): boolean;
}

export class NetworkLinks {
  readonly #options: LinksOptions;
  readonly #members = new Map<string, NetworkMember>();
  readonly #links = new Map<string, Link>();

  constructor(options: LinksOptions) {
    this.#options = options;
  }

  /** @throws {Error} when the name is taken. */
  join(node: string, identity?: PeerIdentity): NetworkMember {
    if (this.#members.has(node))
      throw new Error(
        `A node named "${node}" is in this network. Stop it, or choose another name.`,
      );
    const { send, soon } = this.#options;
    const network = {
      started: () => {
        for (const other of this.#members.values()) this.#connect(member, other);
      },
      stopped: () => this.#leave(member),
      send: (link: Link, frame: string, change: 'sent' | 'repeated') =>
        send(member, link, frame, change),
      soon,
      expel: (link: Link) => this.#expel(link),
    };
    const member: NetworkMember = new NetworkMember(node, network, identity);
    this.#members.set(node, member);
    return member;
  }

  find(node: string): NetworkMember | undefined {
    return this.#members.get(node);
  }

  /** Looks at the link of every pair of that kind, and does what is said of it now. */
  review(isAbout: (node: string, other: string) => boolean): void {
    const members = [...this.#members.values()];
    for (const [index, one] of members.entries()) {
      for (const another of members.slice(index + 1))
        if (isAbout(one.node, another.node)) this.#reviewPair(one, another);
    }
  }

  /** Connections of these pairs end, with what is in flight, and are made again where they may. */
  reset(isAbout: (node: string, other: string) => boolean): void {
    // A copy: those that are made again are not meant.
    for (const [name, link] of [...this.#links]) {
      const [one, another] = link.members;
      if (!isAbout(one.node, another.node)) continue;
      if (this.#options.stateOf(one.node, another.node) !== 'whole') continue;
      this.#break(name, link);
      this.#reviewPair(one, another);
    }
  }

  #reviewPair(one: NetworkMember, another: NetworkMember): void {
    const { stateOf, isUnaware } = this.#options;
    const state = stateOf(one.node, another.node);
    if (state === 'silent') return;
    const name = linkName(one.node, another.node);
    const link = this.#links.get(name);
    if (state !== 'whole' && link !== undefined) this.#break(name, link);
    const isHalf = state === 'half';
    if (!(isHalf && isUnaware(one.node, another.node))) one.missEnded(another.node);
    if (!(isHalf && isUnaware(another.node, one.node))) another.missEnded(one.node);
    if (state === 'whole') this.#connect(one, another);
  }

  #connect(one: NetworkMember, another: NetworkMember): void {
    const { stateOf, way } = this.#options;
    const name = linkName(one.node, another.node);
    if (one === another || !one.isRunning || !another.isRunning || this.#links.has(name)) return;
    if (stateOf(one.node, another.node) !== 'whole') return;
    const ways = [way(one.node, another.node), way(another.node, one.node)] as const;
    const link: Link = { members: [one, another], ways, isBroken: false, isEnded: false };
    this.#links.set(name, link);
    // A link that falls silent while it is being made is none.
    const failed = () => this.#break(name, link);
    tell(ways[1], link, () => one.hearUp(another.node, link), failed);
    tell(ways[0], link, () => another.hearUp(one.node, link), failed);
  }

  #expel(link: Link): void {
    const [one, another] = link.members;
    // It stays in the way of a new one, until one of the two comes again.
    link.isBroken = true;
    one.missEnded(another.node);
    another.missEnded(one.node);
  }

  #break(name: string, link: Link): void {
    link.isBroken = true;
    if (this.#links.get(name) === link) this.#links.delete(name);
  }

  #leave(member: NetworkMember): void {
    this.#members.delete(member.node);
    for (const [name, link] of this.#links) {
      if (!link.members.includes(member)) continue;
      this.#links.delete(name);
      link.isEnded = true;
      const [one, another] = link.members;
      const [peer, way] = one === member ? [another, link.ways[0]] : [one, link.ways[1]];
      tell(way, link, () => peer.hearDown(member.node, link));
    }
  }
}

/** News of a link; `lost` when nothing gets through. */
function tell(way: NetworkWay, link: Link, hear: () => void, lost?: () => void): void {
  const wasSilent = way.isSilent;
  way.bring({
    run: () => {
      if (wasSilent || way.isSilent) lost?.();
      else if (!link.isBroken) hear();
    },
  });
}

function linkName(node: string, other: string): string {
  return JSON.stringify([node, other].sort());
}
