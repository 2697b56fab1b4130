/**
 * A client of a datacenter or a gate: submits jobs, looks at them, waits for their end.
 *
 * Guarantees: every question is asked again until it is answered or its time is up, and can be
 * asked again without harm; a submission is taken once, however often its answer was lost.
 */

import { createRuntime } from '../../create-runtime.ts';
import { deskAddress } from '../../machines/jobs/addresses.ts';
import { deskMachine } from '../../machines/jobs/desk.ts';
import type {
  CancelAnswer,
  ExtendAnswer,
  JobPage,
  JobTerms,
  JobView,
  StuckWorkflow,
  SubmissionAnswer,
  WorkflowSpec,
} from '../../machines/jobs/messages/client.ts';
import type { JobStatus } from '../../machines/jobs/words.ts';
import type { Clock } from '../../runtime/clock.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { type Logger, SILENT_LOGGER } from '../../runtime/options.ts';
import type { Random } from '../../runtime/random.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { systemRandom } from '../../runtime/system-random.ts';
import type { Transport } from '../../runtime/transport.ts';
import { JOBS_LIMITS } from './limits.ts';
import { submissionPages } from './submission-pages.ts';

export interface ClientOptions {
  /** The datacenter or the gate it speaks to. */
  readonly to: string;
  readonly transport: Transport;
  /** Name of this client among all nodes, the one its transport has joined under. */
  readonly client: string;
  /** How long a question is asked before it is given up with ASK_TIMED_OUT. Default 30,000. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly signal?: AbortSignal;
}

/** A workflow as it is submitted; what is left out has its default. */
export type NewWorkflow = Pick<WorkflowSpec, 'id' | 'handler'> &
  Partial<Pick<WorkflowSpec, 'payload' | 'cores' | 'dependsOn'>>;

export interface NewJob extends JobTerms {
  /** Default: a new one. */
  readonly jobId?: string;
  readonly workflows: readonly NewWorkflow[];
}

export interface WaitOptions {
  readonly signal?: AbortSignal;
}

export interface JobsClient {
  submit(job: NewJob): Promise<SubmissionAnswer>;
  /** The job with all its workflows; undefined when there is none. */
  get(jobId: string): Promise<JobView | undefined>;
  list(options?: {
    readonly status?: JobStatus;
    readonly stuckForMs?: number;
    readonly limit?: number;
    readonly cursor?: string;
  }): Promise<JobPage>;
  /** Resolves with the job once it has ended. @throws {RuntimeError} ACTOR_UNKNOWN, ABORTED */
  wait(jobId: string, options?: WaitOptions): Promise<JobView>;
  /** The job at each change of its status, the last one when it has ended. */
  watch(jobId: string, options?: WaitOptions): AsyncIterableIterator<JobView>;
  cancel(jobId: string): Promise<CancelAnswer>;
  /** Adds time. The same `requestId` adds it once. */
  extend(
    jobId: string,
    more: {
      readonly byMs: number;
      readonly by: string;
      readonly requestId?: string;
      readonly datacenter?: string;
    },
  ): Promise<ExtendAnswer>;
  /** Milliseconds since the job, or one of its workflows, got further; undefined when there is none. */
  timeSinceProgress(jobId: string, workflowId?: string): Promise<number | undefined>;
  /** Workflows at work whose last progress is older, the longest first. */
  stuckWorkflows(thresholdMs: number, limit?: number): Promise<readonly StuckWorkflow[]>;
  stop(): Promise<void>;
}

const FINAL: ReadonlySet<JobStatus> = new Set<JobStatus>([
  'completed',
  'failed',
  'cancelled',
  'timedOut',
]);
const DEFAULT_TIMEOUT_MS = 30_000;
/** Pauses before a question is asked again; the last one goes on. */
const PATIENCE_MS = [1_000, 2_000, 4_000, 5_000];
/** Longer than the desk waits with a watch, or with a cancel. */
const LONG_PATIENCE_MS = [25_000];

/** @throws {RuntimeError} OPTION_INVALID, ABORTED */
export async function connectClient(options: ClientOptions): Promise<JobsClient> {
  const { random = systemRandom(), clock = systemClock(), transport, signal } = options;
  const runtime = await createRuntime({
    node: options.client,
    transport,
    clock,
    random,
    logger: options.logger ?? SILENT_LOGGER,
    limits: JOBS_LIMITS,
    telemetry: false,
    ...(signal !== undefined && { signal }),
  });
  return new Client(runtime.register('desk', deskMachine), clock, random, options);
}

type Question = { readonly type: string; readonly [field: string]: unknown };

class Client implements JobsClient {
  readonly #runtime: Runtime<{ desk: typeof deskMachine }>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #to: string;
  readonly #timeoutMs: number;

  constructor(
    runtime: Runtime<{ desk: typeof deskMachine }>,
    clock: Clock,
    random: Random,
    { to, timeoutMs = DEFAULT_TIMEOUT_MS }: ClientOptions,
  ) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#random = random;
    this.#to = to;
    this.#timeoutMs = timeoutMs;
  }

