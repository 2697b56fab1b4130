/**
 * Backlog of a datacenter: what waits to begin, whose it is, and whether one more job may be added.
 *
 * Guarantees: what is asked costs the same however much waits; a job that was taken counts from the
 * moment in which it may be written, so that many at once do not pass the bound together. Once half of
 * the bound waits each client may have its part of it, so one that floods is refused before others are;
 * at twice the bound everybody is.
 *
 * It is counted, not stored: from what machines log, which is heard after the commit, and once from
 * the jobs of a leader before this one. Whose those are is not known any more. It decides nothing
 * about jobs that are there.
 */

import type { LogEvent } from '../../../machines/jobs/log-events.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import type { JobsConfiguration } from '../configuration.ts';
import { Pace } from './pace.ts';
import { Shares } from './shares.ts';

/** Overload: the reason for which a job was not taken, and when it is worth trying again. */
export interface Overload {
  readonly bound: 'workflows' | 'wait';
  /** Workflows that wait, and how many of them there may be for this job. */
  readonly waiting: number;
  readonly max: number;
  readonly retryAfterMs: number;
}

export interface BacklogView {
  readonly workflows: number;
  readonly clients: number;
  /** Time that they will take to begin; null where nobody knows. */
  readonly waitMs: number | null;
  /** Submissions were refused because of it within the last seconds. */
  readonly isShedding: boolean;
}

type Bounds = Pick<
  JobsConfiguration,
  'backlogWorkflowsMax' | 'backlogWaitMaxMs' | 'backlogFreeWorkflows' | 'readyMax'
>;

interface WaitingJob {
  readonly client: string;
  waiting: number;
}

/** Share of its timeout that a job may spend waiting, where nothing else is said. */
const SHARE_OF_TIMEOUT = 0.1;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** Nothing was done yet. */
const RETRY_UNKNOWN_MS = 5_000;
/** Time after a refusal for which it is said that there are some. */
const SHEDDING_MS = 10_000;

export class Backlog {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  readonly #jobs = new Map<string, WaitingJob>();
  readonly #all = new Shares();
  /**
   * Workflows ahead: of each job only as many as may ask for a worker at a time, since others pass the
   * rest of them.
   */
  readonly #ahead = new Shares();
  #pace = new Pace();
  #shedAt = Number.NEGATIVE_INFINITY;

  constructor(bounds: Bounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  get workflows(): number {
    return this.#all.total;
  }

  /** Time that another one would wait to begin, by what was done lately. */
  get waitMs(): number | undefined {
    const each = this.#pace.msPerWorkflow(this.#now());
    return each === undefined ? undefined : Math.round(this.#ahead.total * each);
  }

  view(): BacklogView {
    return {
      workflows: this.#all.total,
      clients: this.#all.clients,
      waitMs: this.waitMs ?? null,
      isShedding: this.#now() - this.#shedAt < SHEDDING_MS,
    };
  }

  /** Reason for which a job of this client is not to be taken now; undefined when it is. */
  overload(client: string, timeoutMs: number): Overload | undefined {
    const { backlogWorkflowsMax, backlogWaitMaxMs, backlogFreeWorkflows } = this.#bounds;
    const each = this.#pace.msPerWorkflow(this.#now());
    if (each !== undefined) {
      const waitMaxMs = backlogWaitMaxMs ?? timeoutMs * SHARE_OF_TIMEOUT;
      const max = Math.max(1, backlogFreeWorkflows, Math.floor(waitMaxMs / each));
      if (!this.#ahead.hasRoom(client, max))
        return this.#shed('wait', this.#ahead.total, max, each);
    }
    if (this.#all.hasRoom(client, backlogWorkflowsMax)) return undefined;
    return this.#shed('workflows', this.#all.total, backlogWorkflowsMax, each);
  }

  /** A job is taken, and all its workflows wait from now on. */
  add(jobId: string, client: string, workflows: number): void {
    if (this.#jobs.has(jobId)) return;
    const job = { client, waiting: 0 };
    this.#jobs.set(jobId, job);
    this.#count(job, workflows);
  }

  /** It was not taken after all, or has ended: nothing of it waits any more. */
  drop(jobId: string): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    this.#count(job, -job.waiting);
    this.#jobs.delete(jobId);
  }

  /** Another leader goes on, or this one begins: what is counted is not so any more. */
  clear(): void {
    this.#jobs.clear();
    this.#all.clear();
    this.#ahead.clear();
    this.#pace = new Pace();
  }

  hear({ event, jobId = '', from, to }: LogEvent): void {
    if (event === 'job.ended') this.drop(jobId);
    if (event !== 'workflow.transition') return;
    if (from === 'RUNNING') this.#pace.end(this.#now());
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    if (to === 'PENDING') this.#count(job, 1);
    else if (from === 'PENDING' && job.waiting > 0) this.#count(job, -1);
  }

  #shed(
    bound: Overload['bound'],
    waiting: number,
    max: number,
    each: number | undefined,
  ): Overload {
    this.#shedAt = this.#now();
    const untilMs = each === undefined ? RETRY_UNKNOWN_MS : (waiting - max + 1) * each;
    const retryAfterMs = Math.min(RETRY_MAX_MS, Math.max(RETRY_MIN_MS, Math.ceil(untilMs)));
    return { bound, waiting, max, retryAfterMs };
  }

  #count(job: WaitingJob, workflows: number): void {
    const { client, waiting } = job;
    job.waiting += workflows;
    this.#all.add(client, workflows);
    const { readyMax } = this.#bounds;
    const ahead = Math.min(job.waiting, readyMax) - Math.min(waiting, readyMax);
    this.#ahead.add(client, ahead);
    this.#pace.wait(this.#all.total > 0, this.#now());
  }
}

/** Error that the client that submits a job is told. */
export function overloadError({ waiting, max, bound }: Overload): RuntimeError {
  const of = bound === 'wait' ? 'as much as can begin in time' : 'backlogWorkflowsMax';
  const what = `${waiting} workflows wait already, and ${max} may (${of}); submit it again later.`;
  return new RuntimeError('OVERLOADED', what);
}
