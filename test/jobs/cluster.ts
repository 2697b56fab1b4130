/**
 * A whole jobs system in one process, on one simulated clock and one simulated network: gates,
 * managers, workers and clients, each the real program.
 *
 *   await using cluster = await startCluster({ datacenters: { A: { managers: 2, workers: 1 } } });
 *   await cluster.begin('A', { jobId: 'j1', timeoutMs: 60_000, workflows: [scripted('w1', {})] });
 *   cluster.at(20_000, () => cluster.crash('A.manager-1'));
 *   await cluster.runUntil(61_000);
 *   expect(cluster.recorder.notes('timeout.detected')).toHaveLength(1);
 *
 * Zero is when the script begins: when all workers have registered and have been heard, or when the
 * job of `begin` is accepted. What a worker does with a workflow is in the workflow's payload, see
 * cluster/scripted-handler.ts; its handler is called `scripted`, or `on.A.worker-1` where only that
 * worker may have it.
 */

import { createRuntime } from '../../create-runtime.ts';
import { workerHealthAddress } from '../../machines/jobs/addresses.ts';
import { connectClient, type JobsClient, type NewJob } from '../../programs/jobs/client.ts';
import type { JobsConfiguration } from '../../programs/jobs/configuration.ts';
import type { Gate } from '../../programs/jobs/gate.ts';
import type { Manager } from '../../programs/jobs/manager.ts';
import type { HandlerContext } from '../../programs/jobs/worker/handlers.ts';
import type { JobWorker } from '../../programs/jobs/worker.ts';
import type { HandlerScript } from '../../simulator/jobs/scripted-handler.ts';
import { LeaseOffice } from '../../simulator/world/lease-office.ts';
import { type SimulatedNetwork, simulatedNetwork } from '../../simulator/world/network/network.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { Crew } from './cluster/crew.ts';
import { programOf } from './cluster/member.ts';
import { Passport } from './cluster/passport.ts';
import {
  type ClusterPlan,
  isOverSockets,
  managersOf,
  placeOfNode,
  workersOf,
} from './cluster/plan.ts';
import { Recorder } from './cluster/recorder.ts';
import { type RealWork, ScriptTime } from './cluster/script-time.ts';

const DELAY_MS = 50;
/** By then a client knows who hosts what, in any network that a script would have. */
const CONNECTED_MS = 1_000;
const CONNECT_LIMIT_MS = 60_000;

export async function startCluster(plan: ClusterPlan): Promise<Cluster> {
  const cluster = new Cluster(plan);
  await cluster.start();
  return cluster;
}

export interface ExtensionScript {
  /** Passed on unchecked. */
  readonly progress: unknown;
  /** Default `long_workflow`. */
  readonly reason?: string;
  readonly estimatedRemainingMs?: number;
  /** Which attempt asks. Default: the newest one on the worker. */
  readonly jobId?: string;
  readonly workflowId?: string;
}

export class Cluster {
  readonly time: ScriptTime;
  readonly network: SimulatedNetwork;
  readonly recorder: Recorder;
  readonly passport: Passport;
  readonly #plan: ClusterPlan;
  readonly #seed: number;
  readonly #office: LeaseOffice;
  readonly #crew: Crew;
  /** When the last heartbeat of each worker arrived. */
  readonly #heardAt = new Map<string, number>();
  #clients = 0;

