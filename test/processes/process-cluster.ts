/**
 * A jobs system of real processes on loopback: gates, managers and workers, each started as a user
 * would start it, with a configuration file and, where it keeps anything, a directory on disk.
 *
 * Guarantees: every connection between two nodes goes through a proxy of its own, so any two can be
 * parted, and a node that is started again is found where it was before. Who dials whom is fixed:
 * workers their managers, managers the gates. Nothing is left when it is closed: no process, no
 * directory.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { TcpProxy } from '../../demo/tcp-proxy.ts';
import type { JobsConfiguration } from '../../programs/jobs/configuration.ts';
import {
  datacenterOf,
  gatesOf,
  managersOf,
  nodesOf,
  workersOf,
} from '../../simulator/jobs/names.ts';
import type { Topology } from '../../simulator/jobs/plan.ts';
import { compiledProgram } from '../kit/compiled.ts';
import { LogBook } from './log-book.ts';
import { NodeProcess, type NodeProcessOptions } from './node-process.ts';

export interface ClusterOptions {
  readonly topology: Topology;
  readonly config: Partial<JobsConfiguration>;
  /** The module of a worker's handlers, and what its process finds in its environment. Default: those that are built in. */
  readonly handlersOf?: (worker: string) => {
    readonly file: string;
    readonly environment: Readonly<Record<string, string>>;
  };
  /** What a node's configuration has besides; replaces what is there. */
  readonly configurationOf?: (node: string) => object;
  /** Another compiled command line than that of the sources as they are. */
  readonly program?: string | undefined;
  /** Least level of what is logged. Default `debug`: everything that machines log. */
  readonly logLevel?: string;
}

const CORES = 4;
const REDIAL_MAX_MS = 200;
const SECRET = 'a secret of loopback, long enough to be taken for one';

export class ProcessCluster {
  readonly book = new LogBook();
  /** Of everything that nodes keep. */
  readonly directory: string;
  readonly #options: ClusterOptions;
  readonly #program: string;
  readonly #nodes = new Map<string, NodeProcess>();
  readonly #urls = new Map<string, string>();
  /** By `dialler>listener`. */
  readonly #proxies = new Map<string, TcpProxy>();
  readonly #hosts = new Map<string, string>();

  static async open(options: ClusterOptions): Promise<ProcessCluster> {
    const cluster = new ProcessCluster(options, options.program ?? compiledProgram());
    await cluster.#openProxies();
    return cluster;
  }

  private constructor(options: ClusterOptions, program: string) {
    this.#options = options;
    this.#program = program;
    this.directory = mkdtempSync(join(tmpdir(), 'escapement-processes-'));
    writeFileSync(join(this.directory, 'secret'), SECRET, { mode: 0o600 });
    this.book.read(({ node, event }) => {
      if (event === 'node.hosting') this.#hosts.set(placeOf(node), node);
    });
  }

