/**
 * A real gate among datacenters that only pretend: a jobs service that answers as a test tells it to, and
 * a job that writes down what it hears. All of them on one simulated clock.
 */

import { jobsServiceMachine } from '../../../machines/jobs/jobs-service.ts';
import type { LogEvent } from '../../../machines/jobs/log-events.ts';
import type { JobSubmitted, SubmissionAnswer } from '../../../machines/jobs/messages/client.ts';
import { connectClient, type JobsClient } from '../../../programs/jobs/client.ts';
import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import { type Gate, startGate } from '../../../programs/jobs/gate.ts';
import { type SimulatedClock, testRuntime } from '../../../simulator/testing.ts';
import { SeededRandom } from '../../../simulator/world/random.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { inProcessNetwork } from '../../../transports/in-process.ts';
import { ScriptTime } from '../cluster/script-time.ts';
import { jobStandIn } from '../machines/job-stand-in.ts';

/** What the jobs service of a datacenter answers; what is missing it does not answer. */
export interface ServiceScript {
  /** To the last part of a submission that was missing. */
  readonly submit?: Partial<SubmissionAnswer> | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: answers of the jobs service are what tests say they are.
  readonly [question: string]: any;
}

/** The question was taken, and its answer gets lost on the way. */
export const LOST = 'lost';

export interface Datacenter {
  script: ServiceScript;
  /** Everything its jobs service was asked, but for its clock. */
  readonly asked: Array<{ readonly type: string; readonly [field: string]: unknown }>;
  readonly pages: JobSubmitted[];
  readonly runtime: Awaited<ReturnType<typeof openRuntime>>;
}

export class GateStage {
  readonly time = new ScriptTime();
  readonly network = inProcessNetwork();
  readonly store = memoryStore();
  readonly notes: LogEvent[] = [];
  readonly datacenters = new Map<string, Datacenter>();
  readonly config: Partial<JobsConfiguration>;
  #gate: Gate | undefined;
  #clients = 0;

  constructor(config: Partial<JobsConfiguration> = {}) {
    this.config = config;
  }

  get gate(): Gate {
    if (this.#gate === undefined) throw new Error('The gate has not been started.');
    return this.#gate;
  }

  get clock(): SimulatedClock {
    return this.time.clock;
  }

  /** Milliseconds since the stage was built. */
  get now(): number {
    return this.time.now();
  }

  async start(datacenters: readonly string[] = ['A', 'B']): Promise<void> {
    this.#gate = await this.during(
      startGate({
        gate: 'gate-1',
        datacenters,
        config: this.config,
        transport: this.network.join('gate-1'),
        store: this.store,
        clock: this.clock,
        random: new SeededRandom(1, `gate/${this.now}`),
        onNote: (note) => this.notes.push(note),
        telemetry: false,
      }),
    );
    await this.settle();
  }

  async open(name: string, script: ServiceScript = {}): Promise<Datacenter> {
    const asked: Datacenter['asked'] = [];
    const pages: JobSubmitted[] = [];
    const datacenter = { script, asked, pages } as unknown as Datacenter;
    const runtime = await openRuntime(this, name, datacenter);
    Object.assign(datacenter, { runtime });
    await runtime.spawn('desk/main');
    await this.settle();
    this.datacenters.set(name, datacenter);
    return datacenter;
  }

  datacenter(name: string): Datacenter {
    const found = this.datacenters.get(name);
    if (found === undefined) throw new Error(`There is no datacenter ${name}.`);
    return found;
  }

  connect(): Promise<JobsClient> {
    this.#clients += 1;
    const node = `client-${this.#clients}`;
    const transport = this.network.join(node);
    const random = new SeededRandom(1, node);
    return this.during(
      connectClient({ client: node, to: 'gate-1', transport, clock: this.clock, random }),
    );
  }

  /** Lets the job of a datacenter say something to any actor. */
  async say(name: string, to: string, event: object, from = 'job/j1'): Promise<void> {
    const { runtime } = this.datacenter(name);
    const speaker = await runtime.spawn(from as 'job/j1', { ifAbsent: true });
    await speaker.send({ type: 'say', to, event } as never);
    await this.settle();
  }

  /** What the job of a datacenter has heard. */
  heard(name: string, type: string) {
    const { runtime } = this.datacenter(name);
    const { heard } = runtime.actor('job/j1').getSnapshot().context;
    return heard.filter((event) => event.type === type);
  }

  job(jobId = 'j1') {
    return this.gate.runtime.actor(`gate-job/${jobId}@gate-1`);
  }

  until(seconds: number): Promise<void> {
    return this.time.runUntil(Math.round(seconds * 1_000));
  }

  settle(): Promise<void> {
    return this.time.runFor(0);
  }

  during<T>(promise: Promise<T>): Promise<T> {
    return this.time.during(promise);
  }

  /** The process of the gate dies and comes back with its data. */
  async restart(datacenters?: readonly string[]): Promise<void> {
    this.gate.crash();
    await this.settle();
    await this.start(datacenters);
  }
}

function openRuntime(stage: GateStage, name: string, datacenter: Datacenter) {
  type Call = {
    readonly params: { readonly type: string; readonly replyTo?: string | undefined };
    reply(replyTo: string | undefined, value: unknown): void;
  };
  const answer = ({ params, reply }: Call): Promise<void> | undefined => {
    if ((params as { readonly jobId?: string }).jobId !== 'gate-1') datacenter.asked.push(params);
    const script = datacenter.script[params.type];
    if (script === LOST) return new Promise<void>(() => {});
    if (script !== undefined) reply(params.replyTo, script);
    return undefined;
  };
  const submitJob = ({ params, reply }: { readonly params: JobSubmitted } & Call): void => {
    const { jobId, pages, replyTo } = params;
    datacenter.asked.push(params as never);
    const { submit } = datacenter.script;
    if (submit === undefined) return;
    datacenter.pages.push(params);
    const isWhole = datacenter.pages.length % pages === 0;
    const whole = { jobId, created: true, status: 'submitted', reason: null, leaderFence: 1 };
    reply(replyTo, isWhole ? { ...whole, managerId: `${name}.manager-1`, ...submit } : null);
  };
  return testRuntime({
    kinds: { desk: jobsServiceMachine, job: jobStandIn },
    options: {
      desk: {
        perform: {
          submitJob,
          viewJob: answer,
          listStuck: answer,
          extendJob: answer,
          tellSinceProgress: answer,
        },
      },
    },
    node: name,
    clock: stage.clock,
    transport: () => stage.network.join(name),
  });
}
