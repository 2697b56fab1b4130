/**
 * Setup of an orchestration: its actions, guards and delays, by name. The chart is in orchestration.ts.
 */

import { assign, setup } from 'xstate';
import { type Spawned, to } from '../../../runtime/machine.ts';
import { givenEvents, stepActions } from '../../given.ts';
import type { NoteParams } from '../notes.ts';
import type { StopReason } from '../words.ts';
import {
  isFinal,
  type OrchestrationContext,
  type OrchestrationEvent,
  type OrchestrationInput,
  type PauseCause,
} from './context.ts';
import { nextDelegation, nextTask } from './order.ts';
import { settle, takePlan } from './plan-steps.ts';
import { answer, openQuestionOf, withdraw } from './question-steps.ts';
import {
  collect,
  dispatch,
  grant,
  isOverBudget,
  killAll,
  queue,
  type Step,
  stopAll,
  takeUsage,
} from './steps.ts';

const isQuiet = ({ live, delegations }: OrchestrationContext): boolean =>
  live.size === 0 && delegations.size === 0;

const openQuestions = ({ questions }: OrchestrationContext): number =>
  [...questions].filter(([, { state }]) => state === 'open').length;

function canDispatch(context: OrchestrationContext, slots: number): boolean {
  const { rules, live } = context;
  if (rules === null || live.size >= slots || nextTask(context) === undefined) return false;
  return !rules.blockAllOnQuestion || openQuestions(context) === 0;
}

/** Every task that is left waits for a human who has been asked and has not answered. */
function isBlocked(context: OrchestrationContext): boolean {
  const { exitWhenBlocked, rules, live, delegations, tasks } = context;
  if (!exitWhenBlocked || rules === null || delegations.size > 0) return false;
  const rows = [...live.values()];
  const waiting = [...tasks.values()].filter(({ state }) => state === 'awaitingHuman').length;
  const open = openQuestions(context);
  return (
    open > 0 &&
    rows.every((row) => row.isWaiting) &&
    open === waiting + rows.length &&
    !canDispatch(context, rules.slots)
  );
}

const isAtThreshold = (
  remaining: number | null,
  threshold: number | undefined,
  isArmed: boolean,
): boolean => isArmed && remaining !== null && remaining <= (threshold ?? 0);

const { keep } = givenEvents<OrchestrationContext, OrchestrationEvent>();
const { on, at } = stepActions<OrchestrationContext, OrchestrationEvent, Step>(
  ({ next, says = [], notes = [] }, { enqueue, context, event }) => {
    enqueue.assign(next);
    for (const said of says) enqueue.sendTo(to(said.to), said.event);
    for (const note of notes)
      enqueue({ type: 'note', params: { ...note, at: event.at, run_id: context.runId } });
  },
);

