/**
 * A network of pretend links on a simulated clock, for whole clusters in one process.
 *
 * Every node that joins is connected to every other. Guarantees, besides those of every
 * transport: a frame takes its delay, drawn for each, and never overtakes an earlier one; all
 * of it happens in tasks of the clock, so the same seed gives the same run. A cut link loses
 * what is in flight and tells both sides; a silent one loses it and tells nobody. A node that
 * stops is missed after one delay, when what it had sent has arrived. Nothing else is lost.
 *
 * What single messages suffer is in interception.ts.
 */

import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Transport } from '../runtime/transport.ts';
import {
  type Interception,
  type InterceptionRule,
  Interceptions,
  matchesNode,
  type Nodes,
} from './interception.ts';
import { type Link, NetworkMember } from './network-member.ts';

export type { Interception, InterceptionRule, Nodes } from './interception.ts';

export interface SimulatedNetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How long a frame takes: always as long, or anything from the first to the second. */
  readonly delayMs: number | readonly [minMs: number, maxMs: number];
}

export interface SimulatedNetwork {
  /**
   * A transport for the node of that name, which is free again once the transport is stopped.
   *
   * @throws {Error} when the name is taken.
   */
  join(node: string): Transport;
  /** Breaks every link between the two sides, or prevents it. `silent`: without telling anybody. */
  cut(side: Nodes, other: Nodes, options?: { readonly silent?: boolean }): void;
  /** Undoes `cut` between the two sides, or everywhere. */
  heal(side?: Nodes, other?: Nodes): void;
  /** Acts on messages that are sent from now on. */
  intercept(rule: InterceptionRule): Interception;
  /** Tells a node nothing until it is thawed, as if its process were stopped. */
  freeze(node: string): void;
  thaw(node: string): void;
}

type LinkState = 'whole' | 'cut' | 'silent';

/** What was said of the links between two sides; of two that fit, the later one holds. */
interface Statement {
  readonly side: Nodes;
  readonly other: Nodes;
  readonly state: LinkState;
}

/** @throws {RangeError} when a delay is negative or not a finite number. */
export function simulatedNetwork(options: SimulatedNetworkOptions): SimulatedNetwork {
  const [minMs, maxMs] =
    typeof options.delayMs === 'number' ? [options.delayMs, options.delayMs] : options.delayMs;
  if (!(minMs >= 0 && minMs <= maxMs && Number.isFinite(maxMs)))
    throw new RangeError(`A delay goes from 0 or more to as much or more, not ${minMs}–${maxMs}.`);
  return new Network(options.clock, options.random, minMs, maxMs);
}

class Network implements SimulatedNetwork {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #members = new Map<string, NetworkMember>();
  readonly #links = new Map<string, Link>();
  /** When the last frame from one node to another arrives. */
  readonly #lastArrivals = new Map<string, number>();
  readonly #frozen = new Set<string>();
  readonly #interceptions = new Interceptions();
  #statements: Statement[] = [];

  constructor(clock: Clock, random: Random, minMs: number, maxMs: number) {
    this.#clock = clock;
    this.#random = random;
    this.#minMs = minMs;
    this.#maxMs = maxMs;
  }

  join(node: string): Transport {
    if (this.#members.has(node))
      throw new Error(
        `A node named "${node}" is in this network. Stop it, or choose another name.`,
      );
    const member = new NetworkMember(node, {
      started: () => this.#connectToAll(member),
      stopped: () => this.#leave(member),
      send: (link, frame) => this.#send(member, link, frame),
      soon: (task) => this.#clock.schedule(this.#clock.now(), task),
    });
    if (this.#frozen.has(node)) member.freeze();
    this.#members.set(node, member);
    return member;
  }

  cut(side: Nodes, other: Nodes, options: { readonly silent?: boolean } = {}): void {
    this.#state({ side, other, state: options.silent === true ? 'silent' : 'cut' });
  }

  heal(side: Nodes = () => true, other: Nodes = () => true): void {
    this.#state({ side, other, state: 'whole' });
  }

  intercept(rule: InterceptionRule): Interception {
    return this.#interceptions.add(rule);
  }

  freeze(node: string): void {
    this.#frozen.add(node);
    this.#members.get(node)?.freeze();
  }

  thaw(node: string): void {
    this.#frozen.delete(node);
    this.#members.get(node)?.thaw();
  }

  /** Looks at the link of every pair that is spoken of. */
  #state(statement: Statement): void {
    this.#statements = [...this.#statements.filter((said) => !isSame(said, statement)), statement];
    const members = [...this.#members.values()];
    for (const [index, one] of members.entries()) {
      for (const another of members.slice(index + 1)) {
        if (isAbout(statement, one.node, another.node)) this.#review(one, another);
      }
    }
  }

  #review(one: NetworkMember, another: NetworkMember): void {
    const state = this.#stateOf(one.node, another.node);
    if (state === 'silent') return;
    const name = linkName(one.node, another.node);
    const link = this.#links.get(name);
    if (state === 'cut' && link !== undefined) this.#break(name, link);
    one.missEnded(another.node);
    another.missEnded(one.node);
    if (state === 'whole') this.#connect(one, another);
  }

  #stateOf(node: string, other: string): LinkState {
    return this.#statements.findLast((said) => isAbout(said, node, other))?.state ?? 'whole';
  }

