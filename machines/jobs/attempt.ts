/**
 * Attempt: one run of a workflow on its worker. It runs the handler and reports its end.
 *
 *                                   reporting
 *   running ──handler.ended────────▶ ├ finished  ──report.taken──▶ ended ■
 *      │ attempt.stop                │                               ▲
 *      ▼                             │                               │
 *   stopping ──handler.ended───────▶ ├ stopped                       │
 *      │ └─────after cancelGrace───▶ └ abandoned                     │
 *      └──either, when nobody wants to hear of it────────────────────┘
 *
 * The handler runs in the process, which tells how it ended; a result passes through here and is
 * not kept. A handler that was told to stop has stopped, whatever it returns. One that does not
 * heed the signal within the grace is abandoned: its cores count as free and it is reported as
 * killed. Once an attempt is unwanted nothing more is said of it.
 */

import { assign, setup } from 'xstate';
import type { Born, Timed } from '../../runtime/machine.ts';
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
  /** The receiver has the report on disk, or has refused it for good. */
  | { readonly type: 'report.taken' }
>;

export interface AttemptInput {
  readonly jobId: string;
  readonly attemptId: string;
  readonly datacenter: string;
  readonly workerId: string;
  readonly handler: string;
  readonly payload: string;
  readonly cancelGraceMs: number;
}

type AttemptContext = Omit<AttemptInput, 'payload'> & { readonly stopCause: StopCause | null };

/** Parameters that the process needs to begin a run. */
export type RunParams = Omit<AttemptInput, 'cancelGraceMs'>;

type Args = { readonly context: AttemptContext };

const LEFT: HandlerOutcome = {
  ok: false,
  result: null,
  truncated: false,
  error: { code: 'workerStopped', detail: 'The worker stopped before the handler was done.' },
  retryable: true,
};

const named = ({ context: { workerId, jobId, attemptId } }: Args) => ({
  workerId,
  jobId,
  attemptId,
});

const result = (args: Args, outcome: HandlerOutcome): ResultReceived => {
  const { ok, result: text, truncated, error, retryable } = outcome;
  return {
    type: 'result.received',
    ...named(args),
    ok,
    result: text,
    truncated,
    error,
    retryable,
  };
};

const stoppedReport = (killed: boolean) =>
  ({
    type: 'sendReport',
    params: (args: Args): AttemptStopped => ({ type: 'attempt.stopped', ...named(args), killed }),
  }) as const;

const leftReport = {
  type: 'sendReport',
  params: (args: Args) => result(args, LEFT),
} as const;

const setStopCause = {
  type: 'setStopCause',
  params: ({ event }: { event: AttemptStop }) => event,
} as const;

export const attemptMachine = setup({
  types: {
    context: {} as AttemptContext,
    events: {} as AttemptEvent,
    input: {} as Born<AttemptInput>,
  },
  actions: {
    // Done by the worker's process.
    runHandler: (_, _params: RunParams) => {},
    abortHandler: () => {},
    /** It may go on for ever; nothing it says counts any more. */
    abandonHandler: () => {},
    /** Until it is taken; `report.taken` is the answer. */
    sendReport: (_, _params: ResultReceived | AttemptStopped) => {},
    /** Tells the worker that the cores are free. */
    freeCores: () => {},
    /** Tells the worker that nothing more will come, and forgets the run. */
    closeAttempt: () => {},
    // Done by the machine.
    setStopCause: assign(({ context }, { cause }: { cause: StopCause }) => {
      // A stopping worker stops what is stopping already, and changes nothing about that.
      const isLater = cause === 'leaving' && context.stopCause !== null;
      return isLater ? {} : { stopCause: cause };
    }),
  },
  guards: {
    isUnwanted: ({ context }) => context.stopCause === 'unwanted',
    isLeaving: ({ context }) => context.stopCause === 'leaving',
    isUnwantedNow: (_, { cause }: { cause: StopCause }) => cause === 'unwanted',
  },
  delays: {
    // Over means later than the deadline.
    cancelGrace: ({ context }) => context.cancelGraceMs + 1,
  },
}).createMachine({
  id: 'attempt',
  context: ({ input: { payload: _, ...input } }) => ({ ...input, stopCause: null }),
  initial: 'running',
  states: {
    running: {
      entry: {
        type: 'runHandler',
        params: ({ context: { jobId, attemptId, datacenter, workerId, handler }, event }) => {
          // The first event carries the input, so that the payload need not be in the context too.
          const { payload } = (event as unknown as { readonly input: AttemptInput }).input;
          return { jobId, attemptId, datacenter, workerId, handler, payload };
        },
      },
      on: {
        'handler.ended': {
          target: 'reporting.finished',
          actions: [
            'freeCores',
            { type: 'sendReport', params: ({ context, event }) => result({ context }, event) },
          ],
        },
        'attempt.stop': { target: 'stopping', actions: setStopCause },
      },
    },
    stopping: {
      entry: 'abortHandler',
      on: {
        'attempt.stop': { actions: setStopCause },
        'handler.ended': [
          { guard: 'isUnwanted', target: 'ended' },
          {
            guard: 'isLeaving',
            target: 'reporting.finished',
            actions: [
              'freeCores',
              {
                type: 'sendReport',
                // It may have been done all the same.
                params: ({ context, event }) => result({ context }, event.ok ? event : LEFT),
              },
            ],
          },
          { target: 'reporting.stopped', actions: ['freeCores', stoppedReport(false)] },
        ],
      },
      after: {
        cancelGrace: [
          { guard: 'isUnwanted', target: 'ended', actions: 'abandonHandler' },
          {
            guard: 'isLeaving',
            target: 'reporting.abandoned',
            actions: ['abandonHandler', 'freeCores', leftReport],
          },
          {
            target: 'reporting.abandoned',
            actions: ['abandonHandler', 'freeCores', stoppedReport(true)],
          },
        ],
      },
    },
    reporting: {
      initial: 'finished',
      on: {
        'report.taken': 'ended',
        'attempt.stop': {
          guard: { type: 'isUnwantedNow', params: ({ event }) => event },
          target: 'ended',
        },
      },
      states: { finished: {}, stopped: {}, abandoned: {} },
    },
    ended: { type: 'final', entry: 'closeAttempt' },
  },
});
