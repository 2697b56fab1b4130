/**
 * A gate's job among datacenters that say what a test tells them to: the machine on the engine, on
 * virtual time, and at each datacenter an actor in the place of its job that writes down what it hears.
 */

import type { GateJobSubmission } from '../../../machines/jobs/gate-job/context.ts';
import { gateJobMachine } from '../../../machines/jobs/gate-job.ts';
import type { LogEvent } from '../../../machines/jobs/log-events.ts';
import type { JobTerms } from '../../../machines/jobs/messages/client.ts';
import type { Figures } from '../../../machines/jobs/messages/fields.ts';
import type { GateJobRebuilt } from '../../../machines/jobs/messages/gate.ts';
import type { GateRules } from '../../../machines/jobs/rules.ts';
import { SimulatedClock, testRuntime } from '../../../simulator/testing.ts';
import { type InProcessNetwork, inProcessNetwork } from '../../../transports/in-process.ts';
import { FIGURES } from '../figures.ts';
import { type Heard, jobStandIn } from './job-stand-in.ts';

export const RULES: GateRules = {
  allStuckThresholdMs: 180_000,
  silentAfterMs: 30_000,
  quorum: 'any',
  settleLimitMs: 60_000,
  gateDispatchLimitMs: 10_000,
  reportIntervalMs: 10_000,
};

export interface WorldOptions {
  readonly targets?: readonly string[];
  readonly timeoutMs?: number;
  readonly rules?: Partial<GateRules>;
  readonly terms?: Partial<JobTerms>;
  /** Datacenters that accept at once; the others are answered for by the test. Default: all. */
  readonly accepting?: readonly string[];
  /** Datacenters without a job. */
  readonly empty?: readonly string[];
  /** Instead of a submission. */
  readonly rebuilt?: GateJobRebuilt;
  /** False: nobody answers when the gate asks how things are. Default: who has just said something does. */
  readonly isAnswering?: boolean;
}

const GATE = 'gate-job/j1@gate-1';

export async function gateWorld(options: WorldOptions = {}): Promise<GateWorld> {
  const { targets = ['A', 'B'], accepting = targets, empty = [] } = options;
  const rules = { ...RULES, ...options.rules };
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const notes: LogEvent[] = [];
  const asked: string[] = [];
  const limits = { retryMinMs: 1_000, retryMaxMs: 5_000, retryJitterPercent: 0 };
  const fenceOf = (): number => gate.runtime.fence;
  const gate: TestGate = await testRuntime({
    kinds: { 'gate-job': gateJobMachine },
    options: {
      'gate-job': {
        perform: {
          note: ({ params }) => void notes.push(params),
          dispatchTo: {
            durable: true,
            run: async ({ params: { datacenter }, send }) => {
              if (accepting.includes(datacenter)) await send(accepted(datacenter));
            },
          },
          findStatus: ({ params: { datacenter } }) => void asked.push(datacenter),
          fetchRules: {
            durable: true,
            run: ({ send }): Promise<void> =>
              send({ type: 'rules.given', rules, fence: fenceOf() }),
          },
        },
      },
    },
    node: 'gate-1',
    clock,
    limits,
    transport: () => network.join('gate-1'),
  });
  const datacenters: Record<string, Awaited<ReturnType<typeof openDatacenter>>> = {};
  for (const name of [...targets, 'X'])
    datacenters[name] = await openDatacenter(name, clock, network, !empty.includes(name));
  await gate.settle();
  const submission: GateJobSubmission = {
    jobId: 'j1',
    gateId: 'gate-1',
    gateBoot: gate.runtime.fence,
    terms: { timeoutMs: options.timeoutMs ?? 600_000, ...options.terms },
    targetDatacenters: targets,
    digest: 'd1',
    rules,
    workflowsTotal: 1,
    pages: 0,
  };
  const startedAt = clock.now();
  await gate.spawn(GATE, { input: options.rebuilt ?? submission } as never);
  await gate.settle();
  const { isAnswering = true } = options;
  return new GateWorld(gate, datacenters, network, notes, asked, startedAt, isAnswering);
}

function openDatacenter(
  name: string,
  clock: SimulatedClock,
  network: InProcessNetwork,
  hasJob: boolean,
) {
  const open = async () => {
    const runtime = await testRuntime({
      kinds: { job: jobStandIn },
      node: name,
      clock,
      transport: () => network.join(name),
    });
    if (hasJob) await runtime.spawn('job/j1');
    return runtime;
  };
  return open();
}

export const accepted = (datacenter: string, isAccepted = true, reason: string | null = null) =>
  ({
    type: 'submission.answered',
    jobId: 'j1',
    datacenter,
    accepted: isAccepted,
    created: isAccepted,
    reason,
    leaderFence: 1,
    managerId: `${datacenter}.manager-1`,
  }) as const;

/** What differs from a message in which everything is well. */
export type Saying = Partial<Omit<Figures, 'gateId'>> & {
  readonly leaderFence?: number;
  readonly [field: string]: unknown;
};

type TestGate = Awaited<ReturnType<typeof testRuntime<{ 'gate-job': typeof gateJobMachine }>>>;

