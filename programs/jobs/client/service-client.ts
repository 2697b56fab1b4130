/**
 * Jobs service client: the questions of a client, and the way it asks a jobs service.
 *
 * Guarantees: every question is asked again until it is answered or its time is up, and can be
 * asked again without harm; a submission is taken once, however often its answer was lost. It does
 * not care where the jobs service is: on another node, or in this process.
 */

import type {
  CancelAnswer,
  ExtendAnswer,
  JobPage,
  JobView,
  StuckWorkflow,
  SubmissionAnswer,
  WorkerPage,
} from '../../../machines/jobs/messages/client.ts';
import type { JobStatus } from '../../../machines/jobs/words.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import type { HandedOver } from '../submission/handed-over.ts';
import type { SubmissionPart } from '../submission/parts.ts';
import { handIn } from './hand-in.ts';
import type { JobsClient, NewJob, SubmitOptions, WaitOptions } from './jobs-client.ts';
import { pause } from './pause.ts';
import { isRefusedForNow, WaitingRoom } from './waiting-room.ts';

const FINAL: ReadonlySet<JobStatus> = new Set<JobStatus>([
  'completed',
  'failed',
  'cancelled',
  'timedOut',
]);
export const DEFAULT_TIMEOUT_MS = 30_000;
/** Time for the answer of a jobs service that has taken a question, before it is asked again; the last one goes on. */
const PATIENCE_MS = [1_000, 2_000, 4_000, 5_000];
/** A jobs service answers the last part of a large job when all of it is stored. */
const TAKING_IN_MS = [10_000];
/** Longer than the jobs service waits with a watch, or with a cancel. */
const LONG_PATIENCE_MS = [25_000];

/** A jobs service that is away as long is asked with another question. */
const LONGEST_WAIT_MS = 3_600_000;
/** A question that was lost is asked again after so long: several in a row are no storm. */
const LOST_PAUSE_MS = 100;
const NEVER = new AbortController().signal;

export type Question = { readonly type: string; readonly [field: string]: unknown };

