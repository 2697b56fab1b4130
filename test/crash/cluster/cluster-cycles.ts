/**
 * The crash rig of a whole cluster: kills managers, gates and workers in random order under load,
 * and says whether any accepted job is gone, has two ends or the wrong one, and whether fences rose.
 *
 * Everything runs as users run it: processes of the command line, LMDB on disk, sockets, HTTP. Who
 * was killed is started again after a while, as a supervisor would. In the end everything is killed
 * at once and started again, so that what is looked at is what was on disk.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { JobPage, JobView } from '../../../machines/jobs/messages/client.ts';
import { workersOf } from '../../../simulator/jobs/names.ts';
import type { Topology } from '../../../simulator/jobs/plan.ts';
import { SeededRandom } from '../../../simulator/world/random.ts';
import { askNode } from '../../processes/jobs-api.ts';
import { isWorker, ProcessCluster, placeOf, startAll } from '../../processes/process-cluster.ts';
import { ClusterLoad } from './cluster-load.ts';
import { type ClusterFindings, ClusterTally } from './cluster-tally.ts';
import { type Quantiles, quantiles, Takeovers } from './takeovers.ts';

export interface ClusterRigOptions {
  readonly cycles: number;
  readonly seed: number;
  /** Default 6. */
  readonly jobsPerSecond?: number;
  readonly topology?: Topology;
  /** Who may be killed. Default: everybody. */
  readonly victims?: (node: string) => boolean;
  /** A fault in the nodes that the rig has to find: the gate keeps its jobs in memory. */
  readonly plant?: 'forgetfulGate';
  /** Another compiled command line than that of the sources as they are. */
  readonly program?: string | undefined;
  readonly progress?: (line: string) => void;
}

export interface ClusterRigReport extends ClusterFindings {
  readonly cycles: number;
  readonly seed: number;
  readonly submitted: number;
  readonly refused: readonly string[];
  /** How often whom. */
  readonly killed: Readonly<Record<string, number>>;
  /** Nodes that ended by themselves. */
  readonly unwanted: readonly string[];
  /** From the kill of the host of a place to the next node that says that it hosts it. */
  readonly takeoverMs: Quantiles;
  /** The same of places that nobody stands by for: with the start of the process. */
  readonly restartMs: Quantiles;
  readonly seconds: number;
  readonly hasHeld: boolean;
}

const GATE = 'gate-1';
const TOPOLOGY: Topology = {
  gates: 1,
  datacenters: { A: { managers: 2, workers: 2 }, B: { managers: 2, workers: 2 } },
};
/** Quick to see who is gone, and with tries enough for whatever is killed. */
const CONFIG = {
  heartbeatIntervalMs: 500,
  baseDeadlineMs: 3_000,
  suspectGraceMs: 2_000,
  reportIntervalMs: 1_000,
  silentAfterMs: 10_000,
  maxRetries: 10,
  maxDispatchAttempts: 100,
  dispatchBackoffMinMs: 100,
  dispatchBackoffMaxMs: 1_000,
  // Both are about a gate or a datacenter that stays away, and nobody does here.
  gateFallbackMs: 600_000,
  gateDispatchLimitMs: 600_000,
  settleLimitMs: 600_000,
  stuckThresholdMs: 600_000,
  allStuckThresholdMs: 600_000,
};
const KILL_PAUSE_MS = [100, 900] as const;
const DOWN_MS = [50, 1_500] as const;
/** Nodes that do not run at the same time: with more of them nothing would be at work. */
const DOWN_MAX = 3;
const READY_LIMIT_MS = 60_000;
const FINISH_LIMIT_MS = 90_000;
const LOOK_MS = 500;
const PAGE = 500;

export async function runClusterCycles(options: ClusterRigOptions): Promise<ClusterRigReport> {
  const { topology = TOPOLOGY, plant, program } = options;
  const isForgetful = (node: string): boolean => plant === 'forgetfulGate' && node === GATE;
  const cluster = await ProcessCluster.open({
    topology,
    config: CONFIG,
    program,
    logLevel: 'info',
    configurationOf: (node) => (isForgetful(node) ? { data: 'memory' } : {}),
  });
  const rig = new ClusterRig(cluster, topology, options);
  try {
    return await rig.run();
  } finally {
    rig.end();
    await cluster.close();
  }
}

class ClusterRig {
  readonly #cluster: ProcessCluster;
  readonly #topology: Topology;
  readonly #options: ClusterRigOptions;
  readonly #tally = new ClusterTally();
  readonly #takeovers = new Takeovers();
  readonly #killed: Record<string, number> = {};
  readonly #restarts = new Set<Promise<unknown>>();
  readonly #random: SeededRandom;
  #load: ClusterLoad | undefined;
  #isWatching = true;

  constructor(cluster: ProcessCluster, topology: Topology, options: ClusterRigOptions) {
    this.#cluster = cluster;
    this.#topology = topology;
    this.#options = options;
    this.#random = new SeededRandom(options.seed, 'cluster');
    cluster.book.read((record) => {
      this.#takeovers.take(record);
      const { node, event, fields } = record;
      if (event === 'node.hosting')
        this.#tally.host(String(fields.place), node, Number(fields.fence));
    });
  }

