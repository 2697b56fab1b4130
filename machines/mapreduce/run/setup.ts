/**
 * Setup of a run: its actions, guards and delays, by name. The chart is in run.ts.
 */

import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import { type Spawned, to } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import type { LogEvent } from '../log-events.ts';
import type { ItemOutcome, ItemReason, StopCause } from '../words.ts';
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

/** The part of XState's `enqueue` that a step needs. */
interface Enqueue {
  // biome-ignore lint/suspicious/noExplicitAny: named actions of the setup.
  (action: any): void;
  assign(next: Partial<RunContext>): void;
  // biome-ignore lint/suspicious/noExplicitAny: targets are addresses.
  sendTo(target: any, event: any): void;
}

function carryOut(
  { next, says = [], keeps = [], ended = [], retried }: Step,
  { enqueue, context, event }: { enqueue: Enqueue; context: RunContext; event: RunEvent },
): void {
  enqueue.assign(next);
  for (const said of says) enqueue.sendTo(to(said.to), said.event);
  for (const params of keeps) enqueue({ type: 'keepFailure', params });
  for (const { itemIndex, outcome, reason } of ended)
    enqueue({ type: 'note', params: finalLogEvent(context, event, itemIndex, outcome, reason) });
  if (retried !== undefined)
    enqueue({ type: 'note', params: retriedLogEvent(context, event, retried) });
}

function finalLogEvent(
  { runId }: RunContext,
  { at }: RunEvent,
  itemIndex: number,
  outcome: ItemOutcome,
  reason: ItemReason | null,
): LogEvent {
  return { event: 'ItemFinal', at, run_id: runId, item_index: itemIndex, outcome, reason };
}

function retriedLogEvent(
  { runId }: RunContext,
  { at }: RunEvent,
  { itemIndex, cause, retryAt }: NonNullable<Step['retried']>,
): LogEvent {
  return {
    event: 'ItemRetried',
    at,
    run_id: runId,
    item_index: itemIndex,
    cause,
    retry_at: retryAt,
  };
}

export const ratePercent = ({ agentsStarted, timeouts }: RunContext): number =>
  agentsStarted === 0 ? 0 : Math.round((timeouts / agentsStarted) * 10_000) / 100;

/** A count of begun agents that includes those that still run. */
const begunAgents = ({ agentsStarted, agents }: RunContext): number => agentsStarted + agents.size;

const { keep } = givenEvents<RunContext, RunEvent>();

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
    beginSetup: enqueueActions((args) => carryOut(beginSide(args.context, 'setup'), args)),
    beginReduce: enqueueActions((args) => carryOut(beginSide(args.context, 'reduce'), args)),
    beginItems: enqueueActions((args) => {
      const { context, event } = args;
      carryOut(begin(context, event.at, context.rules.maxParallel), args);
    }),
    /** One item more than run already. */
    beginProbe: enqueueActions((args) => {
      const { context, event } = args;
      carryOut(begin(context, event.at, context.agents.size + 1), args);
    }),
    takeEnd: enqueueActions((args) => {
      const { context, event } = args;
      assertEvent(event, 'agent.ended');
      carryOut(end(context, event), args);
    }),
    cancelAgents: enqueueActions((args, cause: StopCause) =>
      carryOut(cancel(args.context, cause), args),
    ),
    killAgents: enqueueActions((args) => carryOut(kill(args.context), args)),
    failRest: enqueueActions((args) => carryOut(failRest(args.context), args)),
    reopen: enqueueActions((args) => carryOut(reopen(args.context, args.event.at), args)),
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
