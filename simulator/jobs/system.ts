/**
 * A whole jobs system in a pretend world: its gates, managers and workers, each the real program.
 *
 * Guarantees: only ports differ from a system in production, and what a handler does. Nodes are
 * called `gate-1`, `A.manager-1`, `A.worker-1`; the managers of a datacenter elect their leader on
 * the world's lease store and share its disk; a worker has none.
 */

import { electedLease } from '../../programs/elected-lease.ts';
import {
  type JobsConfiguration,
  leaseRules,
  resolveConfiguration,
} from '../../programs/jobs/configuration.ts';
import { startGate } from '../../programs/jobs/gate.ts';
import { startManager } from '../../programs/jobs/manager.ts';
import { startWorker } from '../../programs/jobs/worker.ts';
import type { InspectionRecord } from '../../runtime/base/inspection.ts';
import type { RuntimeLimits } from '../../runtime/base/limits.ts';
import { limitsIn } from '../simulation.ts';
import type { World } from '../world.ts';
import { gatesOf, managersOf, workersOf } from './names.ts';
import type { Plan, Topology } from './plan.ts';
import { type RecordedContext, recordedHandler } from './recorded-handler.ts';
import { type Pin, pinsOf } from './submission.ts';

const CORES = 4;

export class JobsSystem {
  readonly config: JobsConfiguration;
  readonly gates: readonly string[];
  readonly datacenters: readonly string[];
  readonly #world: World;
  readonly #topology: Topology;
  readonly #limits: Partial<RuntimeLimits>;
  readonly #pins: ReadonlyMap<string, Pin>;
  /** Options of single nodes that differ from those of all. */
  readonly #ownConfig = new Map<string, Partial<JobsConfiguration>>();
  /** Turns of the machines that elect leaders, and the timers and messages that they took. */
  electionEvents = 0;
  /** What runs on each worker, newest last. */
  readonly #running = new Map<string, Set<RecordedContext>>();

  /** Adds the nodes; nothing runs yet. */
  constructor(world: World, plan: Pick<Plan, 'topology' | 'config' | 'steps' | 'bounds'>) {
    const { topology, config, bounds = {} } = plan;
    this.#limits = limitsIn(bounds);
    this.#pins = pinsOf(plan);
    this.#world = world;
    this.#topology = topology;
    this.config = resolveConfiguration(config);
    this.gates = gatesOf(topology);
    this.datacenters = Object.keys(topology.datacenters);
    for (const gate of this.gates) this.#addGate(gate);
    for (const datacenter of this.datacenters) {
      for (const manager of this.managersOf(datacenter)) this.#addManager(manager, datacenter);
      for (const worker of this.workersOf(datacenter)) this.#addWorker(worker, datacenter);
    }
  }

  managersOf(datacenter: string): readonly string[] {
    return managersOf(this.#topology, datacenter);
  }

  workersOf(datacenter: string): readonly string[] {
    return workersOf(this.#topology, datacenter);
  }

  /** Workers of all datacenters. */
  get workers(): readonly string[] {
    return this.datacenters.flatMap((datacenter) => this.workersOf(datacenter));
  }

  /** From its next start on a node has these options beside those of all. */
  configure(node: string, config: Partial<JobsConfiguration>): void {
    this.#ownConfig.set(node, config);
  }

  /** What runs on a worker, newest last. */
  runningOn(worker: string): readonly RecordedContext[] {
    return [...(this.#running.get(worker) ?? [])];
  }

  #countTurn(record: InspectionRecord): void {
    if (record.type !== 'turn') return;
    this.electionEvents += record.from !== undefined || isTimer(record.event.type) ? 2 : 1;
  }

  #addGate(gate: string): void {
    const { datacenters } = this;
    this.#world.add({
      node: gate,
      place: gate,
      start: ({ counter: _, ...ports }) =>
        startGate({
          gate,
          datacenters,
          config: this.#configOf(gate),
          limits: this.#limits,
          telemetry: false,
          ...ports,
        }),
    });
  }

  #addManager(manager: string, datacenter: string): void {
    const { gates } = this;
    this.#world.add({
      node: manager,
      place: datacenter,
      start: ({ counter: { leaseStore }, ...ports }) => {
        const config = this.#configOf(manager);
        const lease = electedLease({
          node: manager,
          leaseStore,
          rules: leaseRules(config),
          ...ports,
          // Its actor is in memory and in no place: nothing of it is history.
          inspect: (record) => this.#countTurn(record),
        });
        return startManager({
          datacenter,
          manager,
          gates,
          config,
          limits: this.#limits,
          lease,
          telemetry: false,
          ...ports,
        });
      },
    });
  }

  #addWorker(worker: string, datacenter: string): void {
    const { config } = this;
    const { history } = this.#world;
    const { cores = CORES } = this.#topology.datacenters[datacenter] ?? {};
    this.#world.add({
      node: worker,
      place: worker,
      start: ({ counter: _, store: __, onFatal: ___, ...ports }) => {
        // Those of an earlier life have died with it.
        const running = new Set<RecordedContext>();
        this.#running.set(worker, running);
        const handler = recordedHandler({
          clock: ports.clock,
          running,
          datacenter,
          tell: (fact) => history.add(worker, fact),
        });
        const handlers = Object.fromEntries(
          ['scripted', ...this.#pinsFor(worker, datacenter)].map((name) => [name, handler]),
        );
        return startWorker({
          worker,
          datacenter,
          cores,
          handlers,
          config,
          limits: this.#limits,
          telemetry: false,
          ...ports,
        });
      },
    });
  }

  #configOf(node: string): JobsConfiguration {
    return { ...this.config, ...this.#ownConfig.get(node) };
  }

  /**
   * Handlers of workflows whose first attempt goes to a certain worker: it alone has them. What is
   * meant for the first worker goes there anyway while all are idle, and may go on elsewhere.
   */
  #pinsFor(worker: string, datacenter: string): readonly string[] {
    const [first] = this.workersOf(datacenter);
    return [...this.#pins]
      .filter(([, pin]) => [undefined, worker, first].includes(pin[datacenter]))
      .map(([name]) => name);
  }
}

/** Whether an event is a deadline that has come. */
export function isTimer(type: string): boolean {
  return type.startsWith('xstate.after.');
}
