/**
 * Watch of a job as it changes, until it has ended.
 *
 * Guarantees: each change of status comes, in order; a stream that is cut is taken up again where
 * it was. Between changes figures are asked for every few seconds. A node that cannot be reached
 * for a minute is given up; a refusal that time does not heal ends it at once.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { JobView } from '../../machines/jobs/messages/client.ts';
import { isFinal } from '../render/job-text.ts';
import { type Connection, segment } from './connection.ts';
import { Refusal, Unreachable } from './failures.ts';

export interface WatchOptions {
  /** Called with each view, the last one included. */
  readonly onView: (job: JobView) => void;
  /** Called when the node was lost, and is asked for again. */
  readonly onLost: (why: string) => void;
  /** Interval at which figures are asked for. Default 2,000. */
  readonly pollMs?: number;
  /** Time for which the node may be away. Default 60,000. */
  readonly patienceMs?: number;
}

const PAUSES_MS = [250, 500, 1_000, 2_000, 4_000];

/** Resolves with the whole job once it has ended. @throws {CommandFailure} */
export async function watchJob(
  connection: Connection,
  jobId: string,
  options: WatchOptions,
): Promise<JobView> {
  const ending = new AbortController();
  const path = `/v1/jobs/${segment(jobId)}`;
  const look = () => connection.get<JobView>(path);
  const polling = poll(look, options, ending);
  try {
    await follow(connection, `${path}/events`, options, ending.signal);
  } finally {
    ending.abort();
    await polling;
  }
  const job = await look();
  options.onView(job);
  return job;
}

/** Until an event, or a look, has shown the end. */
async function follow(
  connection: Connection,
  path: string,
  { onView, onLost, patienceMs = 60_000 }: WatchOptions,
  signal: AbortSignal,
): Promise<void> {
  let lastEventId: string | undefined;
  let heardAt = performance.now();
  for (let failures = 0; !signal.aborted; ) {
    try {
      const from = lastEventId === undefined ? {} : { lastEventId };
      for await (const { event, data, id } of connection.events(path, { ...from, signal })) {
        heardAt = performance.now();
        failures = 0;
        lastEventId = id;
        if (event !== 'job') continue;
        const job = JSON.parse(data) as JobView;
        onView(job);
        if (isFinal(job)) return;
      }
    } catch (thrown) {
      if (!isHealing(thrown) || performance.now() - heardAt > patienceMs) throw thrown;
      onLost((thrown as Error).message);
    }
    const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] as number;
    failures += 1;
    await pause(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** Ends the watch when a look shows the end before an event does. */
async function poll(
  look: () => Promise<JobView>,
  { onView, pollMs = 2_000 }: WatchOptions,
  ending: AbortController,
): Promise<void> {
  const { signal } = ending;
  while (!signal.aborted) {
    const askedAt = performance.now();
    try {
      const job = await look();
      if (signal.aborted) return;
      onView(job);
      if (isFinal(job)) ending.abort();
    } catch {
      // The stream of events says what is wrong.
    }
    // A job with many workflows takes a while to look at: not more than a tenth of the time goes there.
    const tookMs = performance.now() - askedAt;
    await pause(Math.max(pollMs, 9 * tookMs), undefined, { signal }).catch(() => {});
  }
}

/** A node that was there a moment ago may be there again in a moment. */
function isHealing(thrown: unknown): boolean {
  return thrown instanceof Unreachable || (thrown instanceof Refusal && thrown.isPassing);
}
