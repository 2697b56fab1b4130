/**
 * A network of pretend links on a simulated clock, for whole clusters in one process.
 *
 * Every node that joins is connected to every other. Guarantees, besides those of every
 * transport: a frame takes its delay, drawn for each way, and never overtakes an earlier one; all
 * of it happens in tasks of the clock, so the same seed gives the same run. A cut link loses
 * what is in flight and tells both sides; a silent one loses it and tells nobody; of a half open one
 * one side is told. A node that stops is missed after one delay, when what it had sent has arrived.
 * Nothing else is lost, unless noise is asked for, which also lets frames come late, twice or damaged:
 * then the order within a connection is what a transport promises no longer.
 *
 * A frame goes network-member → network-carrier → network-way → network-member. What chance does to
 * it is in network-noise, what single messages suffer in interception, who is connected in
 * network-links and which nodes are disconnected in network-partitions.
 */

import type { Clock } from '../../../runtime/ports/clock.ts';
import type { PeerIdentity, Transport } from '../../../runtime/ports/transport.ts';
import type { FrameFact } from '../../history.ts';
import { checkDelay, type Delay } from '../delay.ts';
import type { SeededRandom } from '../random.ts';
import { FrameCarrier } from './carrier.ts';
import {
  type Interception,
  type InterceptionRule,
  Interceptions,
  isBetween,
  type Nodes,
} from './interception.ts';
import { NetworkLinks } from './links.ts';
import type { Disturbance, NoiseRule } from './noise.ts';
import type { Parting } from './partition-shapes.ts';
import { type Partition, Partitions, parts } from './partitions.ts';
import { NetworkWays } from './ways.ts';

export type { Interception, InterceptionRule, Nodes } from './interception.ts';
export type { Disturbance, Noise, NoiseRule } from './noise.ts';

export interface SimulatedNetworkOptions {
  readonly clock: Clock;
  readonly random: SeededRandom;
  /** How long a frame takes: always as long, or anything from the first to the second. */
  readonly delayMs: number | readonly [minMs: number, maxMs: number];
  /** Hears the fate of every frame, in the moment in which it is decided. */
  readonly onFrame?: (from: string, to: string, change: FrameFact['change'], frame: string) => void;
  /** Hears whenever noise did something to a frame. */
  readonly onNoise?: (id: string, from: string, to: string) => void;
}

/** Something done to the network. */
export interface NetworkFault {
  /** Once; afterwards it does nothing. */
  end(): void;
}

export interface FlapRhythm {
  readonly partedMs: number;
  readonly wholeMs: number;
  readonly how?: 'cut' | 'silent';
}

export interface SimulatedNetwork {
  /**
   * A transport for the node of that name, which is free again once the transport is stopped.
   * `identity`: what it proves to the others to be; default: nothing, and they trust it.
   *
   * @throws {Error} when the name is taken.
   */
  join(node: string, identity?: PeerIdentity): Transport;
  /** Breaks every link between the two sides, or prevents it. `silent`: without telling anybody. */
  cut(side: Nodes, other: Nodes, options?: { readonly silent?: boolean }): void;
  /** Undoes `cut` between the two sides, or everywhere. */
  heal(side?: Nodes, other?: Nodes): void;
  /**
   * Parts nodes until it is ended, whatever is cut or healed meanwhile. `half`: those of a first side
   * go on believing that they are connected, and what they send is lost.
   */
  part(partings: readonly Parting[], how?: 'cut' | 'silent' | 'half'): NetworkFault;
  /** Parts nodes again and again: parted for the one time, whole for the other. */
  flap(partings: readonly Parting[], rhythm: FlapRhythm): NetworkFault;
  /** Connections between the two sides end, with what is in flight, and are made again. */
  reset(side: Nodes, other: Nodes): void;
  /** What goes that way waits, news of the link too, and comes at once, in order, when it is ended. */
  clog(from: Nodes, to: Nodes): NetworkFault;
  /** Lets chance act on frames that go that way from now on. @throws {RangeError} */
  disturb(rule: NoiseRule): Disturbance;
  /**
   * Brings something that was sent before once more, over the link that there is now. It is reported
   * as repeated: the node that it seems to come from has not sent it. False when there is no link.
   */
  repeat(from: string, to: string, frame: string): boolean;
  /** Acts on messages that are sent from now on. */
  intercept(rule: InterceptionRule): Interception;
  /** Tells a node nothing until it is thawed, as if its process were stopped. */
  freeze(node: string): void;
  thaw(node: string): void;
  /** Ends whatever was done to the network; who is frozen stays so. */
  calm(): void;
}