  #connectToAll(member: NetworkMember): void {
    for (const other of this.#members.values()) this.#connect(member, other);
  }

  #connect(one: NetworkMember, another: NetworkMember): void {
    const name = linkName(one.node, another.node);
    if (one === another || !one.isRunning || !another.isRunning || this.#links.has(name)) return;
    if (this.#stateOf(one.node, another.node) !== 'whole') return;
    const link: Link = { members: [one, another], isBroken: false, isEnded: false };
    this.#links.set(name, link);
    // A link that falls silent while it is being made is none.
    const failed = () => this.#break(name, link);
    this.#arrive(another, one, link, () => one.hearUp(another.node, link), failed);
    this.#arrive(one, another, link, () => another.hearUp(one.node, link), failed);
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
      const peer = one === member ? another : one;
      this.#arrive(member, peer, link, () => peer.hearDown(member.node, link));
    }
  }

  #send(from: NetworkMember, link: Link, frame: string): void {
    const [one, another] = link.members;
    const to = one === from ? another : one;
    for (const passed of this.#interceptions.pass(from.node, to.node, frame)) {
      const deliver = () => to.hearFrame(from.node, passed.frame, link);
      if (passed.isInOrder) this.#arrive(from, to, link, deliver);
      else this.#deliverAt(this.#clock.now() + this.#delay() + passed.holdMs, from, to, deliver);
    }
  }

  /** After a delay, and after all that went the same way before; `lost` when nothing gets through. */
  #arrive(
    from: NetworkMember,
    to: NetworkMember,
    link: Link,
    deliver: () => void,
    lost?: () => void,
  ): void {
    const way = JSON.stringify([from.node, to.node]);
    const earliest = this.#lastArrivals.get(way) ?? 0;
    const at = Math.max(earliest, this.#clock.now() + this.#delay());
    this.#lastArrivals.set(way, at);
    this.#deliverAt(
      at,
      from,
      to,
      () => {
        if (!link.isBroken) deliver();
      },
      lost,
    );
  }

  #deliverAt(
    at: number,
    from: NetworkMember,
    to: NetworkMember,
    deliver: () => void,
    lost?: () => void,
  ): void {
    const isSilent = () => this.#stateOf(from.node, to.node) === 'silent';
    const wasSilent = isSilent();
    this.#clock.schedule(at, () => {
      if (wasSilent || isSilent()) lost?.();
      else deliver();
    });
  }

  #delay(): number {
    if (this.#minMs === this.#maxMs) return this.#minMs;
    return Math.round(this.#minMs + this.#random.next() * (this.#maxMs - this.#minMs));
  }
}

function isAbout({ side, other }: Statement, one: string, another: string): boolean {
  return (
    (matchesNode(side, one) && matchesNode(other, another)) ||
    (matchesNode(side, another) && matchesNode(other, one))
  );
}

/** About the same nodes, as far as can be seen: the older one of the two is of no use. */
function isSame(one: Statement, another: Statement): boolean {
  const isSameSide = (a: Nodes, b: Nodes) => a === b || String(a) === String(b);
  if ([one.side, one.other].some((nodes) => typeof nodes === 'function'))
    return one.side === another.side && one.other === another.other;
  return isSameSide(one.side, another.side) && isSameSide(one.other, another.other);
}

function linkName(node: string, other: string): string {
  return JSON.stringify([node, other].sort());
}
