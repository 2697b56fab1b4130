/**
 * A scenario on real processes: the cluster of its topology, its scripted workers, and what its
 * steps do to them.
 *
 * A crash is SIGKILL, a pause SIGSTOP and SIGCONT, a partition the proxies between two sides. A
 * manager that a later step appoints leader stands still until then, so that nobody takes the lease
 * before. Clients ask over HTTP, and go on asking until somebody answers for the place.
 */

import { join } from 'node:path';
import type { JobView } from '../../machines/jobs/messages/client.ts';
import {
  datacenterOf,
  gatesOf,
  managersOf,
  nodesIn,
  workersOf,
} from '../../simulator/jobs/names.ts';
import type { Plan, PlannedJob, Step } from '../../simulator/jobs/plan.ts';
import { newJob, pinsOf } from '../../simulator/jobs/submission.ts';
import { type ApiAnswer, askNode, isUnavailable } from './jobs-api.ts';
import type { LogRecord } from './log-book.ts';
import { ProcessCluster, placeOf, startAll } from './process-cluster.ts';
import { WorkerWire } from './worker-wire.ts';

/** A call that was made, and what came of it. */
export interface Call {
  readonly request: string;
  readonly jobId: string;
  readonly to: string;
  readonly answer: ApiAnswer | undefined;
}

const READY_LIMIT_MS = 60_000;
const CALL_LIMIT_MS = 20_000;
const LOOK_MS = 40;
/** How long anybody who asks for an extension waits for its run to begin. */
const RUN_LIMIT_MS = 5_000;

export class ProcessScene {
  readonly cluster: ProcessCluster;
  readonly calls: Call[] = [];
  readonly #plan: Plan;
  readonly #wire: WorkerWire;
  readonly #pending = new Set<Promise<unknown>>();
  readonly #timers = new Set<NodeJS.Timeout>();

  /** `plan`: at the pace of the processes. */
  static async open(plan: Plan, program?: string): Promise<ProcessScene> {
    const wire = await WorkerWire.open();
    const pins = pinsOf(plan);
    const { topology } = plan;
    const cluster: ProcessCluster = await ProcessCluster.open({
      topology,
      config: plan.config,
      program,
      handlersOf: (worker) => ({
        file: join(import.meta.dirname, 'handlers.mjs'),
        environment: {
          SCENARIO_WORKER: JSON.stringify({
            port: wire.port,
            worker,
            datacenter: datacenterOf(worker),
            names: ['scripted', ...namesFor(worker, topology, pins)],
            sources: cluster.sources,
          }),
        },
      }),
    });
    return new ProcessScene(plan, cluster, wire);
  }

  private constructor(plan: Plan, cluster: ProcessCluster, wire: WorkerWire) {
    this.#plan = plan;
    this.cluster = cluster;
    this.#wire = wire;
  }

  /** What a step could not do, and nodes that ended by themselves. */
  async troubles(): Promise<readonly string[]> {
    // Chance did not know whether anything would run then.
    const unable = this.#plan.isDrawn === true ? [] : this.#wire.failures;
    return [...unable, ...(await this.cluster.unwantedEnds())];
  }

  /** Everything runs, has registered and is known; those that are appointed later stand still. */
  async bringUp(): Promise<void> {
    const { topology, steps } = this.#plan;
    const workers = Object.keys(topology.datacenters).flatMap((place) =>
      workersOf(topology, place),
    );
    const late = AbortSignal.timeout(READY_LIMIT_MS);
    await startAll(this.cluster, topology, async () => {
      const { records } = this.cluster.book;
      if (late.aborted) throw new Error(`The cluster does not come up: ${lastWords(records)}`);
      const registered = records.filter(({ event }) => event === 'worker.registered');
      const known = new Set(registered.map(({ fields }) => fields.workerId));
      if (!workers.every((worker) => known.has(worker))) return false;
      return this.#gatesKnowAll(workers);
    });
    for (const step of steps) if (step.do === 'lead') this.cluster.process(step.manager).pause();
  }

  /** Does it now; what it leads to may take longer. */
  carryOut(step: Step): void {
    const { cluster } = this;
    switch (step.do) {
      case 'submit':
        return this.#submit(step.job);
      case 'cancel':
        return this.#call('cancel', step.to, step.jobId, 'POST', '/cancel', {});
      case 'get':
        return this.#call('get', step.to, step.jobId, 'GET', '');
      case 'extendJob': {
        const { byMs, requestId } = step;
        const more = { byMs, ...(requestId !== undefined && { requestId }) };
        return this.#call('extend', step.to, step.jobId, 'POST', '/extend', more);
      }
      case 'extend':
        return this.#wire.extend(step, this.#plan.isDrawn === true ? 0 : RUN_LIMIT_MS);
      case 'crash':
        if (cluster.isUp(step.node)) this.#after(cluster.kill(step.node));
        return;
      case 'restart':
        if (!cluster.isUp(step.node)) this.#after(cluster.start(step.node));
        return;
      case 'pause':
        return this.#pause(step.node, step.forMs);
      case 'partition':
        return this.#part(step);
      case 'heal':
        return cluster.join(cluster.nodes, cluster.nodes);
      case 'lead':
        return cluster.process(step.manager).resume();
      default:
        throw new Error(`Processes cannot do "${step.do}".`);
    }
  }

