/**
 * Attempt that is to stop: one run of a workflow on its worker, from the order on until its end is known.
 *
 *   stopping ──handler.ended─────────▶ stopped ■, or finished ■ when its worker leaves
 *      │ └─────after cancelGrace─────▶ abandoned ■
 *      ├──either, when nobody wants to hear of it──▶ dropped ■
 *      └──handler.reported (it had ended before)───▶ late ■
 *
 * An attempt that nobody stops is a row of its worker and a handler in the process, which reports how that
 * ended. A handler that was told to stop has stopped, whatever it returns. One that does not heed the
 * signal within the grace is abandoned: its cores count as free and it is reported as killed. Once an
 * attempt is unwanted nothing more is said of it.
 */

import { assign, setup } from 'xstate';
import type { Spawned, Timed } from '../../runtime/machine.ts';
import type { AttemptStopped, ResultReceived } from './messages/worker.ts';

/**
 * `cancelled`: by its workflow, which waits to hear that it has stopped. `unwanted`: nobody waits
 * for it. `leaving`: its worker stops, and the workflow should go elsewhere.
 */
export type StopCause = 'cancelled' | 'unwanted' | 'leaving';

/** End of a handler: the part of a result that is its own. */
export type HandlerOutcome = Pick<
  ResultReceived,
  'ok' | 'result' | 'truncated' | 'error' | 'retryable'
>;

export interface AttemptStop {
  readonly type: 'attempt.stop';
  readonly cause: StopCause;
}

/** From the process. */
export type HandlerEnded = { readonly type: 'handler.ended' } & HandlerOutcome;

export type AttemptEvent = Timed<
  | AttemptStop
  | HandlerEnded
  /** The handler had ended before it was told to stop, and that was reported. */
  | { readonly type: 'handler.reported' }
>;

/** An attempt, as its worker's messages name it. */
interface Named {
  readonly jobId: string;
  readonly attemptId: string;
  readonly workerId: string;
}

export interface AttemptInput extends Named {
  readonly cause: StopCause;
  readonly cancelGraceMs: number;
}

/** Parameters that the process needs to begin a run. */
export interface RunParams extends Named {
  readonly datacenter: string;
  readonly handler: string;
  readonly payload: string;
}

interface AttemptContext extends Named {
  readonly cancelGraceMs: number;
  readonly stopCause: StopCause;
}

type Args = { readonly context: AttemptContext };

const LEFT: HandlerOutcome = {
  ok: false,
  result: null,
  truncated: false,
  error: { code: 'workerStopped', detail: 'The worker stopped before the handler was done.' },
  retryable: true,
};

const named = ({ workerId, jobId, attemptId }: Named): Named => ({ workerId, jobId, attemptId });

/** Report of a handler that has ended. */
export const resultOf = (attempt: Named, outcome: HandlerOutcome): ResultReceived => {
  const { ok, result, truncated, error, retryable } = outcome;
  return {
    type: 'result.received',
    ...named(attempt),
    ...{ ok, result, truncated, error, retryable },
  };
};

const stoppedReport = (killed: boolean) =>
  ({
    type: 'sendReport',
    params: ({ context }: Args): AttemptStopped => ({
      type: 'attempt.stopped',
      ...named(context),
      killed,
    }),
  }) as const;

const leftReport = {
  type: 'sendReport',
  params: ({ context }: Args) => resultOf(context, LEFT),
} as const;

export const attemptMachine = setup({
  types: {
    context: {} as AttemptContext,
    events: {} as AttemptEvent,
    input: {} as Spawned<AttemptInput>,
  },
  actions: {
    // Done by the worker's process.
    /** `handler.ended` is the answer, or `handler.reported`. */
    abortHandler: () => {},
    /** It may go on for ever; nothing it says counts any more. */
    abandonHandler: () => {},
    /** Until it is taken; then the worker hears that the attempt is over. */
    sendReport: (_, _params: ResultReceived | AttemptStopped) => {},
    /** Tells the worker that the attempt is over, and forgets the run. */
    closeAttempt: () => {},
    // Done by the machine.
    setStopCause: assign(({ context: { stopCause } }, { cause }: { cause: StopCause }) => ({
      // A stopping worker stops what is stopping already, and changes nothing about that.
      stopCause: cause === 'leaving' ? stopCause : cause,
    })),
  },
  guards: {
    isUnwanted: ({ context }) => context.stopCause === 'unwanted',
    isLeaving: ({ context }) => context.stopCause === 'leaving',
  },
  delays: {
    // Over means later than the deadline.
    cancelGrace: ({ context }) => context.cancelGraceMs + 1,
  },
}).createMachine({
  id: 'attempt',
  context: ({ input: { cause, ...input } }) => ({ ...input, stopCause: cause }),
  initial: 'stopping',
  states: {
    stopping: {
      entry: 'abortHandler',
      on: {
        'attempt.stop': { actions: { type: 'setStopCause', params: ({ event }) => event } },
        'handler.ended': [
          { guard: 'isUnwanted', target: 'dropped' },
          {
            guard: 'isLeaving',
            target: 'finished',
            actions: {
              type: 'sendReport',
              // It may have been done all the same.
              params: ({ context, event }) => resultOf(context, event.ok ? event : LEFT),
            },
          },
          { target: 'stopped', actions: stoppedReport(false) },
        ],
        'handler.reported': 'late',
      },
      after: {
        cancelGrace: [
          { guard: 'isUnwanted', target: 'dropped', actions: 'abandonHandler' },
          { guard: 'isLeaving', target: 'abandoned', actions: ['abandonHandler', leftReport] },
          { target: 'abandoned', actions: ['abandonHandler', stoppedReport(true)] },
        ],
      },
    },
    finished: { type: 'final' },
    stopped: { type: 'final' },
    abandoned: { type: 'final' },
    late: { type: 'final' },
    dropped: { type: 'final', entry: 'closeAttempt' },
  },
});