export class GateWorld {
  readonly gate: TestGate;
  readonly network: InProcessNetwork;
  readonly notes: LogEvent[];
  /** Datacenters whose jobs service was asked how the job ended. */
  readonly asked: string[];
  readonly startedAt: number;
  readonly #datacenters: Record<string, Awaited<ReturnType<typeof openDatacenter>>>;
  readonly #isAnswering: boolean;
  #reportSeq = 0;

  constructor(
    gate: TestGate,
    datacenters: Record<string, Awaited<ReturnType<typeof openDatacenter>>>,
    network: InProcessNetwork,
    notes: LogEvent[],
    asked: string[],
    startedAt: number,
    isAnswering: boolean,
  ) {
    this.gate = gate;
    this.#datacenters = datacenters;
    this.network = network;
    this.notes = notes;
    this.asked = asked;
    this.startedAt = startedAt;
    this.#isAnswering = isAnswering;
  }

  get job() {
    return this.gate.actor(GATE);
  }

  get context() {
    return this.job.getSnapshot().context;
  }

  /** The name of the state, of the outermost level. */
  get state(): string {
    const { value } = this.job.getSnapshot();
    return typeof value === 'string' ? value : (Object.keys(value)[0] as string);
  }

  /** Milliseconds since the submission. */
  get now(): number {
    return this.gate.now() - this.startedAt;
  }

  async until(seconds: number): Promise<void> {
    await this.gate.advance(Math.round(seconds * 1_000) - this.now);
  }

  /** What the job of a datacenter heard, of one type or of all. */
  heard(datacenter: string, type?: string): Heard[] {
    const { heard } = this.#datacenter(datacenter).actor('job/j1').getSnapshot().context;
    return heard
      .filter((event) => type === undefined || event.type === type)
      .map((event) => ({ ...event, at: event.at - this.startedAt }));
  }

  noted(event: LogEvent['event']): LogEvent[] {
    return this.notes.filter((note) => note.event === event);
  }

  progress(datacenter: string, saying: Saying = {}): Promise<void> {
    this.#reportSeq += 1;
    const more = { reportSeq: this.#reportSeq, hasRecentProgress: true, ...TALLY };
    return this.say(datacenter, 'progress.reported', { ...more, ...saying }, true);
  }

  timeout(datacenter: string, reason: 'overall' | 'stuck', saying: Saying = {}): Promise<void> {
    const more = { reason, detail: '', sinceDetectedMs: 0, locallyTimedOut: true };
    return this.say(datacenter, 'timeout.reported', { ...more, ...saying });
  }

  final(datacenter: string, status: string, saying: Saying = {}): Promise<void> {
    const more = { ...END, ...TALLY, status, decisionEpoch: null };
    const results = { results: [], resultsOmitted: false };
    return this.say(datacenter, 'final.reported', { ...more, ...results, ...saying });
  }

  correct(datacenter: string, status: string, saying: Saying = {}): Promise<void> {
    const more = { ...END, ...TALLY, status, correction: 'requested' };
    const epochs = { rejectedDecisionEpoch: null, highestDecisionEpoch: [1, 0] };
    return this.say(datacenter, 'status.corrected', { ...more, ...epochs, ...saying });
  }

  acknowledge(datacenter: string, saying: Saying = {}): Promise<void> {
    const { leaderFence = 1, ...rest } = saying;
    return this.#send(datacenter, {
      type: 'ack.received',
      jobId: 'j1',
      datacenter,
      ackOf: 'timeout.declared',
      accepted: true,
      duplicate: false,
      reason: null,
      leaderFence,
      gateBoot: null,
      highestDecisionEpoch: [1, 1],
      decisionEpoch: [1, 1],
      reportSeq: null,
      ...rest,
    });
  }

  async say(datacenter: string, type: string, saying: Saying, isHint = false): Promise<void> {
    const { leaderFence = 1, ...rest } = saying;
    const figures: Record<string, unknown> = {
      ...FIGURES,
      elapsedMs: this.now,
      targetDatacenters: ['A', 'B'],
    };
    const others: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(rest))
      (name in figures ? figures : others)[name] = value;
    const managerId = `${datacenter}.manager-${leaderFence}`;
    const origin = { jobId: 'j1', datacenter, managerId, leaderFence };
    await this.#send(datacenter, { type, ...origin, figures, ...others }, isHint);
    const { contact, question } = this.context.datacenters[datacenter] ?? {};
    const nonce = question?.nonce;
    if (!this.#isAnswering || contact !== 'catchingUp' || nonce == null) return;
    await this.correct(datacenter, 'running', { leaderFence, ...figures, nonce });
  }

  /** The job of the datacenter is over for everybody. */
  async end(datacenter: string): Promise<void> {
    await this.#datacenter(datacenter).actor('job/j1').send({ type: 'end' });
    await this.gate.settle();
  }

  async #send(datacenter: string, event: object, isHint = false): Promise<void> {
    const job = this.#datacenter(datacenter).actor('job/j1');
    await job.send({ type: 'say', to: GATE, event, isHint });
    await this.gate.settle();
  }

  #datacenter(name: string) {
    const found = this.#datacenters[name];
    if (found === undefined) throw new Error(`There is no datacenter ${name} in this world.`);
    return found;
  }
}

const TALLY = { workflowsTotal: 1, workflowsCompleted: 0, workflowsFailed: 0 };
const END = { reason: null, localReason: null, gateReason: null, sinceEndedMs: 0 };
