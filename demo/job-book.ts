/**
 * Job book of the demo: which jobs are open, how the others ended, and which of them ended wrongly.
 *
 * Guarantees: a job is judged once, by what the gate says about it; an end that the gate takes back
 * later is wrong. Jobs that somebody else submits are counted and not judged. What it remembers of
 * jobs that have ended is bounded.
 */

import type { JobView } from '../machines/jobs/messages/client.ts';
import type { JobStatus } from '../machines/jobs/words.ts';
import type { Fault } from './faults.ts';
import { JOB_KINDS, kindOf, runOf } from './job-kinds.ts';
import { findWrong, type TrackedJob } from './verdict.ts';

export interface WrongJob {
  readonly jobId: string;
  readonly what: string;
}

export interface KindCount {
  open: number;
  right: number;
  wrong: number;
}

export type EndStatus = 'completed' | 'failed' | 'cancelled' | 'timedOut';

/** Ends that are remembered for the comparison at the end. */
const ENDS_MAX = 20_000;
const WRONG_MAX = 1_000;

export class JobBook {
  readonly open = new Map<string, TrackedJob>();
  readonly wrong: WrongJob[] = [];
  readonly kinds: ReadonlyMap<string, KindCount> = new Map(
    JOB_KINDS.map(({ name }) => [name, { open: 0, right: 0, wrong: 0 }]),
  );
  readonly outcomes: Record<EndStatus, number> = {
    completed: 0,
    failed: 0,
    cancelled: 0,
    timedOut: 0,
  };
  readonly ends = new Map<string, JobStatus>();
  readonly #run: number;
  submitted = 0;
  resumed = 0;
  /** Time after its deadline at which a job whose time was used up ended, at most. */
  latestMs = 0;

  constructor(run: number) {
    this.#run = run;
  }

  get ended(): number {
    return Object.values(this.outcomes).reduce((sum, count) => sum + count, 0);
  }

  submit(job: TrackedJob): void {
    this.#add(job);
    this.submitted += 1;
  }

  /** A job of an earlier run that has not ended yet; nothing when it is of this one, or nobody's. */
  resume({ jobId, elapsedMs, datacenters = [] }: JobView, now: number): void {
    const kind = kindOf(jobId);
    if (kind === undefined || runOf(jobId) === this.#run || this.open.has(jobId)) return;
    this.#add({
      jobId,
      kind,
      datacenters: datacenters.map(({ datacenter }) => datacenter),
      submittedAt: now - elapsedMs,
      isResumed: true,
    });
    this.resumed += 1;
  }

  /** Takes a view of a job that has ended. */
  end(view: JobView, faults: readonly Fault[], now: number): void {
    const { jobId, status } = view;
    const job = this.open.get(jobId);
    if (job === undefined || !isEnd(status)) return;
    this.open.delete(jobId);
    this.outcomes[status] += 1;
    this.#remember(jobId, status);
    const count = this.#countOf(job);
    count.open -= 1;
    const what = findWrong(job, view, faults, now);
    if (what === undefined) count.right += 1;
    else {
      count.wrong += 1;
      this.complain(jobId, what);
    }
    if (status === 'timedOut' && view.reason === 'overall')
      this.latestMs = Math.max(this.latestMs, view.elapsedMs - view.timeoutMs - view.extensionsMs);
  }

  /** The gate has taken it and does not know it any more. */
  lose(jobId: string): void {
    const job = this.open.get(jobId);
    if (job === undefined) return;
    this.open.delete(jobId);
    const count = this.#countOf(job);
    count.open -= 1;
    count.wrong += 1;
    this.complain(jobId, 'was accepted and is unknown');
  }

  /** Takes a later view of a job that has ended before. */
  compare({ jobId, status }: JobView): void {
    const before = this.ends.get(jobId);
    if (before !== undefined && before !== status)
      this.complain(jobId, `ended ${before} and is ${status} later`);
  }

  /** Counts open jobs as ended wrongly: what has not ended has not ended in time. */
  giveUpOpen(): void {
    for (const [jobId, job] of this.open) {
      const count = this.#countOf(job);
      count.open -= 1;
      count.wrong += 1;
      this.complain(jobId, 'has not ended');
    }
    this.open.clear();
  }

  complain(jobId: string, what: string): void {
    if (this.wrong.length < WRONG_MAX) this.wrong.push({ jobId, what });
  }

  #add(job: TrackedJob): void {
    this.open.set(job.jobId, job);
    this.#countOf(job).open += 1;
  }

  #remember(jobId: string, status: JobStatus): void {
    this.ends.set(jobId, status);
    if (this.ends.size <= ENDS_MAX) return;
    const oldest = this.ends.keys().next().value;
    if (oldest !== undefined) this.ends.delete(oldest);
  }

  #countOf({ kind }: TrackedJob): KindCount {
    return this.kinds.get(kind.name) as KindCount;
  }
}

export function isEnd(status: JobStatus): status is EndStatus {
  return status !== 'submitted' && status !== 'running';
}
