/**
 * Watching a job at a gate: a question that waits for news.
 *
 * It is answered as soon as the job is another one than the client has seen, at the latest after
 * 20 seconds, and when the gate stops.
 */

import type { JobView, JobWatched } from '../../../machines/jobs/messages/client.ts';
import { whenAborted } from '../../../runtime/when-aborted.ts';
import { type GateNode, jobOf, readGateJob } from './node.ts';
import { jobSummary } from './views.ts';

const WATCH_MS = 20_000;

interface News {
  readonly found: boolean;
  readonly job: JobView | null;
}

export function watchJob(
  node: GateNode,
  { jobId, seenSeq }: JobWatched,
  answer: (news: News) => void,
): void {
  const { clock, runtime, gate, ending } = node;
  const look = (): News => {
    const context = readGateJob(node, jobId);
    return context === undefined
      ? { found: false, job: null }
      : { found: true, job: jobSummary(node, context) };
  };
  const first = look();
  if (first.job?.seq !== seenSeq || ending.aborted) {
    answer(first);
    return;
  }
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    cancelLimit();
    subscription.unsubscribe();
    unwatch();
    // A gate that hosts nothing any more knows nothing; the client asks again.
    if (runtime.isHosting) answer(look());
  };
  const cancelLimit = clock.schedule(clock.now() + WATCH_MS, end);
  const unwatch = whenAborted(ending, end);
  const subscription = jobOf(runtime, gate, jobId).subscribe({
    next: () => {
      if (look().job?.seq !== seenSeq) end();
    },
    error: end,
    complete: end,
  });
}