export const orchestrationSetup = setup({
  types: {
    context: {} as OrchestrationContext,
    events: {} as OrchestrationEvent,
    input: {} as Spawned<OrchestrationInput>,
  },
  actions: {
    // Done by the program.
    note: (_, _params: NoteParams) => {},
    /** The compaction hook, answered by `compaction.finished` with the same number. */
    compact: (_, _params: { readonly runId: string; readonly number: number }) => {},
    stopCompaction: (_, _params: { readonly runId: string; readonly number: number }) => {},
    // Done by the machine.
    takePlan: on('run.begun', takePlan),
    takeSettled: on('task.settled', settle),
    openQuestion: on('question.opened', openQuestionOf),
    answerQuestion: on('question.answered', answer),
    withdrawQuestion: on('question.withdrawn', (context, { taskId }) => withdraw(context, taskId)),
    takeUsage: keep('usage.reported', ({ context, event }) => takeUsage(context, event)),
    dispatch: at((context) => dispatch(context, context.rules?.slots ?? 0)),
    dispatchOne: at((context) => dispatch(context, 1)),
    grant: at((context) => grant(context)),
    queueDelegation: on('delegation.queued', queue),
    endDelegation: keep('delegation.ended', ({ context, event }) => ({
      delegations: context.delegations.without(event.delegationId),
    })),
    collect: at((context, now, reason: 'compaction' | 'pause') => collect(context, now, reason)),
    takeCollected: keep('checkpoint.collected', ({ context, event }) => ({
      collecting: context.collecting.filter((each) => each !== event.attemptId),
    })),
    forgetCollecting: assign({ collecting: [] }),
    beginCompaction: assign(({ context }) => ({
      isContextArmed: false,
      compaction: context.compaction + 1,
    })),
    stopAll: at((context, _now, reason: StopReason) => stopAll(context, reason)),
    killAll: at((context) => killAll(context)),
    /** The first cause counts. */
    keepPause: assign(({ context }, cause: PauseCause) => ({
      pauseCause: context.pauseCause ?? cause,
    })),
    disarmSession: assign({ isSessionArmed: false }),
    keepDrain: assign({ isDraining: true }),
    forgetPause: assign({ pauseCause: null }),
    /** What the runtime before was told says nothing of the attempts to come. */
    forgetUsage: assign({
      contextRemaining: null,
      sessionRemaining: null,
      isContextArmed: true,
      isSessionArmed: true,
      collecting: [],
    }),
    keepQuota: keep('quota.exhausted', ({ context, event }) => ({
      quotaEndsAt: Math.max(
        context.quotaEndsAt,
        event.at + Math.max(event.resetsInMs, context.rules?.quotaPauseMinMs ?? 0),
      ),
    })),
    keepEnd: assign({ endedAt: ({ event }) => event.at }),
  },
  guards: {
    isQuiet: ({ context }) => isQuiet(context),
    isDone: ({ context }) =>
      context.tasks.size > 0 && isQuiet(context) && [...context.tasks.values()].every(isFinal),
    isBlocked: ({ context }) => isBlocked(context),
    canDispatch: ({ context }) => canDispatch(context, context.rules?.slots ?? 0),
    canProbe: ({ context }) => canDispatch(context, 1),
    canGrant: ({ context }) => nextDelegation(context) !== undefined,
    isContextLow: ({ context: { contextRemaining, rules, isContextArmed } }) =>
      isAtThreshold(contextRemaining, rules?.contextThreshold, isContextArmed),
    isToPause: ({ context }) => context.pauseCause !== null,
    isSessionLow: ({ context: { sessionRemaining, rules, isSessionArmed } }) =>
      isAtThreshold(sessionRemaining, rules?.sessionThreshold, isSessionArmed),
    isOverBudget: ({ context }) => isOverBudget(context),
    isToDrain: ({ context }) => context.isDraining,
    isQuotaUsedUp: ({ context, event }) => context.quotaEndsAt > event.at,
    isOnlyAsking: ({ context: { exitWhenBlocked, live, delegations } }) =>
      exitWhenBlocked && delegations.size === 0 && [...live.values()].every((row) => row.isWaiting),
    isCollected: ({ context }) => context.collecting.length === 0,
    hasNoHook: ({ context }) => context.rules?.hasCompactCommand !== true,
    isOwnCompaction: ({ context, event }) =>
      event.type === 'compaction.finished' && event.number === context.compaction,
    hasFailed: ({ context, event }) =>
      event.type === 'compaction.finished' &&
      event.number === context.compaction &&
      event.failure !== null,
    isProbeEnd: ({ context, event }) =>
      event.type === 'task.settled' &&
      event.attemptId !== null &&
      context.live.has(event.attemptId),
  },
  delays: {
    collectWindow: ({ context, event }) => Math.max(0, context.windowEndsAt - event.at),
    compactionLimit: ({ context }) => context.rules?.compactionTimeoutMs ?? 0,
    quotaReset: ({ context, event }) => Math.max(0, context.quotaEndsAt - event.at),
  },
});
