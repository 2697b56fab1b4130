/**
 * Watch of a job at a jobs service: a question that waits for news.
 *
 * It is answered as soon as the job is another one than the client has seen, at the latest after
 * 20 seconds, and when the program stops.
 */

import type { JobView } from '../../../machines/jobs/messages/client.ts';
import { whenAborted } from '../../../runtime/base/when-aborted.ts';
import type { Subscription } from '../../../runtime/effects.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';

/** Time for which a watch waits for news before it answers that there are none. */
const WATCH_MS = 20_000;

export interface News {
  readonly found: boolean;
  readonly job: JobView | null;
}

export interface JobWatch {
  readonly clock: Clock;
  /** Each of them ends the wait: the program stops, or hosts its place no longer. */
  readonly endings: readonly AbortSignal[];
  readonly seenSeq: number;
  /** The job as it is now; undefined when there is none. */
  look(): JobView | undefined;
  /** Calls back at each change of the job and at its end, until the function returned is called. */
  observe(changed: () => void): () => void;
}

export async function watchJob({
  clock,
  endings,
  seenSeq,
  look,
  observe,
}: JobWatch): Promise<News> {
  const isNews = (): boolean => look()?.seq !== seenSeq;
  if (!isNews() && !endings.some(({ aborted }) => aborted)) {
    const stops: Array<() => void> = [];
    await new Promise<void>((resolve) => {
      stops.push(clock.schedule(clock.now() + WATCH_MS, resolve));
      for (const ending of endings) stops.push(whenAborted(ending, resolve));
      stops.push(
        observe(() => {
          if (isNews()) resolve();
        }),
      );
    });
    for (const stop of stops) stop();
  }
  const job = look();
  return { found: job !== undefined, job: job ?? null };
}

/** Calls back at each committed change of an actor, and at its end. */
export function observe(
  actor: {
    subscribe(observer: { next(): void; error(): void; complete(): void }): Subscription;
  },
  changed: () => void,
): () => void {
  const subscription = actor.subscribe({ next: changed, error: changed, complete: changed });
  return () => subscription.unsubscribe();
}
