/**
 * Setup of a run: its actions, guards and delays, by name. The chart is in run.ts.
 */

import { assign, setup } from 'xstate';
import { type Spawned, to } from '../../../runtime/machine.ts';
import { givenEvents, stepActions } from '../../given.ts';
import type { LogEvent } from '../log-events.ts';
import type { StopCause } from '../words.ts';
import {
  finalCount,
  hasHalted,
  itemKey,
  medianLimit,
  nextRetryAt,
  overdrawn,
  type RunContext,
  type RunEvent,
  type RunInput,
} from './context.ts';
import {
  begin,
  beginSide,
  cancel,
  end,
  failRest,
  hasRoomAndWork,
  type KeepParams,
  kill,
  reopen,
  type Step,
} from './steps.ts';

/** Agents from which on a rate says something. */
const RATE_AGENTS = 10;

const finalLogEvent = (
  runId: string,
  at: number,
  { itemIndex, outcome, reason }: NonNullable<Step['ended']>[number],
): LogEvent => ({ event: 'ItemFinal', at, run_id: runId, item_index: itemIndex, outcome, reason });

const retriedLogEvent = (
  runId: string,
  at: number,
  { itemIndex, cause, retryAt }: NonNullable<Step['retried']>,
): LogEvent => ({
  event: 'ItemRetried',
  at,
  run_id: runId,
  item_index: itemIndex,
  cause,
  retry_at: retryAt,
});

export const ratePercent = ({ agentsStarted, timeouts }: RunContext): number =>
  agentsStarted === 0 ? 0 : Math.round((timeouts / agentsStarted) * 10_000) / 100;

/** A count of begun agents that includes those that still run. */
const begunAgents = ({ agentsStarted, agents }: RunContext): number => agentsStarted + agents.size;

const { keep } = givenEvents<RunContext, RunEvent>();
const { on, at } = stepActions<RunContext, RunEvent, Step>(
  (
    { next, says = [], keeps = [], ended = [], retried },
    { enqueue, context: { runId }, event: { at: now } },
  ) => {
    enqueue.assign(next);
    for (const said of says) enqueue.sendTo(to(said.to), said.event);
    for (const params of keeps) enqueue({ type: 'keepFailure', params });
    for (const item of ended) enqueue({ type: 'note', params: finalLogEvent(runId, now, item) });
    if (retried !== undefined)
      enqueue({ type: 'note', params: retriedLogEvent(runId, now, retried) });
  },
);

export const runSetup = setup({
  types: {
    context: {} as RunContext,
    events: {} as RunEvent,
    input: {} as Spawned<RunInput>,
  },
  actions: {
    // Done by the program.
    note: (_, _params: LogEvent) => {},
    /** Writes an item to the failed items, or takes it from them. Answered by `failure.kept`. */
    keepFailure: (_, _params: KeepParams) => {},
    // Done by the machine.
    beginSetup: at((context) => beginSide(context, 'setup')),
    beginReduce: at((context) => beginSide(context, 'reduce')),
    beginItems: at((context, now) => begin(context, now, context.rules.maxParallel)),
    /** One item more than run already. */
    beginProbe: at((context, now) => begin(context, now, context.agents.size + 1)),
    takeEnd: on('agent.ended', end),
    cancelAgents: at((context, _now, cause: StopCause) => cancel(context, cause)),
    killAgents: at((context) => kill(context)),
    failRest: at((context) => failRest(context)),
    reopen: at(reopen),
    forgetKept: keep('failure.kept', ({ context, event }) => ({
      recording: context.recording.without(itemKey(event.itemIndex)),
    })),
    addCost: keep('cost.reported', ({ context, event }) => {
      const { name, amount } = event;
      return { costs: { ...context.costs, [name]: (context.costs[name] ?? 0) + amount } };
    }),
    keepReason: assign(({ context }, reason: string) => ({ reason: context.reason ?? reason })),
    keepEnd: assign({ endedAt: ({ event }) => event.at }),
    forgetEnd: assign({ endedAt: null }),
  },
  guards: {
    hasNoItems: ({ context }) => context.rules.itemCount === 0,
    hasSetup: ({ context }) => context.rules.setup !== null && context.setup.outcome !== 'done',
    isSetUp: ({ context }) => context.setup.outcome === 'done',
    hasBegunReduce: ({ context }) => context.reduce.attempts > 0,
    isReduced: ({ context }) => context.reduce.outcome === 'done',
    hasReason: ({ context }) => context.reason !== null,
    hasNoAgents: ({ context }) => context.agents.size === 0 && context.recording.size === 0,
    isMapped: ({ context }) =>
      finalCount(context) === context.rules.itemCount && context.recording.size === 0,
    isMappedWithReduce: ({ context }) =>
      finalCount(context) === context.rules.itemCount &&
      context.recording.size === 0 &&
      context.rules.reduce !== null,
    hasRoomAndWork: ({ context, event }) =>
      context.reason === null && hasRoomAndWork(context, event.at, context.rules.maxParallel),
    isOverBudget: ({ context }) => overdrawn(context) !== undefined,
    hasHaltedNow: ({ context }) => hasHalted(context) && context.rules.halt?.when === 'now',
    hasHaltedSoon: ({ context }) => hasHalted(context) && context.rules.halt?.when === 'soon',
    isDeferred: ({ event }) => event.type === 'agent.ended' && event.outcome === 'deferred',
    hasLaterRetry: ({ context, event }) => (nextRetryAt(context) ?? 0) > event.at,
    followsMedian: ({ context }) => context.rules.medianLimit !== null,
    hasEnoughSuccesses: ({ context }) => medianLimit(context) !== undefined,
    isRateExceeded: ({ context }) =>
      context.rules.alertPercent !== null &&
      begunAgents(context) >= RATE_AGENTS &&
      (context.timeouts / begunAgents(context)) * 100 > context.rules.alertPercent,
  },
  delays: {
    retryDelay: ({ context, event }) => Math.max(0, (nextRetryAt(context) ?? 0) - event.at),
    quotaPause: ({ context }) => context.rules.quotaResumeAfterMs,
  },
});
