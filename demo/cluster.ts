/**
 * Cluster of the demo: all its nodes, and the ways between them.
 *
 * Guarantees: a node that ends is started again, unless it was told to stop; one that ends over and
 * over is given up. Nodes find each other by ports that this process keeps, each a TCP proxy that
 * leads to where the node listens now, so no port is ever promised and then taken by somebody else.
 * The way from a datacenter to the gate is one of them, and can be cut.
 */

import type { DataFolder } from './data-folder.ts';
import { type LogRecord, type NodeExit, NodeProcess } from './node-process.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { DATACENTERS, type Datacenter, GATE, MANAGERS, NODES, type NodePlan } from './topology.ts';

export interface ClusterSetup {
  readonly folder: DataFolder;
  /** Command that starts the command line: the arguments of Node before `start`. */
  readonly command: readonly string[];
  /** The module of handlers. */
  readonly handlers: string;
  /** Port at which the gate listens if it is free; 0 for any. */
  readonly port: number;
  onRecord(node: NodeProcess, record: LogRecord): void;
  /** Also of nodes that were told to end. */
  onExit(node: NodeProcess, exit: NodeExit): void;
  /** A node has ended by itself again and again. */
  onGivenUp(node: NodeProcess, exit: NodeExit): void;
}

/** After a node ended by itself. */
const RESTART_MS = 1_000;
/** A node that ends so often by itself is given up. */
const EXITS_MAX = 5;
const WORKERS_PATIENCE_MS = 6_000;
const PATIENCE_MS = 10_000;

export class Cluster {
  readonly nodes: ReadonlyMap<string, NodeProcess>;
  readonly #setup: ClusterSetup;
  readonly #links: ReadonlyMap<Datacenter, TcpProxy>;
  readonly #doors: ReadonlyMap<string, TcpProxy>;
  readonly #exits = new Map<string, number>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  #isStopping = false;

  /** Opens the ways and writes the configuration files. Nothing runs yet. */
  static async open(setup: ClusterSetup): Promise<Cluster> {
    const links = new Map<Datacenter, TcpProxy>();
    for (const datacenter of DATACENTERS) links.set(datacenter, await TcpProxy.open());
    const doors = new Map<string, TcpProxy>();
    for (const { name } of MANAGERS) doors.set(name, await TcpProxy.open());
    return new Cluster(setup, links, doors);
  }

