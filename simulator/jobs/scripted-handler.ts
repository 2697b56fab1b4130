/**
 * A handler that does what its payload says: how long it works, how it progresses, how it ends.
 *
 * It is an ordinary handler of a worker program. All its times count from the start of its run,
 * on the clock of its worker, and every report of progress rises.
 */

import type { Clock } from '../../runtime/ports/clock.ts';

export interface HandlerScript {
  /** Work needed when it runs undisturbed; `never` finishes not at all. Default 0. */
  readonly runs?: number | 'never';
  /** Between two reports of progress. Default 5,000. */
  readonly progressEvery?: number | 'never';
  /** The last report is the last one not after this, and it never finishes. */
  readonly stopsProgressAt?: number;
  /** Each report is followed by a further one, so long after it and further by half a step. */
  readonly secondReportAfter?: number;
  /** Fails that often, at the end of its work, before it succeeds. */
  readonly failsTimes?: number;
  /** A failure is not to be tried again. */
  readonly isFatal?: boolean;
  /** Reports items of that many with its progress. */
  readonly completesItems?: number;
  /** Does not heed its abort signal. */
  readonly ignoresCancel?: boolean;
  /** How long it goes on after its abort signal. Default 0. */
  readonly stopsAfter?: number;
  /** What it ends with. Default `done`. */
  readonly result?: string;
  /** What is different in some datacenters. */
  readonly in?: Readonly<Record<string, HandlerScript>>;
}

/** What of a handler's context it uses. */
export interface ScriptedContext {
  readonly jobId: string;
  readonly workflowId: string;
  /** The run of the workflow, first is 1. */
  readonly run: number;
  readonly payload: string;
  readonly signal: AbortSignal;
  progress(
    progress:
      | number
      | {
          readonly progress: number;
          readonly completedItems?: number;
          readonly totalItems?: number;
        },
  ): void;
}

const DEFAULT_PROGRESS_EVERY_MS = 5_000;

/** Where the contexts of the runs under way are to be found, newest last. */
export type RunningContexts<TContext> = Set<TContext>;

export function scriptedHandler<TContext extends ScriptedContext>(
  clock: Clock,
  running: RunningContexts<TContext>,
  datacenter: string,
): (context: TContext) => Promise<string> {
  return async (context) => {
    running.add(context);
    try {
      const { in: places, ...script } = JSON.parse(context.payload || '{}') as HandlerScript;
      return await play(clock, context, { ...script, ...places?.[datacenter] });
    } finally {
      running.delete(context);
    }
  };
}

function play(clock: Clock, context: ScriptedContext, script: HandlerScript): Promise<string> {
  const { signal, run } = context;
  const { failsTimes = 0, stopsAfter = 0, ignoresCancel = false } = script;
  const startedAt = clock.now();
  const stop = reportProgress(clock, context, script);
  return new Promise<string>((resolve, reject) => {
    const end = (): void => {
      stop();
      if (run > failsTimes) resolve(script.result ?? 'done');
      else reject(failure(`Run ${run} of ${context.workflowId} fails.`, script.isFatal !== true));
    };
    const workMs = workOf(script);
    const cancel = workMs === undefined ? undefined : clock.schedule(startedAt + workMs, end);
    if (ignoresCancel) return;
    signal.addEventListener('abort', () => {
      cancel?.();
      stop();
      clock.schedule(clock.now() + stopsAfter, () => reject(signal.reason));
    });
  });
}

/** How long it works; nothing when it never finishes. */
function workOf({ runs = 0, stopsProgressAt }: HandlerScript): number | undefined {
  return runs === 'never' || stopsProgressAt !== undefined ? undefined : runs;
}

function reportProgress(clock: Clock, context: ScriptedContext, script: HandlerScript): () => void {
  const { progressEvery = DEFAULT_PROGRESS_EVERY_MS, secondReportAfter } = script;
  if (progressEvery === 'never') return () => {};
  const startedAt = clock.now();
  const lastMs = script.stopsProgressAt ?? workOf(script) ?? Number.POSITIVE_INFINITY;
  let cancel = (): void => {};
  let cancelSecond = (): void => {};
  const next = (count: number): void => {
    const sinceStart = count * progressEvery;
    if (sinceStart > lastMs) return;
    cancel = clock.schedule(startedAt + sinceStart, () => {
      report(context, script, sinceStart, count);
      if (secondReportAfter !== undefined) {
        const half = sinceStart + progressEvery / 2;
        cancelSecond();
        cancelSecond = clock.schedule(startedAt + sinceStart + secondReportAfter, () =>
          report(context, script, half, count + 0.5),
        );
      }
      next(count + 1);
    });
  };
  next(1);
  return () => {
    cancel();
    cancelSecond();
  };
}

function report(
  context: ScriptedContext,
  script: HandlerScript,
  sinceStart: number,
  count: number,
): void {
  const { completesItems } = script;
  const progress = progressAt(script, sinceStart, count);
  if (completesItems === undefined) context.progress(progress);
  else {
    const completedItems = Math.floor(progress * completesItems);
    context.progress({ progress, completedItems, totalItems: completesItems });
  }
}

/** Rises with each report; where nobody knows how much there is to do, ever more slowly. */
function progressAt(script: HandlerScript, sinceStart: number, count: number): number {
  const workMs = workOf(script);
  return workMs === undefined ? count / (count + 1) : Math.min(1, sinceStart / workMs);
}

function failure(message: string, retryable: boolean): Error {
  return Object.assign(new Error(message), { retryable });
}
