/**
 * The scripted handler of a worker, with everything that it does put down in the history.
 */

import type { HandlerContext } from '../../programs/jobs/worker/handlers.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { HistoryFact, WorkFact } from '../history.ts';
import { scriptedHandler } from './scripted-handler.ts';

export type RecordedContext = HandlerContext;

export interface RecordedHandlerParts {
  /** The worker's own. */
  readonly clock: Clock;
  /** Where the runs under way are kept, newest last. */
  readonly running: Set<RecordedContext>;
  readonly datacenter: string;
  tell(fact: HistoryFact): void;
}

export function recordedHandler({
  clock,
  running,
  datacenter,
  tell,
}: RecordedHandlerParts): (context: HandlerContext) => Promise<unknown> {
  const play = scriptedHandler(clock, running, datacenter);
  return async (context) => {
    const { jobId, workflowId, run, signal } = context;
    const subject = `${jobId}/${workflowId} run ${run}`;
    const note = (change: WorkFact['change'], about: unknown = null) =>
      tell({ type: 'work', change, jobId, workflowId, run, subject, about });
    note('started');
    signal.addEventListener('abort', () => note('aborted'), { once: true });
    try {
      const result = await play(recorded(context, note));
      note('returned', result);
      return result;
    } catch (thrown) {
      note('threw', messageOf(thrown));
      throw thrown;
    }
  };
}

/** The same context; what goes through it is logged. */
function recorded(
  context: HandlerContext,
  note: (change: WorkFact['change'], about: unknown) => void,
): HandlerContext {
  return {
    jobId: context.jobId,
    workflowId: context.workflowId,
    run: context.run,
    payload: context.payload,
    signal: context.signal,
    log: context.log,
    progress(progress) {
      note('progressed', progress);
      context.progress(progress);
    },
    async extend(wish) {
      note('asked', wish ?? {});
      const answer = await context.extend(wish);
      note('answered', answer);
      return answer;
    },
  };
}
