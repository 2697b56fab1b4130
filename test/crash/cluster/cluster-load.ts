/**
 * A steady load of jobs over HTTP, each of a kind that has one right end whatever is killed.
 *
 * A submission is sent again under the same id until somebody answers; only then is it promised.
 * This many are on their way at most, and this many in a second.
 */

import type { NewJob } from '../../../programs/jobs/client.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import { askNode, isUnavailable } from '../../processes/jobs-api.ts';
import type { PromisedJob } from './cluster-tally.ts';

export interface ClusterLoadOptions {
  readonly random: Random;
  readonly jobsPerSecond: number;
  readonly datacenters: readonly string[];
  /** Where the gate serves now; nothing while it does not. */
  readonly url: () => string | undefined;
  readonly accepted: (job: PromisedJob) => void;
}

/** Beyond it no job is submitted until one of them has been answered. */
const IN_FLIGHT_MAX = 64;
const RETRY_MS = 150;
const ASK_LIMIT_MS = 5_000;
/** More than enough for what it takes, however often it is run again. */
const ROOMY_MS = 600_000;

export class ClusterLoad {
  readonly #options: ClusterLoadOptions;
  readonly #refused: string[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #submitted = 0;
  #isOver = false;

  constructor(options: ClusterLoadOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#next(), 1_000 / options.jobsPerSecond);
  }

  get submitted(): number {
    return this.#submitted;
  }

  /** Answers that say no: nothing the load does deserves one. */
  get refused(): readonly string[] {
    return this.#refused;
  }

  /** Submits nothing new, and resolves when everything that was has been answered. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#inFlight);
  }

  /** Gives up what is on its way. */
  abandon(): void {
    clearInterval(this.#timer);
    this.#isOver = true;
  }

  #next(): void {
    if (this.#inFlight.size >= IN_FLIGHT_MAX) return;
    this.#submitted += 1;
    const work = this.#submit(this.#draw(this.#submitted)).finally(() => {
      this.#inFlight.delete(work);
    });
    this.#inFlight.add(work);
  }

  async #submit([job, promised]: readonly [NewJob, PromisedJob]): Promise<void> {
    while (!this.#isOver) {
      const url = this.#options.url();
      try {
        if (url !== undefined) {
          const answer = await askNode(url, 'POST', '/v1/jobs', job, ASK_LIMIT_MS);
          if (answer.status === 200 || answer.status === 201)
            return this.#options.accepted(promised);
          if (!isUnavailable(answer) && answer.status !== 429) {
            this.#refused.push(
              `${promised.jobId}: ${answer.status} ${JSON.stringify(answer.body)}`,
            );
            return;
          }
        }
      } catch {
        // Nobody can say whether it was taken: the same again.
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #draw(number: number): readonly [NewJob, PromisedJob] {
    const { random, datacenters } = this.#options;
    const jobId = `job-${number}`;
    const somewhere = datacenters[Math.floor(random.next() * datacenters.length)] as string;
    const targetDatacenters = random.next() < 0.5 ? [somewhere] : datacenters;
    const sleep = (id: string, ms: number, dependsOn: readonly string[] = []) => ({
      id,
      handler: 'sleep',
      payload: String(ms),
      dependsOn: [...dependsOn],
    });
    const isExpiring = random.next() < 0.2;
    const ms = Math.round(50 + random.next() * 900);
    const workflows = isExpiring
      ? [sleep('endless', ROOMY_MS)]
      : [sleep('first', ms), sleep('second', ms, ['first'])];
    const timeoutMs = isExpiring ? 1_000 + Math.round(random.next() * 2_000) : ROOMY_MS;
    const mustEnd = isExpiring ? 'timedOut' : 'completed';
    return [
      { jobId, timeoutMs, targetDatacenters, workflows },
      { jobId, mustEnd },
    ];
  }
}
