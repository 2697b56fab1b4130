/**
 * A cluster of anybody's own machines in a pretend world: every place with its nodes, and one client.
 *
 * Guarantees: only the ports differ from a cluster in production. The nodes of a place are called
 * `bank-1`, `bank-2`; they elect their host on the world's lease store and share a disk. The
 * client has a node and a place of its own, keeps nothing, and is never struck by a fault, though the
 * network around it is.
 */

import { createRuntime } from '../../create-runtime.ts';
import type { LeaseRules } from '../../machines/lease-rules.ts';
import { electedLease } from '../../programs/elected-lease.ts';
import type { KindOptions } from '../../runtime/actor.ts';
import type { KindOptionsOf } from '../../runtime/api.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { RuntimeLimits } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { KindMap } from '../../runtime/runtime.ts';
import type { ClusterShape } from '../faults.ts';
import type { World } from '../world.ts';
import { limitsOf, messagesOf } from './declared.ts';

/** Name of the client's node, and of its place. */
export const CLIENT = 'client';
const NODES_MAX = 9;
/** A deadline waits for as long as its clock is behind: in a run of some minutes that has to end. */
const SKEW_MAX_MS = 60_000;

/** One life of a node, for performers that need something of it. */
export interface SimulatedNode {
  readonly node: string;
  readonly place: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Writes down what was done in the world outside: a record `log` with this message, for invariants. */
  note(what: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface ClusterOptions<TKinds extends KindMap = KindMap> {
  /** Machines by kind, the same on every node. */
  readonly kinds: TKinds;
  /** Performers, supervision and more, by kind; asked for again each time a node starts. */
  readonly options?: (node: SimulatedNode) => {
    readonly [kind in keyof TKinds]?: KindOptionsOf<TKinds[kind]>;
  };
  /** How many nodes each place has. Default: one place, `main`, with one node. */
  readonly places?: Readonly<Record<string, { readonly nodes: number }>>;
  /** Limits of the runtimes that differ from their defaults. */
  readonly limits?: Partial<RuntimeLimits>;
}

/** How the nodes of a place elect their host. */
const LEASE: LeaseRules = {
  leaseMs: 6_000,
  leaseRenewMs: 2_000,
  leaseMarginMs: 500,
  leaseJitterMs: 1_000,
};

/** What is known of it before it runs. @throws {RuntimeError} OPTION_INVALID */
export function shapeOf({ kinds, places }: ClusterOptions): ClusterShape {
  const given = Object.entries(places ?? { main: { nodes: 1 } });
  if (given.length === 0 || given.some(([place]) => place === CLIENT))
    throw invalid(`"places" names one place at least, and none of them "${CLIENT}".`);
  for (const [place, { nodes }] of given)
    if (!Number.isSafeInteger(nodes) || nodes < 1 || nodes > NODES_MAX)
      throw invalid(`Place "${place}" has 1 to ${NODES_MAX} nodes, got ${nodes}.`);
  const numbered = (place: string, nodes: number): string[] =>
    Array.from({ length: nodes }, (_, index) => `${place}-${index + 1}`);
  return {
    places: Object.fromEntries(
      given.map(([place, { nodes }]) => {
        const hosts = numbered(place, nodes);
        return [place, { hosts, nodes: hosts, isElected: true }];
      }),
    ),
    spared: [CLIENT],
    lease: LEASE,
    messages: messagesOf(kinds),
    limits: limitsOf(kinds),
    waitsMs: [LEASE.leaseMs, LEASE.leaseRenewMs],
    skewMaxMs: SKEW_MAX_MS,
  };
}

/** Adds all nodes to the world; nothing runs yet. */
export function addNodes(world: World, options: ClusterOptions, shape: ClusterShape): void {
  for (const [place, { nodes }] of Object.entries(shape.places))
    for (const node of nodes) addNode(world, options, node, place);
  world.add({
    node: CLIENT,
    place: CLIENT,
    start: async ({ counter: _, store: __, ...ports }) => {
      const runtime = await createRuntime({ node: CLIENT, telemetry: false, ...ports });
      return { runtime, stop: () => runtime.stop() };
    },
  });
}

function addNode(world: World, options: ClusterOptions, node: string, place: string): void {
  const { kinds, limits = {} } = options;
  world.add({
    node,
    place,
    start: async ({ counter: { leaseStore }, ...ports }) => {
      // What is decided about the lease is in memory and in no place: nothing of it is history.
      const { inspect: _, ...unseen } = ports;
      const lease = electedLease({ node, leaseStore, rules: LEASE, ...unseen });
      const own = options.options?.({
        node,
        place,
        clock: ports.clock,
        random: ports.random,
        note: (what, fields = {}) => ports.logger.info({ event: what, ...fields }, what),
      });
      const runtime = await createRuntime({
        node,
        place,
        lease,
        limits,
        telemetry: false,
        ...ports,
      });
      for (const [name, machine] of Object.entries(kinds))
        runtime.register(name, machine, (own?.[name] ?? {}) as KindOptions);
      return { runtime, stop: () => runtime.stop() };
    },
  });
}

/** Everything is up, and every place has a host. */
export async function bringUp(world: World, { places }: ClusterShape): Promise<void> {
  const { pace, clock } = world;
  for (const [
    place,
    {
      hosts: [first = ''],
    },
  ] of Object.entries(places)) {
    await pace.during(world.node(first).start());
    await pace.runUntil(clock.now() + 5_000, () => world.hostOf(place) !== undefined);
  }
  for (const node of world.nodes()) if (!node.isUp) await pace.during(node.start());
  if (world.now() > 0)
    throw new Error(`The cluster took too long to come up: it is ${world.now()} ms.`);
}

function invalid(what: string): RuntimeError {
  return new RuntimeError('OPTION_INVALID', what);
}
