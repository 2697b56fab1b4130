/**
 * A pretend world: nodes, a network between them, a disk for each place, a lease store, and the
 * history of all that happens, on one clock and from one seed.
 *
 * Guarantees: the same nodes and the same actions give the same history. Zero is when the cluster
 * is asked for the first thing; what happens before that, while it comes up, has times below zero.
 * What runs in it are real programs; nothing here knows which.
 */

import type { Group } from '../../runtime/ports/store.ts';
import { type FaultFact, History } from '../history.ts';
import { SimulatedClock } from './clock.ts';
import type { Delay } from './delay.ts';
import { Disk } from './disk/disk.ts';
import { LeaseOffice } from './lease-office.ts';
import { type SimulatedNetwork, simulatedNetwork } from './network/network.ts';
import { WorldNode } from './node.ts';
import type { NodeDefinition, RunningProgram } from './node-definition.ts';
import { Pace } from './pace.ts';
import { SeededRandom } from './random.ts';
import type { Outside } from './sealed.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly delayMs: readonly [minMs: number, maxMs: number];
  /** How long the cluster has before zero. */
  readonly warmUpMs: number;
  /** How long a group takes to be on a disk that is well. Default: no time. */
  readonly commit?: Delay;
  /** Properties of all disks. */
  readonly disks?: DiskRules;
  /** Whether chance decides what comes first of what is due at the same moment. Default: the order in which it was asked for does. */
  readonly drawsTies?: boolean;
  /** Whether the history has its records when the run is over. Default: yes. */
  readonly keepsHistory?: boolean;
  /** The one way from a sealed run to the real world. */
  readonly outside: Outside;
}

export interface DiskRules {
  /** Rows of history that they keep of an actor. Default: as a store in memory. */
  readonly historyMax?: number;
  /** See `DiskOptions`. */
  readonly wholeGroups?: boolean;
}

/** Hears of a group in the moment in which it is handed to a disk, inside of that call. */
export type GroupReader = (node: string, group: Group) => void;

/** A fault under way. */
export interface Fault {
  /** It changed what happened. */
  hit(about?: unknown): void;
  end(): void;
}

export class World {
  readonly seed: number;
  readonly clock: SimulatedClock;
  readonly pace: Pace;
  readonly history: History;
  readonly network: SimulatedNetwork;
  readonly office: LeaseOffice;
  readonly #nodes = new Map<string, WorldNode>();
  readonly #disks = new Map<string, Disk>();
  readonly #groupReaders = new Set<GroupReader>();
  readonly #commit: Delay | undefined;
  readonly #diskRules: DiskRules;
  /** Moment of the clock at which the time of the run begins. */
  readonly zero: number;

  constructor(options: WorldOptions) {
    const { seed, delayMs, warmUpMs, commit, drawsTies, outside, keepsHistory } = options;
    this.#diskRules = options.disks ?? {};
    this.seed = seed;
    const tiebreak = drawsTies === true ? this.random('ties') : undefined;
    this.clock = new SimulatedClock({ ...(tiebreak !== undefined && { tiebreak }) });
    this.pace = new Pace(this.clock, outside);
    this.#commit = commit;
    this.zero = this.clock.now() + warmUpMs;
    this.history = new History(() => this.now(), keepsHistory);
    const random = this.random('network');
    this.network = simulatedNetwork({
      clock: this.clock,
      delayMs,
      random,
      onFrame: (from, to, change, frame) =>
        this.history.add(from, { type: 'frame', to, change, frame }),
    });
    this.office = new LeaseOffice(this.clock);
  }

  /** True time since zero. */
  now(): number {
    return this.clock.now() - this.zero;
  }

  /** A stream of chance of its own. */
  random(name: string): SeededRandom {
    return new SeededRandom(this.seed, name);
  }

  /** In the order in which they were added. */
  nodes(): WorldNode[] {
    return [...this.#nodes.values()];
  }

  /** @throws {Error} when there is none of that name. */
  node(name: string): WorldNode {
    const node = this.#nodes.get(name);
    if (node !== undefined) return node;
    const known = [...this.#nodes.keys()].join(', ');
    throw new Error(`There is no node "${name}". There are: ${known}.`);
  }

  add<TProgram extends RunningProgram>(definition: NodeDefinition<TProgram>): WorldNode<TProgram> {
    const node = new WorldNode(definition, {
      clock: this.clock,
      network: this.network,
      office: this.office,
      seed: this.seed,
      diskOf: () => this.diskOf(definition.place),
      tell: (name, fact) => this.history.add(name, fact),
    });
    this.#nodes.set(node.node, node as unknown as WorldNode);
    return node;
  }

  /** What the nodes of a place share. */
  diskOf(place: string): Disk {
    const disk = this.#disks.get(place) ?? this.#newDisk(place);
    this.#disks.set(place, disk);
    return disk;
  }

  /** How long groups take on a disk that is well. */
  healDisk(place: string): void {
    this.diskOf(place).takes(this.#commit);
  }

  /** Hears of every group that takes its time, until the function returned is called. */
  readGroups(reader: GroupReader): () => void {
    this.#groupReaders.add(reader);
    return () => void this.#groupReaders.delete(reader);
  }

  /** All data of a place is gone; nodes that are up keep what they have until they start again. */
  forget(place: string): void {
    this.#disks.delete(place);
    const fault = this.fault('diskLost', place, { place });
    fault.hit({ place });
    fault.end();
  }

  /** The node that hosts a place now, if one does. */
  hostOf(place: string): WorldNode | undefined {
    return this.nodes().find(
      (node) => node.place === place && node.isRunning && node.program.runtime.isHosting,
    );
  }

  /** Does something at a moment; what it returns is awaited as time goes on. */
  at(atMs: number, action: () => unknown): void {
    this.pace.at(this.zero + atMs, action);
  }

  /** Runs everything due by then, or until it is over. True when it was over before. */
  runUntil(atMs: number, isOver?: () => boolean): Promise<boolean> {
    return this.pace.runUntil(this.zero + atMs, isOver);
  }

  /** Something is done to the cluster. */
  fault(kind: string, id: string, about: unknown = {}): Fault {
    const tell = (change: FaultFact['change'], more: unknown) =>
      this.history.add('', { type: 'fault', kind, id, change, about: more });
    tell('began', about);
    return {
      hit: (more = {}) => tell('hit', more),
      end: () => tell('ended', {}),
    };
  }

  #newDisk(place: string): Disk {
    const { historyMax, wholeGroups = false } = this.#diskRules;
    return new Disk({
      place,
      clock: this.clock,
      random: this.random(`disk/${place}`),
      ...(this.#commit !== undefined && { commit: this.#commit }),
      ...(historyMax !== undefined && { memory: { historyMax } }),
      wholeGroups,
      onHanded: (node, group) => {
        for (const read of this.#groupReaders) read(node, group);
      },
      onCommit: (node, fact) => this.history.add(node, fact),
    });
  }
}