  private constructor(
    setup: ClusterSetup,
    links: ReadonlyMap<Datacenter, TcpProxy>,
    doors: ReadonlyMap<string, TcpProxy>,
  ) {
    this.#setup = setup;
    this.#links = links;
    this.#doors = doors;
    this.nodes = new Map(NODES.map((plan) => [plan.name, this.#nodeOf(plan)]));
  }

  get gate(): NodeProcess {
    return this.node(GATE);
  }

  node(name: string): NodeProcess {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`The demo has no node ${name}.`);
    return node;
  }

  in(datacenter: Datacenter, role: NodePlan['role']): readonly NodeProcess[] {
    return [...this.nodes.values()].filter(
      ({ plan }) => plan.datacenter === datacenter && plan.role === role,
    );
  }

  leaderOf(datacenter: Datacenter): NodeProcess | undefined {
    return this.in(datacenter, 'manager').find(({ fence }) => fence !== undefined);
  }

  isCutOff(datacenter: Datacenter): boolean {
    return this.#links.get(datacenter)?.isCut === true;
  }

  /** The gate and the managers at once; workers when their datacenter has a leader. */
  start(): void {
    this.gate.start();
    for (const { name } of MANAGERS) this.node(name).start();
  }

  cutOff(datacenter: Datacenter): void {
    this.#links.get(datacenter)?.cut();
  }

  heal(datacenter: Datacenter): void {
    this.#links.get(datacenter)?.heal();
  }

  /** Kills a node and starts it again after `downMs`. */
  async kill(node: NodeProcess, downMs: number): Promise<void> {
    await node.kill();
    await this.#startAfter(node, downMs);
  }

  /** Lets a node finish in order and starts it again. */
  async restart(node: NodeProcess): Promise<void> {
    await node.stop(PATIENCE_MS);
    await this.#startAfter(node, 0);
  }

  /** Lets all of them finish in order: workers first, so that managers hear what was stopped. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    for (const datacenter of DATACENTERS) this.heal(datacenter);
    const workers = DATACENTERS.flatMap((datacenter) => this.in(datacenter, 'worker'));
    await Promise.all(workers.map((node) => node.stop(WORKERS_PATIENCE_MS)));
    // A standby that outlives its leader would lead for a moment.
    const managers = DATACENTERS.flatMap((datacenter) => this.in(datacenter, 'manager'));
    const standbys = managers.filter(({ fence }) => fence === undefined);
    await Promise.all(standbys.map((node) => node.stop(PATIENCE_MS)));
    await Promise.all([this.gate, ...managers].map((node) => node.stop(PATIENCE_MS)));
  }

  /** Ends all of them without a chance to do anything. */
  async killAll(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    await Promise.all([...this.nodes.values()].map((node) => node.kill()));
  }

  /** Closes the ways; the nodes have ended before. */
  async close(): Promise<void> {
    const ways = [...this.#links.values(), ...this.#doors.values()];
    await Promise.all(ways.map((way) => way.close()));
  }

  #nodeOf(plan: NodePlan): NodeProcess {
    const { folder, command, handlers, port } = this.#setup;
    const portsOf = <TKey>(ways: ReadonlyMap<TKey, TcpProxy>) =>
      new Map(Array.from(ways, ([key, way]) => [key, way.port]));
    const ports = { gate: port, links: portsOf(this.#links), managers: portsOf(this.#doors) };
    const file = folder.writeConfiguration(plan, ports, handlers);
    return new NodeProcess({
      plan,
      args: [...command, 'start', plan.role, '--config', file, '--exit-with-parent'],
      logFile: folder.logFile(plan),
      onRecord: (node, record) => this.#heard(node, record),
      onExit: (node, exit) => this.#exited(node, exit),
    });
  }

  #heard(node: NodeProcess, record: LogRecord): void {
    const { datacenter, role, name } = node.plan;
    if (record.event === 'node.listening' && node.url !== undefined) {
      const port = Number(new URL(node.url).port);
      if (role === 'gate') for (const link of this.#links.values()) link.lead(port);
      else this.#doors.get(name)?.lead(port);
    }
    if (record.event === 'node.hosting' && datacenter !== undefined && !this.#isStopping)
      for (const worker of this.in(datacenter, 'worker')) this.#startOnce(worker);
    this.#setup.onRecord(node, record);
  }

  /** A worker that was started already is started again by the fault that stopped it. */
  #startOnce(worker: NodeProcess): void {
    if (this.#exits.has(worker.plan.name)) return;
    this.#exits.set(worker.plan.name, 0);
    worker.start();
  }

  #exited(node: NodeProcess, exit: NodeExit): void {
    const { role, name } = node.plan;
    // What is at that port now may be somebody else.
    if (role === 'gate') for (const link of this.#links.values()) link.lead(undefined);
    else this.#doors.get(name)?.lead(undefined);
    this.#setup.onExit(node, exit);
    if (!exit.isUnexpected || this.#isStopping) return;
    const exits = (this.#exits.get(name) ?? 0) + (exit.isLocked ? 0 : 1);
    this.#exits.set(name, exits);
    if (exits >= EXITS_MAX) this.#setup.onGivenUp(node, exit);
    else void this.#startAfter(node, RESTART_MS);
  }

  #startAfter(node: NodeProcess, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#restarts.delete(timer);
        if (!this.#isStopping) node.start();
        resolve();
      }, ms);
      this.#restarts.add(timer);
    });
  }
}