/** @throws {RangeError} when a delay is negative or not a finite number. */
export function simulatedNetwork(options: SimulatedNetworkOptions): SimulatedNetwork {
  const { delayMs } = options;
  const [minMs, maxMs] = typeof delayMs === 'number' ? [delayMs, delayMs] : delayMs;
  const delay: Delay =
    minMs === maxMs ? { shape: 'fixed', ms: minMs } : { shape: 'uniform', minMs, maxMs };
  checkDelay(delay);
  return new Network(options, delay);
}

class Network implements SimulatedNetwork {
  readonly #clock: Clock;
  readonly #frozen = new Set<string>();
  readonly #interceptions = new Interceptions();
  readonly #partitions = new Partitions();
  readonly #ways: NetworkWays;
  readonly #links: NetworkLinks;
  readonly #flaps = new Set<NetworkFault>();

  constructor({ clock, random, onFrame, onNoise }: SimulatedNetworkOptions, delay: Delay) {
    const interceptions = this.#interceptions;
    const partitions = this.#partitions;
    this.#clock = clock;
    this.#ways = new NetworkWays({
      clock,
      random,
      delay,
      isSilent: (from, to) => partitions.stateOf(from, to) === 'silent',
    });
    const carrier = new FrameCarrier({
      clock,
      interceptions,
      memberOf: (node) => this.#links.find(node),
      onFrame,
      onNoise,
    });
    this.#links = new NetworkLinks({
      send: (member, link, frame, change) => carrier.send(member, link, frame, change),
      soon: (task) => clock.schedule(clock.now(), task),
      way: (from, to) => this.#ways.way(from, to),
      stateOf: (node, other) => partitions.stateOf(node, other),
      isUnaware: (node, other) => partitions.isUnaware(node, other),
    });
  }

  join(node: string, identity?: PeerIdentity): Transport {
    const member = this.#links.join(node, identity);
    if (this.#frozen.has(node)) member.freeze();
    return member;
  }

  cut(side: Nodes, other: Nodes, options: { readonly silent?: boolean } = {}): void {
    this.#partitions.say(side, other, options.silent === true ? 'silent' : 'cut');
    this.#review((one, another) => isBetween([side, other], one, another));
  }

  heal(side: Nodes = () => true, other: Nodes = () => true): void {
    this.#partitions.say(side, other, 'whole');
    this.#review((one, another) => isBetween([side, other], one, another));
  }

  part(partings: readonly Parting[], how: 'cut' | 'silent' | 'half' = 'cut'): NetworkFault {
    const partition: Partition = { partings, state: how };
    this.#partitions.add(partition);
    const isAbout = (one: string, another: string) => parts(partition, one, another);
    this.#review(isAbout);
    return {
      end: () => {
        if (this.#partitions.remove(partition)) this.#review(isAbout);
      },
    };
  }

  flap(partings: readonly Parting[], rhythm: FlapRhythm): NetworkFault {
    const { partedMs, wholeMs, how = 'cut' } = rhythm;
    let parted: NetworkFault | undefined;
    let cancel = (): void => {};
    const turn = (): void => {
      const isParted = parted !== undefined;
      parted?.end();
      parted = isParted ? undefined : this.part(partings, how);
      const lastsMs = isParted ? wholeMs : partedMs;
      cancel = this.#clock.schedule(this.#clock.now() + lastsMs, turn);
    };
    const fault = {
      end: () => {
        this.#flaps.delete(fault);
        cancel();
        parted?.end();
      },
    };
    this.#flaps.add(fault);
    turn();
    return fault;
  }

  reset(side: Nodes, other: Nodes): void {
    this.#links.reset((one, another) => isBetween([side, other], one, another));
  }

  clog(from: Nodes, to: Nodes): NetworkFault {
    return this.#ways.clog(from, to);
  }

  disturb(rule: NoiseRule): Disturbance {
    return this.#ways.disturb(rule);
  }

  repeat(from: string, to: string, frame: string): boolean {
    return this.#links.find(from)?.repeat(to, frame) ?? false;
  }

  intercept(rule: InterceptionRule): Interception {
    return this.#interceptions.add(rule);
  }

  freeze(node: string): void {
    this.#frozen.add(node);
    this.#links.find(node)?.freeze();
  }

  thaw(node: string): void {
    this.#frozen.delete(node);
    this.#links.find(node)?.thaw();
  }

  calm(): void {
    for (const flap of this.#flaps) flap.end();
    this.#interceptions.clear();
    this.#ways.calm();
    this.#partitions.clear();
    this.#review(() => true);
  }

  #review(isAbout: (node: string, other: string) => boolean): void {
    this.#ways.review();
    this.#links.review(isAbout);
  }
}
