/**
 * Steps of an orchestration that are about questions to a human: asked, answered, withdrawn.
 */

import { questionIdOf, taskAddress } from '../addresses.ts';
import { type EventOf, type OrchestrationContext, openQuestion, questionKey } from './context.ts';
import type { Step } from './steps.ts';

export function openQuestionOf(
  context: OrchestrationContext,
  event: EventOf<'question.opened'>,
): Step {
  const { type: _, at, dueAt: __, ageMs: ___, ...asked } = event;
  const questionCount = context.questionCount + 1;
  const questionId = questionIdOf(context.runId, questionCount);
  const row = { ...asked, questionId, askedAtMs: at, state: 'open' as const, answer: null };
  const { taskId, attemptId, kind, text, options } = event;
  return {
    next: {
      questionCount,
      questions: context.questions.with(questionKey(questionCount), row),
      live: withWaiting(context, attemptId, true),
    },
    notes: [
      {
        event: 'question_asked',
        task_id: taskId,
        question_id: questionId,
        kind,
        question: text,
        options,
        ...(attemptId !== null && { agent_id: attemptId }),
      },
    ],
  };
}

function withWaiting(
  { live }: OrchestrationContext,
  attemptId: string | null,
  isWaiting: boolean,
): OrchestrationContext['live'] {
  const row = attemptId === null ? undefined : live.get(attemptId);
  return row === undefined ? live : live.with(attemptId as string, { ...row, isWaiting });
}

/** Applies an answer once: to a question that is not open it means nothing. */
export function answer(context: OrchestrationContext, event: EventOf<'question.answered'>): Step {
  const { questionId, said } = event;
  const found = [...context.questions].find(([, row]) => row.questionId === questionId);
  // A copy of the answer that was applied.
  if (found?.[1].state === 'answered') return { next: {} };
  if (found === undefined || found[1].state === 'withdrawn')
    return {
      next: {},
      notes: [{ event: 'answer_refused', level: 'warn', question_id: questionId }],
    };
  const [key, row] = found;
  const given = said.key ?? said.answer;
  const answered = { ...row, state: 'answered' as const, answer: given };
  return {
    next: {
      questions: context.questions.with(key, answered),
      live: withWaiting(context, row.attemptId, false),
    },
    says: [
      {
        to: taskAddress(context.runId, row.taskId),
        event: { type: 'human.answered', questionId, said },
      },
    ],
    notes: [
      {
        event: 'question_answered',
        task_id: row.taskId,
        question_id: questionId,
        kind: row.kind,
        answer: given,
        ...(said.by !== undefined && { by: said.by }),
      },
    ],
  };
}

export function withdraw(context: OrchestrationContext, taskId: string): Step {
  const found = openQuestion(context, taskId);
  if (found === undefined) return { next: {} };
  const [key, row] = found;
  return {
    next: { questions: context.questions.with(key, { ...row, state: 'withdrawn' }) },
    notes: [{ event: 'question_withdrawn', task_id: taskId, question_id: row.questionId }],
  };
}