  /** The job as a place has it now; undefined where nobody can be asked, or knows it. */
  async view(jobId: string, place: string): Promise<JobView | undefined> {
    for (const url of this.#urlsOf(place)) {
      try {
        const { status, body } = await askNode(url, 'GET', `/v1/jobs/${jobId}`);
        if (status === 200) return body as JobView;
      } catch {
        // It has just gone, or stands still: another one may answer.
      }
    }
    return undefined;
  }

  /** Calls and starts that are under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await this.cluster.close();
    await this.#wire.close();
    await Promise.allSettled(this.#pending);
  }

  async #gatesKnowAll(workers: readonly string[]): Promise<boolean> {
    for (const gate of gatesOf(this.#plan.topology)) {
      const url = this.cluster.urlOf(gate);
      if (url === undefined) return false;
      const { status, body } = await askNode(url, 'GET', '/v1/workers');
      if (status !== 200) return false;
      const listed = (body as { workers: ReadonlyArray<{ workerId: string }> }).workers;
      const ids = new Set(listed.map(({ workerId }) => workerId));
      if (!workers.every((worker) => ids.has(worker))) return false;
    }
    return true;
  }

  #submit(job: PlannedJob): void {
    const { datacenters, ...terms } = job;
    const body = {
      ...newJob(terms),
      ...(datacenters !== undefined && { targetDatacenters: datacenters }),
    };
    this.#call('submit', job.to, job.jobId, 'POST', undefined, body);
  }

  /** `path` is behind that of the job; without one it is about all of them. */
  #call(
    request: string,
    to: string,
    jobId: string,
    method: 'GET' | 'POST',
    path: string | undefined,
    body?: unknown,
  ): void {
    const where = path === undefined ? '/v1/jobs' : `/v1/jobs/${jobId}${path}`;
    this.#after(
      this.#ask(to, method, where, body).then((answer) => {
        this.calls.push({ request, jobId, to, answer });
      }),
    );
  }

  async #ask(
    to: string,
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
  ): Promise<ApiAnswer | undefined> {
    const late = AbortSignal.timeout(CALL_LIMIT_MS);
    while (!late.aborted) {
      for (const url of this.#urlsOf(to)) {
        try {
          const answer = await askNode(url, method, path, body);
          if (!isUnavailable(answer)) return answer;
        } catch {
          // Nobody can say whether it was done: asking again does no harm.
        }
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return undefined;
  }

  /** The host first, as far as it is known. */
  #urlsOf(place: string): readonly string[] {
    const { cluster } = this;
    const { topology } = this.#plan;
    const nodes = place in topology.datacenters ? managersOf(topology, place) : [place];
    const host = cluster.hostOf(place);
    const awake = nodes.filter((node) => cluster.isUp(node) && !cluster.process(node).isStopped);
    const inOrder = [...awake].sort((one, other) => Number(other === host) - Number(one === host));
    return inOrder.flatMap((node) => cluster.urlOf(node) ?? []);
  }

  #pause(node: string, forMs: number): void {
    if (!this.cluster.isUp(node)) return;
    const process = this.cluster.process(node);
    process.pause();
    this.#later(forMs, () => {
      process.resume();
      // As a supervisor would.
      if (process.isDeposed) this.#after(this.cluster.start(node));
    });
  }

  #part({ sides, forMs }: Extract<Step, { readonly do: 'partition' }>): void {
    const { topology } = this.#plan;
    const groups = sides.map((side) => side.flatMap((name) => meant(name, topology)));
    const pairs = groups.flatMap((one, index) =>
      groups.slice(index + 1).map((other) => [one, other] as const),
    );
    for (const [one, other] of pairs) this.cluster.part(one, other);
    if (forMs === null) return;
    this.#later(forMs, () => {
      for (const [one, other] of pairs) this.cluster.join(one, other);
    });
  }

  #later(ms: number, what: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      what();
    }, ms);
    this.#timers.add(timer);
  }

  #after(work: Promise<unknown>): void {
    const kept = work.finally(() => this.#pending.delete(kept));
    kept.catch(() => {});
    this.#pending.add(kept);
  }
}

function lastWords(records: readonly LogRecord[]): string {
  return records
    .slice(-10)
    .map(({ node, event }) => `${node} ${event}`)
    .join(', ');
}

/** `A` and `A.*` are all of a datacenter. */
function meant(name: string, topology: Plan['topology']): readonly string[] {
  const datacenter = name.endsWith('.*') ? name.slice(0, -2) : name;
  return datacenter in topology.datacenters ? nodesIn(topology, datacenter) : [name];
}

/** The handlers of workflows that may begin on a worker: where none is named for it, all may. */
function namesFor(
  worker: string,
  topology: Plan['topology'],
  pins: ReturnType<typeof pinsOf>,
): readonly string[] {
  const datacenter = placeOf(datacenterOf(worker) ?? '');
  const [first] = workersOf(topology, datacenter);
  return [...pins]
    .filter(([, pin]) => [undefined, worker, first].includes(pin[datacenter]))
    .map(([name]) => name);
}