  async run(): Promise<ClusterRigReport> {
    const begun = performance.now();
    const { cycles, seed, jobsPerSecond = 6, progress } = this.#options;
    await startAll(this.#cluster, this.#topology, () => this.#isReady());
    const load = new ClusterLoad({
      random: this.#random.stream('load'),
      jobsPerSecond,
      datacenters: Object.keys(this.#topology.datacenters),
      url: () => this.#cluster.urlOf(GATE),
      accepted: (job) => this.#tally.accept(job),
    });
    this.#load = load;
    const watching = this.#watch();
    const chance = this.#random.stream('kills');
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      await pause(between(KILL_PAUSE_MS, chance.next()));
      await this.#killOne(chance);
      progress?.(`cycle ${cycle} of ${cycles}, ${this.#tally.accepted} jobs accepted`);
    }
    await this.#allUp();
    await load.end();
    await this.#finish();
    await this.#powerCut();
    const found = await this.#finish();
    this.#isWatching = false;
    await watching;
    const findings = this.#tally.judge(GATE, found);
    const unwanted = await this.#cluster.unwantedEnds();
    const { lost, unfinished, changed, wrong, fences } = findings;
    const bad = [lost, unfinished, changed, wrong, fences, unwanted, load.refused];
    return {
      cycles,
      seed,
      submitted: load.submitted,
      ...findings,
      refused: load.refused,
      killed: this.#killed,
      unwanted,
      takeoverMs: quantiles(this.#takeovers.byStandbyMs),
      restartMs: quantiles(this.#takeovers.byRestartMs),
      seconds: Math.round((performance.now() - begun) / 100) / 10,
      hasHeld: bad.every((list) => list.length === 0),
    };
  }

  end(): void {
    this.#isWatching = false;
    this.#load?.abandon();
  }

  async #isReady(): Promise<boolean> {
    const url = this.#cluster.urlOf(GATE);
    if (url === undefined) return false;
    const { status, body } = await askNode(url, 'GET', '/v1/workers');
    const { workers } = body as { readonly workers?: readonly unknown[] };
    const all = Object.keys(this.#topology.datacenters).flatMap((datacenter) =>
      workersOf(this.#topology, datacenter),
    );
    return status === 200 && workers?.length === all.length;
  }

  /** A node that runs; it is started again after a while, and meanwhile somebody else may be killed. */
  async #killOne(chance: SeededRandom): Promise<void> {
    const { victims = () => true } = this.#options;
    const candidates = (): readonly string[] =>
      this.#cluster.nodes.filter(
        (node) => this.#cluster.urlOf(node) !== undefined && victims(node),
      );
    while (this.#restarts.size >= DOWN_MAX || candidates().length === 0)
      await Promise.race([...this.#restarts]);
    const up = candidates();
    const node = up[Math.floor(chance.next() * up.length)] as string;
    const kind = this.#kindOf(node);
    this.#killed[kind] = (this.#killed[kind] ?? 0) + 1;
    await this.#kill(node);
    const restart = pause(between(DOWN_MS, chance.next()))
      .then(() => this.#cluster.start(node))
      .finally(() => this.#restarts.delete(restart));
    // What it did not come up with is told among the nodes that ended by themselves.
    restart.catch(() => {});
    this.#restarts.add(restart);
  }

  #kindOf(node: string): string {
    if (node === GATE) return 'gate';
    if (isWorker(node)) return 'worker';
    return [...this.#takeovers.hosts.values()].includes(node) ? 'leader' : 'standby';
  }

  async #kill(node: string): Promise<void> {
    const standsBy = this.#cluster.nodes.some(
      (other) =>
        other !== node &&
        placeOf(other) === placeOf(node) &&
        this.#cluster.urlOf(other) !== undefined,
    );
    this.#takeovers.kill(node, Date.now(), standsBy);
    await this.#cluster.kill(node);
  }

  async #allUp(): Promise<void> {
    await Promise.all(this.#restarts);
    await this.#until(READY_LIMIT_MS, () => this.#isReady().catch(() => false));
  }

  /** Everything dies in the same moment, and comes back from its disks. */
  async #powerCut(): Promise<void> {
    await Promise.all(this.#cluster.nodes.map((node) => this.#cluster.kill(node)));
    await startAll(this.#cluster, this.#topology, () => this.#isReady().catch(() => false));
  }

  /** Until every job that was accepted has ended, as far as the gate knows it, or too long. */
  async #finish(): Promise<ReadonlyMap<string, JobView>> {
    let found: ReadonlyMap<string, JobView> = new Map();
    await this.#until(FINISH_LIMIT_MS, async () => {
      found = await this.#listed();
      const views = [...found.values()];
      const isKnown = found.size >= this.#tally.accepted;
      const isOver = views.every(({ status }) => status !== 'submitted' && status !== 'running');
      // One that is lost does not come any more.
      return isOver && (isKnown || this.#options.plant !== undefined);
    });
    return found;
  }

  /** All along, what the gate says about every job: an end that somebody has read must stay. */
  async #watch(): Promise<void> {
    while (this.#isWatching) {
      for (const view of (await this.#listed()).values()) this.#tally.see(GATE, view);
      await pause(LOOK_MS);
    }
  }

  /** Every job that the gate knows now; as far as it came when it died meanwhile. */
  async #listed(): Promise<ReadonlyMap<string, JobView>> {
    const found = new Map<string, JobView>();
    try {
      let cursor: string | null = '';
      while (cursor !== null) {
        const url = this.#cluster.urlOf(GATE);
        if (url === undefined) return found;
        const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { status, body } = await askNode(url, 'GET', `/v1/jobs?limit=${PAGE}${more}`);
        if (status !== 200) return found;
        const page = body as JobPage;
        for (const view of page.jobs) found.set(view.jobId, view);
        cursor = page.cursor;
      }
    } catch {
      // Killed while it answered.
    }
    return found;
  }

  async #until(limitMs: number, isSo: () => Promise<boolean>): Promise<void> {
    const late = AbortSignal.timeout(limitMs);
    while (!late.aborted && !(await isSo())) await pause(LOOK_MS);
  }
}

function between([min, max]: readonly [number, number], share: number): number {
  return min + share * (max - min);
}
