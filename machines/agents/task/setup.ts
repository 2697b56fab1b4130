/**
 * Setup of a task: its actions and guards, by name. The chart is in task.ts.
 */

import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { SPAWN_EVENT, to } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import {
  agentAddress,
  attemptIdOf,
  delegationAddress,
  orchestrationAddress,
} from '../addresses.ts';
import type { AgentInput } from '../agent/context.ts';
import { type NoteParams, notingFor } from '../notes.ts';
import { addUsage, ESCALATION_TEXTS, type TaskState } from '../words.ts';
import {
  attemptKey,
  type EndEvent,
  escalationText,
  limitOf,
  type TaskContext,
  type TaskEvent,
  type TaskInput,
} from './context.ts';

export const noting = notingFor<TaskContext, TaskEvent>(({ taskId }) => ({ task_id: taskId }));

const stale = noting('late_result_discarded', ({ event }) => ({
  agent_id: 'attemptId' in event ? event.attemptId : null,
}));

const OUTCOMES = [
  'attempt.done',
  'attempt.failed',
  'attempt.timedOut',
  'attempt.stalled',
  'attempt.killed',
] as const;

const { keep, doing } = givenEvents<TaskContext, TaskEvent>();

export const taskSetup = setup({
  types: {
    context: {} as TaskContext,
    events: {} as TaskEvent,
    input: {} as TaskInput,
  },
  actions: {
    // Done by the program.
    note: (_, _params: NoteParams) => {},
    // Done by the machine.
    noteStale: enqueueActions(({ enqueue }) => enqueue(stale as never)),
    keepPlan: keep('task.changed', ({ event }) => ({ plan: event.plan })),
    beginAttempt: doing('task.dispatched', ({ enqueue, context, event }) => {
      const { runId, taskId, plan, history, usage } = context;
      const { attempt, rules, at } = event;
      const attemptId = attemptIdOf(taskId, attempt);
      const row = {
        attemptId,
        agent: plan.agent,
        startedAtMs: at,
        endedAtMs: null,
        outcome: null,
        checkpointMisses: 0,
        reason: null,
        error: null,
      };
      const next = { ...context, rules };
      enqueue.assign({
        rules,
        attempts: attempt,
        attemptId,
        history: history.with(attemptKey(attempt), row),
      });
      const input: AgentInput = {
        runId,
        taskId,
        attemptId,
        attempt,
        name: plan.agent,
        rules: { ...rules.attempt, agentLimitMs: limitOf(next), budget: budgetOf(next) },
        usageBefore: usage,
      };
      enqueue.sendTo(
        to(agentAddress(runId, attemptId)) as never,
        { type: SPAWN_EVENT, input } as never,
      );
    }),
    /** The end of the attempt, whatever it was. */
    keepAttempt: keep(OUTCOMES, ({ context, event }) => ended(context, event)),
    countTimeout: assign({ timeoutCount: ({ context }) => context.timeoutCount + 1 }),
    countStall: assign({ stallCount: ({ context }) => context.stallCount + 1 }),
    countFailure: assign({ failureCount: ({ context }) => context.failureCount + 1 }),
    keepResult: keep('attempt.done', ({ event }) => ({ result: event.result })),
    keepReason: assign((_, reason: string | null) => ({ reason })),
    toAttempt: enqueueActions(({ enqueue, context: { runId, attemptId }, event }) => {
      const { at: _, ...rest } = event;
      const said = rest.type === 'attempt.recall' ? { ...rest, type: 'attempt.stop' } : rest;
      enqueue.sendTo(to(agentAddress(runId, attemptId ?? '')) as never, said as never);
    }),
    tellCollected: sendTo(
      ({ context }) => to(orchestrationAddress(context.runId)),
      ({ context }) => ({ type: 'checkpoint.collected', attemptId: context.attemptId }),
    ),
    openQuestion: doing('question.asked', ({ enqueue, context, event }) => {
      const { requestId, question: text, options, about, allow, attemptId } = event;
      enqueue.assign({ question: { kind: 'agent', requestId, text } });
      const { runId, taskId } = context;
      const asked = { taskId, attemptId, kind: 'agent', text, about, allow };
      const said = { type: 'question.opened', ...asked, options, limitMs: null };
      enqueue.sendTo(to(orchestrationAddress(runId)) as never, said as never);
    }),
    escalate: enqueueActions(({ enqueue, context }) => {
      const text = escalationText(context);
      enqueue.assign({ question: { kind: 'escalation', requestId: '', text } });
      const { runId, taskId } = context;
      const said = {
        type: 'question.opened',
        taskId,
        attemptId: null,
        kind: 'escalation',
        text,
        options: Object.values(ESCALATION_TEXTS),
        about: null,
        allow: null,
        limitMs: limitOf(context),
      };
      enqueue.sendTo(to(orchestrationAddress(runId)) as never, said as never);
    }),
    keepAnswer: keep('human.answered', ({ context, event }) => {
      const { question, answers } = context;
      const { answer } = event.said;
      return {
        answers: [...answers, { question: question?.text ?? '', answer }],
        question: null,
      };
    }),
    passAnswer: doing('human.answered', ({ enqueue, context, event }) => {
      const { runId, attemptId, question } = context;
      const { questionId, said } = event;
      const requestId = question?.requestId;
      const line = { type: 'human.answered', requestId, questionId, answer: said.answer };
      enqueue.sendTo(to(agentAddress(runId, attemptId ?? '')) as never, line as never);
    }),
    forgetQuestion: assign({ question: null }),
    withdrawQuestion: enqueueActions(({ enqueue, context: { runId, taskId, question } }) => {
      if (question === null) return;
      enqueue.assign({ question: null });
      enqueue.sendTo(
        to(orchestrationAddress(runId)) as never,
        { type: 'question.withdrawn', taskId } as never,
      );
    }),
    forgetCounts: assign({ timeoutCount: 0, stallCount: 0 }),
    keepClarification: keep('human.answered', ({ context, event }) => ({
      clarifications: [...context.clarifications, String(event.said.answer)],
    })),
    keepLimit: keep('human.answered', ({ context, event }) => ({
      humanLimitMs: event.said.timeoutMs ?? 2 * limitOf(context),
    })),
    keepParts: keep('human.answered', ({ event }) => ({ parts: event.said.parts })),
    keepExpertAnswer: keep('expert.answered', ({ context, event }) => {
      const { delegationId, expert, ok, answer } = event;
      const orphans = context.orphans.filter((each) => each !== delegationId);
      // Of one whose asker lived, the attempt tells the usage.
      const isOrphan = orphans.length < context.orphans.length;
      const usage = isOrphan ? addUsage(context.usage, event.usage) : context.usage;
      if (!ok) return { orphans, usage };
      return { orphans, usage, expertAnswers: [...context.expertAnswers, { expert, answer }] };
    }),
    stopOrphans: enqueueActions(({ enqueue, context: { runId, orphans } }) => {
      for (const each of orphans)
        enqueue.sendTo(
          to(delegationAddress(runId, each)) as never,
          { type: 'attempt.stop', reason: 'taskFinal' } as never,
        );
    }),
    /** The state that it has come to, for the orchestration. */
    settle: sendTo(
      ({ context }) => to(orchestrationAddress(context.runId)),
      ({ context, event }, state: TaskState) => ({
        type: 'task.settled',
        taskId: context.taskId,
        attemptId: OUTCOMES.some((each) => each === event.type)
          ? (event as EndEvent).attemptId
          : null,
        state,
        parts: context.parts,
      }),
    ),
  },
  guards: {
    isOwnAttempt: ({ context, event }) =>
      'attemptId' in event && event.attemptId === context.attemptId,
    isForeign: ({ context, event }) =>
      'attemptId' in event && event.attemptId !== context.attemptId,
    escalatesTimeout: ({ context }) =>
      context.timeoutCount + 1 >= (context.rules?.timeoutEscalation ?? 0),
    isMereStall: ({ context: { rules } }) => rules?.stallsCount === false,
    failsForGood: ({ context, event }) =>
      event.type === 'attempt.failed' &&
      (!event.isRetryable || context.failureCount + 1 >= (context.rules?.failuresMax ?? 0)),
    hasQuestion: ({ context }) => context.question !== null,
    hasAgentQuestion: ({ context }) => context.question?.kind === 'agent',
    isSplit: ({ event }) =>
      event.type === 'human.answered' && event.said.key === 'split' && event.said.parts.length > 1,
    isClarification: ({ event }) =>
      event.type === 'human.answered' &&
      event.said.key === 'clarify' &&
      typeof event.said.answer === 'string' &&
      event.said.answer !== '',
    isIncrease: ({ context, event }) =>
      event.type === 'human.answered' &&
      event.said.key === 'increase' &&
      (event.said.timeoutMs === null || event.said.timeoutMs > limitOf(context)),
    isSkip: ({ event }) => event.type === 'human.answered' && event.said.key === 'skip',
  },
});

/** What the task has left of its budget is judged by all its attempts. */
function budgetOf({ plan, rules }: TaskContext): Readonly<Record<string, number>> {
  return { ...rules?.attempt.budget, ...plan.budget };
}

function ended(context: TaskContext, event: EndEvent): Partial<TaskContext> {
  const { history, attempts, lastCheckpoint, usage, orphans } = context;
  const key = attemptKey(attempts);
  const row = history.get(key);
  const outcome = event.type.slice('attempt.'.length) as 'done';
  const { reason, error, checkpointMisses, delegationId, startedAt, at } = event;
  return {
    attemptId: null,
    history:
      row === undefined
        ? history
        : history.with(key, {
            ...row,
            startedAtMs: startedAt ?? row.startedAtMs,
            endedAtMs: at,
            outcome,
            checkpointMisses,
            reason,
            error,
          }),
    lastCheckpoint: event.lastCheckpoint ?? lastCheckpoint,
    usage: addUsage(usage, event.usage),
    orphans: delegationId === null ? orphans : [...orphans, delegationId],
  };
}
