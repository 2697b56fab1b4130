/**
 * The nodes of a cluster: which there are, and what starts each of them.
 */

import { electedLease } from '../../../programs/elected-lease.ts';
import {
  type JobsConfiguration,
  leaseRules,
  resolveConfiguration,
} from '../../../programs/jobs/configuration.ts';
import { type Gate, startGate } from '../../../programs/jobs/gate.ts';
import { type Manager, startManager } from '../../../programs/jobs/manager.ts';
import type { HandlerContext } from '../../../programs/jobs/worker/handlers.ts';
import { type JobWorker, startWorker } from '../../../programs/jobs/worker.ts';
import type { Store } from '../../../runtime/ports/store.ts';
import { scriptedHandler } from '../../../simulator/jobs/scripted-handler.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { Member, type MemberPorts, type RunningProgram, type Surroundings } from './member.ts';
import { type ClusterPlan, gatesOf, managersOf, placeOfNode, workersOf } from './plan.ts';
import { slowStore } from './slow-store.ts';

const CORES = 4;

export class Crew {
  readonly config: JobsConfiguration;
  readonly gates = new Map<string, Member<Gate>>();
  readonly managers = new Map<string, Member<Manager>>();
  readonly workers = new Map<string, Member<JobWorker>>();
  readonly #plan: ClusterPlan;
  readonly #surroundings: Surroundings;
  readonly #stores = new Map<string, Store>();
  /** What runs on each worker, newest last. */
  readonly #running = new Map<string, Set<HandlerContext>>();

  constructor(plan: ClusterPlan, surroundings: Surroundings) {
    this.config = resolveConfiguration(plan.config);
    this.#plan = plan;
    this.#surroundings = surroundings;
    for (const gate of gatesOf(plan)) this.gates.set(gate, this.#gate(gate));
    for (const datacenter of Object.keys(plan.datacenters)) {
      for (const manager of managersOf(plan, datacenter))
        this.managers.set(manager, this.#manager(manager, datacenter));
      for (const worker of workersOf(plan, datacenter))
        this.workers.set(worker, this.#worker(worker, datacenter));
    }
  }

  /** In the order in which they are started. */
  members(): Member[] {
    return [...this.gates.values(), ...this.managers.values(), ...this.workers.values()];
  }

  /** @throws {Error} when there is none of that name. */
  find(node: string): Member {
    const members = this.members();
    const member = members.find((one) => one.node === node);
    if (member !== undefined) return member;
    const known = members.map((one) => one.node).join(', ');
    throw new Error(`There is no node "${node}". There are: ${known}.`);
  }

  crash(node: string): void {
    this.find(node).crash();
    this.#running.get(node)?.clear();
  }

  /** The data of a node, or of a manager's datacenter, is gone when it starts the next time. */
  forget(node: string): void {
    this.#stores.delete(placeOfNode(node));
  }

  /** What runs on a worker, newest last. */
  runningOn(worker: string): readonly HandlerContext[] {
    return [...(this.#running.get(worker) ?? [])];
  }

  #gate(gate: string): Member<Gate> {
    const datacenters = Object.keys(this.#plan.datacenters);
    return this.#member(gate, ({ counter: _, ...ports }) =>
      startGate({ gate, datacenters, config: this.config, telemetry: false, ...ports }),
    );
  }

  #manager(manager: string, datacenter: string): Member<Manager> {
    const { config } = this;
    const gates = gatesOf(this.#plan);
    return this.#member(manager, ({ counter: { leaseStore }, ...ports }) => {
      const rules = leaseRules(config);
      const lease = electedLease({ node: manager, leaseStore, rules, ...ports });
      return startManager({
        datacenter,
        manager,
        gates,
        config,
        lease,
        telemetry: false,
        ...ports,
      });
    });
  }

  #worker(worker: string, datacenter: string): Member<JobWorker> {
    const { config } = this;
    const { cores = CORES } = this.#plan.datacenters[datacenter] ?? {};
    const running = new Set<HandlerContext>();
    this.#running.set(worker, running);
    return this.#member(worker, ({ counter: _, store: __, ...ports }) => {
      const handler = scriptedHandler(ports.clock, running, datacenter);
      const handlers = { scripted: handler, [`on.${worker}`]: handler };
      return startWorker({ worker, datacenter, cores, handlers, config, ...ports });
    });
  }

  #member<TProgram extends RunningProgram>(
    node: string,
    begin: (ports: MemberPorts) => Promise<TProgram>,
  ): Member<TProgram> {
    const member = new Member(node, this.#surroundings, () => this.#storeOf(node), begin);
    member.skewMs = this.#plan.skews?.[node] ?? 0;
    return member;
  }

  /** The managers of a datacenter have one store. */
  #storeOf(node: string): Store {
    const place = placeOfNode(node);
    const { disks, commitMs } = this.#plan;
    if (disks !== undefined) return disks.storeOf(place);
    const { clock } = this.#surroundings;
    const born = () =>
      commitMs === undefined ? memoryStore() : slowStore(memoryStore(), clock, commitMs);
    const store = this.#stores.get(place) ?? born();
    this.#stores.set(place, store);
    return store;
  }
}