/** The jobs service that is asked, and what asking takes. */
export interface ServiceLine {
  /** The datacenter or the gate whose jobs service it is. */
  readonly to: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Time for which a question is asked before it is given up. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** False where no question and no answer gets lost: then there is no hurry to ask again. */
  readonly mayLose: boolean;
  ask(
    question: Question,
    options: {
      readonly timeoutMs: number;
      /** From when the jobs service has taken the question. */
      readonly answerMs: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<unknown>;
  /** True when a job refused as overload is submitted again while a question may be asked. Default: no. */
  readonly waitsForRoom?: boolean;
  /**
   * Holds a job for the jobs service of this process, under the name that is returned, until it is
   * released. Left out between processes, where a job travels in parts.
   */
  readonly handOver?: HandOver;
  /** Stops what ends with the client. */
  stop(): Promise<void>;
}

type HandOver = (job: HandedOver) => { readonly name: string; release(): void };

function unlessNotAllowed<TAnswer>(answer: TAnswer): (thrown: unknown) => TAnswer {
  return (thrown) => {
    if (thrown instanceof RuntimeError && thrown.code === 'NOT_ALLOWED') return answer;
    throw thrown;
  };
}

export class ServiceClient implements JobsClient {
  readonly #line: ServiceLine;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #timeoutMs: number;
  readonly #room: WaitingRoom | undefined;

  constructor(line: ServiceLine) {
    this.#line = line;
    this.#room = line.waitsForRoom === true ? new WaitingRoom(line) : undefined;
    this.#clock = line.clock;
    this.#random = line.random;
    this.#timeoutMs = line.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  async submit(
    { jobId = this.#random.id(), workflows, ...terms }: NewJob,
    { client, isChecked = false }: SubmitOptions = {},
  ): Promise<SubmissionAnswer> {
    const endsAt = this.#clock.now() + this.#timeoutMs;
    const head = { type: 'job.submitted', jobId, terms, ...(client !== undefined && { client }) };
    let request: object | undefined;
    const line = {
      clock: this.#clock,
      endsAt,
      ask: (part: SubmissionPart<unknown>, isLast: boolean) => {
        if (part.pages > 1) request ??= this.#request();
        return this.#ask<SubmissionAnswer | null>(
          { ...head, ...request, ...part },
          isLast ? { patience: TAKING_IN_MS } : {},
        );
      },
    };
    const job = { jobId, terms, workflows };
    const submit = () =>
      this.#line.handOver === undefined
        ? handIn(line, job)
        : this.#handOver(this.#line.handOver, head, { ...job, isChecked });
    const answer = await submit();
    return isRefusedForNow(answer)
      ? ((await this.#room?.wait(submit, answer, endsAt)) ?? answer)
      : answer;
  }

  async #handOver(handOver: HandOver, head: Question, job: HandedOver): Promise<SubmissionAnswer> {
    const { name, release } = handOver(job);
    const parts = { terms: {}, workflows: [], page: 1, pages: 1, handedOver: name };
    try {
      return await this.#ask<SubmissionAnswer>({ ...head, ...parts }, { patience: TAKING_IN_MS });
    } finally {
      release();
    }
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
    throw new RuntimeError('ACTOR_UNKNOWN', `There is no job ${jobId} at ${this.#line.to}.`);
  }

  async *watch(jobId: string, options: WaitOptions = {}): AsyncIterableIterator<JobView> {
    const { signal } = options;
    for (let seenSeq = options.seenSeq ?? 0; ; ) {
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
    return this.#ask<CancelAnswer>(asked, { patience: LONG_PATIENCE_MS }).catch(
      unlessNotAllowed({ accepted: false, reason: 'notAllowed' }),
    );
  }

  extend(
    jobId: string,
    { requestId = this.#random.id(), ...more }: Parameters<JobsClient['extend']>[1],
  ): Promise<ExtendAnswer> {
    const asked = { type: 'jobExtend.requested', requestId, jobId, ...more };
    return this.#ask<ExtendAnswer>(asked).catch(
      unlessNotAllowed({ accepted: false, reason: 'notAllowed', extensionsMs: 0 }),
    );
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

  workers({
    limit = 100,
    ...options
  }: Parameters<JobsClient['workers']>[0] = {}): Promise<WorkerPage> {
    return this.#ask<WorkerPage>({ type: 'workers.asked', ...this.#request(), limit, ...options });
  }

  stop(): Promise<void> {
    return this.#line.stop();
  }

  async #view(jobId: string, page: number): Promise<JobView | undefined> {
    const asked = { type: 'job.asked', ...this.#request(), jobId, page };
    const { job } = await this.#ask<{ readonly job: JobView | null }>(asked);
    return job ?? undefined;
  }

  #request(): { readonly requestId: string } {
    return { requestId: this.#random.id() };
  }

  /**
   * Asks until there is an answer, or the time is up. What no jobs service has taken yet is not asked again: copies would
   * only queue up behind it.
   */
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
    const pauses = this.#line.mayLose ? patience : LONG_PATIENCE_MS;
    for (let attempt = 0; ; attempt += 1) {
      const answerMs = pauses[Math.min(attempt, pauses.length - 1)] as number;
      const left = endsAt - this.#clock.now();
      try {
        const options = {
          timeoutMs: Math.max(1, Math.min(left, LONGEST_WAIT_MS)),
          answerMs,
          ...(signal && { signal }),
        };
        return (await this.#line.ask(question, options)) as TAnswer;
      } catch (thrown) {
        const code = thrown instanceof RuntimeError ? thrown.code : undefined;
        const isLost = code === 'ASK_LOST' && this.#line.mayLose;
        if (!(isLost || code === 'ASK_TIMED_OUT') || this.#clock.now() >= endsAt) throw thrown;
        // The next caller takes it as soon as it is there.
        if (isLost) await pause(this.#clock, LOST_PAUSE_MS, signal ?? NEVER);
      }
    }
  }
}
