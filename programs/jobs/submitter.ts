/**
 * Whose jobs are counted together: those of a client's name, whatever its connections are called.
 *
 * A gate, and the HTTP API of the process that is asked, say for whom they ask; of others nothing is
 * believed that they do not prove.
 */

import type { JobSubmitted } from '../../machines/jobs/messages/client.ts';

/** `node`: who is asked. */
export function submitterOf(
  node: string,
  { gate, client, replyTo = '' }: Pick<JobSubmitted, 'gate' | 'client' | 'replyTo'>,
): string {
  const asking = replyTo.slice(replyTo.lastIndexOf('@') + 1);
  if (gate !== undefined || asking === node) return client ?? asking;
  return asking.replace(/~.*$/, '');
}

/** Whose jobs a gate carries, so that datacenters can tell them apart too; the oldest are forgotten. */
export class Submitters {
  static readonly #max = 10_000;
  readonly #byJob = new Map<string, string>();

  of(jobId: string): string | undefined {
    return this.#byJob.get(jobId);
  }

  keep(jobId: string, client: string): void {
    this.#byJob.set(jobId, client);
    if (this.#byJob.size <= Submitters.#max) return;
    for (const [oldest] of this.#byJob) {
      this.#byJob.delete(oldest);
      return;
    }
  }
}