  /** Where the compiled sources are. */
  get sources(): string {
    return dirname(dirname(this.#program));
  }

  get nodes(): readonly string[] {
    return nodesOf(this.#options.topology);
  }

  /** The node that hosts a datacenter or a gate, as far as it has said so. */
  hostOf(place: string): string | undefined {
    return this.#hosts.get(place);
  }

  /** Where a node serves; nothing while it does not run. */
  urlOf(node: string): string | undefined {
    return this.isUp(node) ? this.#urls.get(node) : undefined;
  }

  /** Whether it was started and nobody has ended it since. */
  isUp(node: string): boolean {
    const found = this.#nodes.get(node);
    return found?.isWanted === true && !found.isDeposed;
  }

  /** Starts a node that does not run; resolves when it serves. */
  async start(node: string): Promise<NodeProcess> {
    if (this.isUp(node)) throw new Error(`${node} is running.`);
    const { configuration, role, environment } = this.#configure(node);
    const { book } = this;
    const started = new NodeProcess({
      node,
      role,
      program: this.#program,
      configuration,
      book,
      environment,
    });
    this.#nodes.set(node, started);
    this.#urls.delete(node);
    const url = await started.listening;
    this.#urls.set(node, url);
    for (const [way, proxy] of this.#proxies) if (way.endsWith(`>${node}`)) proxy.lead(portOf(url));
    return started;
  }

  process(node: string): NodeProcess {
    const found = this.#nodes.get(node);
    if (found === undefined) throw new Error(`${node} was never started.`);
    return found;
  }

  async kill(node: string): Promise<void> {
    const process = this.process(node);
    process.kill();
    await process.over;
  }

  /** Cuts every connection between two sides. */
  part(one: readonly string[], other: readonly string[]): void {
    for (const proxy of this.#between(one, other)) proxy.cut();
  }

  join(one: readonly string[], other: readonly string[]): void {
    for (const proxy of this.#between(one, other)) proxy.heal();
  }

  /** Nodes that ended without anybody asking them to. */
  async unwantedEnds(): Promise<readonly string[]> {
    const wanted = [...this.#nodes.values()].filter(
      ({ isWanted, isDeposed }) => isWanted && !isDeposed,
    );
    const endings = wanted.map(async (node) => {
      const ending = await Promise.race([node.over, Promise.resolve(undefined)]);
      return ending === undefined ? [] : [node.unwanted(ending).message];
    });
    return (await Promise.all(endings)).flat();
  }

  async close(): Promise<void> {
    for (const node of this.#nodes.values()) node.kill();
    await Promise.all([...this.#nodes.values()].map(({ over }) => over));
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy.close()));
    rmSync(this.directory, { recursive: true, force: true });
  }

  #between(one: readonly string[], other: readonly string[]): readonly TcpProxy[] {
    const ways = one.flatMap((first) =>
      other.flatMap((second) => [`${first}>${second}`, `${second}>${first}`]),
    );
    return ways.flatMap((way) => this.#proxies.get(way) ?? []);
  }

  async #openProxies(): Promise<void> {
    for (const dialler of this.nodes)
      for (const listener of this.#dialledBy(dialler))
        this.#proxies.set(`${dialler}>${listener}`, await TcpProxy.open());
  }

  #dialledBy(node: string): readonly string[] {
    const { topology } = this.#options;
    const datacenter = datacenterOf(node);
    if (datacenter === undefined) return [];
    return isWorker(node) ? managersOf(topology, datacenter) : gatesOf(topology);
  }

  /** Writes the file that a node is started with. */
  #configure(node: string): Pick<NodeProcessOptions, 'configuration' | 'role'> & {
    readonly environment: Readonly<Record<string, string>>;
  } {
    const { config, logLevel = 'debug', configurationOf } = this.#options;
    const file = join(this.directory, `${node}.yml`);
    const part = this.#partOf(node);
    const settings = {
      node,
      secretFile: join(this.directory, 'secret'),
      // Any, also when it is started again: the proxies know where it is.
      listen: '127.0.0.1:0',
      peers: this.#dialledBy(node).map(
        (listener) => `ws://127.0.0.1:${this.#proxies.get(`${node}>${listener}`)?.port}`,
      ),
      log: { level: logLevel, format: 'json' },
      jobs: config,
      // Who was lost is found again at the pace at which everything else happens.
      limits: { sockets: { redialMaxMs: REDIAL_MAX_MS } },
      ...part.settings,
      ...configurationOf?.(node),
    };
    // JSON is YAML as well.
    writeFileSync(file, JSON.stringify(settings, null, 2));
    return { configuration: file, role: part.role, environment: part.environment ?? {} };
  }

  #partOf(node: string): {
    readonly role: NodeProcessOptions['role'];
    readonly settings: object;
    readonly environment?: Readonly<Record<string, string>>;
  } {
    const { topology, handlersOf } = this.#options;
    const datacenter = datacenterOf(node);
    const data = join(this.directory, 'data', placeOf(node));
    if (datacenter === undefined) {
      mkdirSync(data, { recursive: true });
      const datacenters = Object.keys(topology.datacenters);
      return { role: 'gate', settings: { gate: node, datacenters, data } };
    }
    if (isWorker(node)) {
      const own = handlersOf?.(node);
      const cores = topology.datacenters[datacenter]?.cores ?? CORES;
      const settings = { datacenter, cores, ...(own !== undefined && { handlers: own.file }) };
      return { role: 'worker', settings, environment: own?.environment ?? {} };
    }
    mkdirSync(data, { recursive: true });
    return { role: 'manager', settings: { datacenter, gates: gatesOf(topology), data } };
  }
}

/** Starts everything and waits until every worker is known where it belongs, and to the gates. */
export async function startAll(
  cluster: ProcessCluster,
  topology: Topology,
  isReady: () => Promise<boolean>,
): Promise<void> {
  const gates = gatesOf(topology);
  const datacenters = Object.keys(topology.datacenters);
  const leaders = datacenters.flatMap((datacenter) => managersOf(topology, datacenter).slice(0, 1));
  const standbys = datacenters.flatMap((datacenter) => managersOf(topology, datacenter).slice(1));
  const workers = datacenters.flatMap((datacenter) => workersOf(topology, datacenter));
  await Promise.all(gates.map((gate) => cluster.start(gate)));
  await Promise.all(
    leaders.map(async (leader) => {
      const { hosting } = await cluster.start(leader);
      await hosting;
    }),
  );
  await Promise.all([...standbys, ...workers].map((node) => cluster.start(node)));
  while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** The place of which a node is one of the hosts, or its own. */
export function placeOf(node: string): string {
  return isWorker(node) ? node : (datacenterOf(node) ?? node);
}

export const isWorker = (node: string): boolean => /\.worker-\d+$/.test(node);

function portOf(url: string | undefined): number | undefined {
  return url === undefined ? undefined : Number(new URL(url).port);
}
