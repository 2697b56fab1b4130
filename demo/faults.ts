/**
 * Faults of the demo: carried out on the processes, and remembered for the judge.
 *
 * Guarantees: each is a real one (SIGSTOP, SIGKILL, a restart, a way on which nothing passes), has a
 * beginning and an end, and is told when it begins and when it ends. One that is impossible now (no
 * leader to kill, cut off already) does nothing and says so.
 */

import type { Cluster } from './cluster.ts';
import type { Datacenter } from './topology.ts';

export const FAULT_KINDS = ['workerPaused', 'managerKilled', 'gateRestarted', 'partition'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** The node that it happened to; the datacenter of a partition. */
  readonly target: string;
  /** Left out: it is everybody's. */
  readonly datacenter?: Datacenter;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Missing while it lasts. */
  endedAt?: number;
}

export interface FaultListener {
  began(fault: Fault, lengthMs: number): void;
  ended(fault: Fault): void;
}

/** Faults that are remembered; of more the oldest are forgotten. */
const KEPT_MAX = 10_000;

export class Faults {
  readonly all: Fault[] = [];
  readonly #cluster: Cluster;
  readonly #listener: FaultListener;
  readonly #partitions = new Map<Datacenter, { fault: Fault; timer: NodeJS.Timeout | undefined }>();
  #isOver = false;

  constructor(cluster: Cluster, listener: FaultListener) {
    this.#cluster = cluster;
    this.#listener = listener;
  }

  /** The datacenter that is cut off now. */
  get cutOff(): Datacenter | undefined {
    return this.#partitions.keys().next().value;
  }

  /** `name`: of that worker. @returns false when there is nothing to do it to. */
  pauseWorker(datacenter: Datacenter, lengthMs: number, name?: string): boolean {
    const [worker] = this.#cluster
      .in(datacenter, 'worker')
      .filter(({ isRunning, isPaused }) => isRunning && !isPaused)
      .filter(({ plan }) => name === undefined || plan.name === name);
    if (worker === undefined || this.#isOver) return false;
    const fault = this.#begin('workerPaused', worker.plan.name, lengthMs, datacenter);
    void worker.pause(lengthMs).then(() => this.#end(fault));
    return true;
  }

  /** @returns false when nobody leads there. */
  killLeader(datacenter: Datacenter, downMs: number): boolean {
    const leader = this.#cluster.leaderOf(datacenter);
    if (leader === undefined || this.#isOver) return false;
    const fault = this.#begin('managerKilled', leader.plan.name, downMs, datacenter);
    void this.#cluster.kill(leader, downMs).then(() => this.#end(fault));
    return true;
  }

  /** @returns false when it does not run. */
  restartGate(): boolean {
    const { gate } = this.#cluster;
    if (!gate.isRunning || gate.fence === undefined || this.#isOver) return false;
    const fault = this.#begin('gateRestarted', gate.plan.name, 0);
    void this.#cluster.restart(gate).then(() => this.#end(fault));
    return true;
  }

  /** Cuts the datacenter off for `lengthMs`, or until `heal`. @returns false when it is cut off already. */
  cutOffDatacenter(datacenter: Datacenter, lengthMs?: number): boolean {
    if (this.#partitions.has(datacenter) || this.#isOver) return false;
    const fault = this.#begin('partition', datacenter, lengthMs ?? 0, datacenter);
    this.#cluster.cutOff(datacenter);
    const timer =
      lengthMs === undefined ? undefined : setTimeout(() => this.heal(datacenter), lengthMs);
    this.#partitions.set(datacenter, { fault, timer });
    return true;
  }

  heal(datacenter: Datacenter): void {
    const partition = this.#partitions.get(datacenter);
    if (partition === undefined) return;
    this.#partitions.delete(datacenter);
    clearTimeout(partition.timer);
    this.#cluster.heal(datacenter);
    this.#end(partition.fault);
  }

  /** Puts everything right, and lets nothing happen any more. */
  stop(): void {
    this.#isOver = true;
    for (const datacenter of [...this.#partitions.keys()]) this.heal(datacenter);
    for (const node of this.#cluster.nodes.values()) node.resume();
  }

  #begin(kind: FaultKind, target: string, lengthMs: number, datacenter?: Datacenter): Fault {
    const fault: Fault = { kind, target, at: Date.now(), ...(datacenter && { datacenter }) };
    this.all.push(fault);
    if (this.all.length > KEPT_MAX) this.all.shift();
    this.#listener.began(fault, lengthMs);
    return fault;
  }

  #end(fault: Fault): void {
    fault.endedAt = Date.now();
    this.#listener.ended(fault);
  }
}