  async submit({
    jobId = this.#random.id(),
    workflows,
    ...terms
  }: NewJob): Promise<SubmissionAnswer> {
    const answers = await Promise.all(
      submissionPages(workflows).map((page) =>
        this.#ask<SubmissionAnswer | null>({ type: 'job.submitted', jobId, terms, ...page }),
      ),
    );
    const answer = answers.find((one) => one !== null);
    if (answer !== undefined) return answer;
    const what = `No page of job ${jobId} was taken as the last one; submit it again.`;
    throw new RuntimeError('ASK_TIMED_OUT', what);
  }

  async get(jobId: string): Promise<JobView | undefined> {
    const first = await this.#view(jobId, 1);
    if (first === undefined) return undefined;
    const workflows = [...first.workflows];
    for (let page = 2; page <= first.pages; page += 1)
      workflows.push(...((await this.#view(jobId, page))?.workflows ?? []));
    return { ...first, workflows, pages: 1 };
  }

  list({ limit = 100, ...options }: Parameters<JobsClient['list']>[0] = {}): Promise<JobPage> {
    return this.#ask<JobPage>({ type: 'jobs.asked', ...this.#request(), limit, ...options });
  }

  async wait(jobId: string, options: WaitOptions = {}): Promise<JobView> {
    for await (const job of this.watch(jobId, options)) {
      if (!FINAL.has(job.status)) continue;
      return (await this.get(jobId)) ?? job;
    }
    throw new RuntimeError('ACTOR_UNKNOWN', `There is no job ${jobId} at ${this.#to}.`);
  }

  async *watch(jobId: string, { signal }: WaitOptions = {}): AsyncIterableIterator<JobView> {
    for (let seenSeq = 0; ; ) {
      const asked = { type: 'job.watched', ...this.#request(), jobId, seenSeq };
      const { job } = await this.#ask<{ readonly job: JobView | null }>(asked, {
        patience: LONG_PATIENCE_MS,
        timeoutMs: Number.POSITIVE_INFINITY,
        ...(signal !== undefined && { signal }),
      });
      if (job === null) return;
      if (job.seq !== seenSeq) yield job;
      if (FINAL.has(job.status)) return;
      seenSeq = job.seq;
    }
  }

  cancel(jobId: string): Promise<CancelAnswer> {
    const asked = { type: 'jobCancel.requested', ...this.#request(), jobId };
    return this.#ask<CancelAnswer>(asked, { patience: LONG_PATIENCE_MS });
  }

  extend(
    jobId: string,
    { requestId = this.#random.id(), ...more }: Parameters<JobsClient['extend']>[1],
  ): Promise<ExtendAnswer> {
    return this.#ask<ExtendAnswer>({ type: 'jobExtend.requested', requestId, jobId, ...more });
  }

  async timeSinceProgress(jobId: string, workflowId?: string): Promise<number | undefined> {
    const asked = { type: 'sinceProgress.asked', ...this.#request(), jobId };
    const answer = await this.#ask<number | null>(
      workflowId === undefined ? asked : { ...asked, workflowId },
    );
    return answer ?? undefined;
  }

  stuckWorkflows(thresholdMs: number, limit = 100): Promise<readonly StuckWorkflow[]> {
    return this.#ask({
      type: 'stuckWorkflows.asked',
      ...this.#request(),
      thresholdMs,
      limit,
    });
  }

  stop(): Promise<void> {
    return this.#runtime.stop();
  }

  async #view(jobId: string, page: number): Promise<JobView | undefined> {
    const asked = { type: 'job.asked', ...this.#request(), jobId, page };
    const { job } = await this.#ask<{ readonly job: JobView | null }>(asked);
    return job ?? undefined;
  }

  #request(): { readonly requestId: string } {
    return { requestId: this.#random.id() };
  }

  /** Asks until there is an answer, or the time is up. */
  async #ask<TAnswer>(
    question: Question,
    {
      patience = PATIENCE_MS,
      timeoutMs = this.#timeoutMs,
      signal,
    }: {
      readonly patience?: readonly number[];
      readonly timeoutMs?: number;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<TAnswer> {
    const endsAt = this.#clock.now() + timeoutMs;
    const desk = this.#runtime.actor(deskAddress(this.#to));
    for (let attempt = 0; ; attempt += 1) {
      const pause = patience[Math.min(attempt, patience.length - 1)] as number;
      const left = endsAt - this.#clock.now();
      try {
        const options = {
          timeoutMs: Math.max(1, Math.min(pause, left)),
          ...(signal && { signal }),
        };
        return (await desk.ask(question as never, options)) as TAnswer;
      } catch (thrown) {
        const isLate = thrown instanceof RuntimeError && thrown.code === 'ASK_TIMED_OUT';
        if (!isLate || this.#clock.now() >= endsAt) throw thrown;
      }
    }
  }
}
