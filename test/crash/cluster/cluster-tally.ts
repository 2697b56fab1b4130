/**
 * Tally of what clients were promised, and of what they were told afterwards.
 *
 * Guarantees: it judges from outside alone. A job that was accepted must be found and must end as
 * its kind says; an end, once somebody was told of it, must be the same for ever; and neither the
 * fence of a place nor that of a job may fall.
 */

import type { JobView } from '../../../machines/jobs/messages/client.ts';
import type { JobStatus } from '../../../machines/jobs/words.ts';

/** A job as it was submitted, and how it has to end. */
export interface PromisedJob {
  readonly jobId: string;
  readonly mustEnd: JobStatus;
}

export interface ClusterFindings {
  readonly accepted: number;
  readonly ended: number;
  readonly byOutcome: Readonly<Record<string, number>>;
  /** Accepted, and not found in the end. */
  readonly lost: readonly string[];
  /** Found, and without an end. */
  readonly unfinished: readonly string[];
  /** Told two ends. */
  readonly changed: readonly string[];
  /** Ended in another way than they must. */
  readonly wrong: readonly string[];
  /** Fences that fell, or did not rise with the one who hosts. */
  readonly fences: readonly string[];
}

const FINAL: ReadonlySet<JobStatus> = new Set(['completed', 'failed', 'cancelled', 'timedOut']);
/** Of a kind of finding: more say nothing new. */
const EXAMPLES_MAX = 20;

export class ClusterTally {
  readonly #accepted = new Map<string, PromisedJob>();
  /** By `job@place`. */
  readonly #ends = new Map<string, string>();
  readonly #jobFences = new Map<string, number>();
  readonly #placeFences = new Map<string, number>();
  readonly #changed: string[] = [];
  readonly #fences: string[] = [];

  get accepted(): number {
    return this.#accepted.size;
  }

  accept(job: PromisedJob): void {
    this.#accepted.set(job.jobId, job);
  }

  /** Jobs whose end at the place nobody has told yet. */
  openAt(place: string): readonly string[] {
    return [...this.#accepted.keys()].filter((jobId) => !this.#ends.has(`${jobId}@${place}`));
  }

  /** What somebody was told about a job. */
  see(place: string, view: Pick<JobView, 'jobId' | 'status' | 'reason' | 'leaderFence'>): void {
    const key = `${view.jobId}@${place}`;
    const known = this.#ends.get(key);
    const end = FINAL.has(view.status) ? `${view.status}/${view.reason}` : undefined;
    if (known !== undefined && end !== known)
      this.#changed.push(`${key} was ${known} and is ${end ?? view.status}`);
    if (end !== undefined) this.#ends.set(key, end);
    const fence = this.#jobFences.get(key) ?? 0;
    if (view.leaderFence < fence)
      this.#fences.push(`${key}: the fence was ${fence} and is ${view.leaderFence}`);
    this.#jobFences.set(key, Math.max(fence, view.leaderFence));
  }

  /** A node hosts a place from now on. */
  host(place: string, node: string, fence: number): void {
    const before = this.#placeFences.get(place) ?? 0;
    if (fence <= before)
      this.#fences.push(`${node} hosts ${place} with fence ${fence} after ${before}`);
    this.#placeFences.set(place, Math.max(before, fence));
  }

  /** `found`: what the place where jobs were accepted knows in the end. */
  judge(place: string, found: ReadonlyMap<string, JobView>): ClusterFindings {
    for (const view of found.values()) this.see(place, view);
    const byOutcome: Record<string, number> = {};
    const lost: string[] = [];
    const unfinished: string[] = [];
    const wrong: string[] = [];
    for (const { jobId, mustEnd } of this.#accepted.values()) {
      const view = found.get(jobId);
      const status = view?.status;
      if (status !== undefined) byOutcome[status] = (byOutcome[status] ?? 0) + 1;
      if (view === undefined) lost.push(jobId);
      else if (!FINAL.has(view.status)) unfinished.push(jobId);
      else if (view.status !== mustEnd)
        wrong.push(`${jobId} must be ${mustEnd} and is ${view.status}/${view.reason}`);
    }
    const ended = this.#accepted.size - lost.length - unfinished.length;
    return {
      accepted: this.#accepted.size,
      ended,
      byOutcome,
      lost: lost.slice(0, EXAMPLES_MAX),
      unfinished: unfinished.slice(0, EXAMPLES_MAX),
      changed: this.#changed.slice(0, EXAMPLES_MAX),
      wrong: wrong.slice(0, EXAMPLES_MAX),
      fences: this.#fences.slice(0, EXAMPLES_MAX),
    };
  }
}