  constructor(plan: ClusterPlan) {
    const work: RealWork[] = plan.disks === undefined ? [] : [plan.disks];
    this.time = new ScriptTime(work);
    const { clock } = this.time;
    this.#plan = plan;
    this.#seed = plan.seed ?? 1;
    this.network = simulatedNetwork({
      clock,
      delayMs: plan.delayMs ?? DELAY_MS,
      random: new SeededRandom(this.#seed, 'network'),
    });
    this.passport = new Passport(this.network, isOverSockets(plan));
    if (this.passport.sockets !== undefined) work.push(this.passport.sockets);
    this.recorder = new Recorder(
      () => clock.now(),
      (at) => this.time.sinceBegin(at),
    );
    this.#office = new LeaseOffice(clock);
    this.#crew = new Crew(plan, {
      clock,
      network: this.network,
      join: (node) => this.passport.join(node),
      office: this.#office,
      seed: this.#seed,
      logger: (node) => this.recorder.logger(node),
    });
    for (const [datacenter, { isAppointed }] of Object.entries(plan.datacenters)) {
      const [first] = managersOf(plan, datacenter);
      if (isAppointed === true && first !== undefined) this.#office.appoint(datacenter, first);
    }
  }

  get config(): JobsConfiguration {
    return this.#crew.config;
  }

  async start(): Promise<void> {
    // Packages that may be there are looked for in real time: before simulated time begins.
    await (await createRuntime()).stop();
    for (const member of this.#crew.members()) await this.time.during(member.start());
    for (const { program } of this.#crew.managers.values()) this.#listen(program);
    const limitMs = CONNECT_LIMIT_MS + this.config.heartbeatIntervalMs;
    await this.time.until('all workers are heard', () => this.#isReady(), limitMs);
    this.time.begin();
  }

  async stop(): Promise<void> {
    for (const member of this.#crew.members())
      if (member.isRunning) await this.time.during(member.stop());
    this.passport.checkManners();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Does something at a moment of the script; what it returns is awaited as time goes on. */
  at(atMs: number, action: () => unknown): void {
    this.time.at(atMs, action);
  }

  runUntil(atMs: number): Promise<void> {
    return this.time.runUntil(atMs);
  }

  /** Ends the process of one node in order. */
  async end(node: string): Promise<void> {
    await this.time.during(this.#crew.find(node).stop());
  }

  /** Loses memory, keeps its store. */
  crash(node: string): void {
    this.#crew.crash(node);
  }

  /** `forgets`: it comes back without data. For a manager that is the data of its datacenter. */
  async restart(node: string, options: { readonly forgets?: boolean } = {}): Promise<void> {
    if (options.forgets === true) this.#crew.forget(node);
    await this.#plan.disks?.reopen(placeOfNode(node));
    await this.#crew.find(node).start();
  }

  /** What is known of the lease of a datacenter is gone, its highest fence too. */
  forgetLease(datacenter: string): void {
    this.#office.forget(datacenter);
  }

  /** The process is frozen for so long. */
  pause(node: string, durationMs: number): void {
    this.#crew.find(node).pause(durationMs);
  }

  /** The node's wall clock is off from its next start on. */
  skew(node: string, skewMs: number): void {
    this.#crew.find(node).skewMs = skewMs;
  }

  /** This manager takes the lease of its datacenter now, as if the one before had just ended. */
  lead(manager: string): void {
    this.#office.appoint(placeOfNode(manager), this.#crew.find(manager).node);
  }

  /** Whether a manager reaches the lease store. */
  reachLeaseStore(manager: string, isOpen: boolean): void {
    this.#crew.find(manager).reachLeaseStore(isOpen);
  }

  /** The manager that leads a datacenter, if one does. */
  leaderOf(datacenter: string): string | undefined {
    const { managers } = this.#crew;
    return managersOf(this.#plan, datacenter).find((node) => {
      const member = managers.get(node);
      return member?.isRunning === true && member.program.runtime.isHosting;
    });
  }

  gate(node: string): Gate {
    return programOf(this.#crew.gates, node);
  }

  manager(node: string): Manager {
    return programOf(this.#crew.managers, node);
  }

  worker(node: string): JobWorker {
    return programOf(this.#crew.workers, node);
  }

  /** The last committed snapshot of an actor of a datacenter, a gate or a worker. */
  snapshot(address: string): { readonly value: unknown; readonly context: unknown } {
    const place = address.slice(address.lastIndexOf('@') + 1);
    const leader = this.leaderOf(place);
    const node = leader ?? place;
    const { runtime } = this.#crew.find(node).program as Manager;
    return runtime.actor(address as `job/${string}`).getSnapshot();
  }

  /** What runs on a worker, as its handlers see it, newest last. */
  runsOn(worker: string): readonly HandlerContext[] {
    return this.#crew.runningOn(worker);
  }

  /** A run on a worker asks for an extension. */
  extend(worker: string, script: ExtensionScript): ReturnType<HandlerContext['extend']> {
    const { jobId, workflowId, ...asked } = script;
    const newest = this.#crew
      .runningOn(worker)
      .filter((run) => jobId === undefined || run.jobId === jobId)
      .findLast((run) => workflowId === undefined || run.workflowId === workflowId);
    if (newest === undefined) throw new Error(`Nothing runs on "${worker}" that could ask.`);
    return newest.extend({ reason: 'long_workflow', ...asked } as never);
  }

  /** A client of a datacenter or a gate, on a node of its own. */
  connect(to: string, name = 'client'): Promise<JobsClient> {
    this.#clients += 1;
    const client = `${name}~${this.#clients}`;
    return this.time.during(
      connectClient({
        client,
        to,
        transport: this.passport.join(client),
        clock: this.time.clock,
        random: new SeededRandom(this.#seed, client),
      }),
    );
  }

  /**
   * Submits a job; the script begins when it is accepted, which is when heartbeats arrive where
   * frames always take as long. Resolves with the client that submitted it.
   */
  async begin(to: string, job: NewJob & { readonly jobId: string }): Promise<JobsClient> {
    const client = await this.connect(to);
    await this.time.runFor(CONNECTED_MS);
    await this.time.runFor(this.#untilHeartbeat());
    const answer = await this.time.during(client.submit(job));
    if (!answer.accepted) throw new Error(`The job was refused: ${JSON.stringify(answer)}.`);
    const { jobId } = job;
    const accepted = this.recorder
      .notes('job.accepted', { jobId })
      .find(({ node }) => placeOfNode(node) === to);
    if (accepted !== undefined) this.time.begin(this.time.now() - accepted.atMs);
    return client;
  }

  /** How long until a frame that is sent then arrives together with the next heartbeat. */
  #untilHeartbeat(): number {
    if (this.#heardAt.size === 0) return 0;
    const { heartbeatIntervalMs } = this.config;
    const { delayMs = DELAY_MS } = this.#plan;
    const arrivesAt = this.time.clock.now() + (typeof delayMs === 'number' ? delayMs : delayMs[1]);
    const sinceHeard = arrivesAt - Math.max(...this.#heardAt.values());
    return (heartbeatIntervalMs - (sinceHeard % heartbeatIntervalMs)) % heartbeatIntervalMs;
  }

  #listen({ runtime }: Manager): void {
    runtime.inspect((record) => {
      if (record.type !== 'turn' || record.event.type !== 'heartbeat.received') return;
      this.#heardAt.set(record.address, record.at);
    });
  }

  #isReady(): boolean {
    return Object.keys(this.#plan.datacenters).every(
      (datacenter) =>
        this.leaderOf(datacenter) !== undefined &&
        workersOf(this.#plan, datacenter).every((worker) =>
          this.#heardAt.has(workerHealthAddress(worker, datacenter)),
        ),
    );
  }
}

/** A workflow whose handler follows a script. */
export function scripted(
  id: string,
  script: HandlerScript,
  spec: { readonly cores?: number; readonly dependsOn?: string[]; readonly worker?: string } = {},
) {
  const { worker, ...rest } = spec;
  const handler = worker === undefined ? 'scripted' : `on.${worker}`;
  return { id, handler, payload: JSON.stringify(script), ...rest };
}
