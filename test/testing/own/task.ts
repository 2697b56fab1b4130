/** Words to a task: by its orchestration, its attempts, experts and humans. */

import type { TaskContext } from '../../../machines/agents/task/context.ts';
import { taskMachine } from '../../../machines/agents/task.ts';
import type { SentEvent } from '../../../testing/model/step.ts';
import type { OwnMachine } from './own-machine.ts';

const attempt = {
  ...{ agentLimitMs: 60_000, checkpointIntervalMs: null, checkpointTimeoutMs: 3_000 },
  ...{ stallThreshold: 2, retryOnMiss: false, delegationLimitMs: 20_000, delegationsMax: 1 },
  ...{ experts: [], graceMs: 5_000, malformedLinesMax: 1, idleLimitMs: null, budget: {} },
};
const rules = { attempt, timeoutEscalation: 2, stallsCount: true, failuresMax: 2 };
const plan = { prompt: 'Do it', agent: 'coder', limitMs: null, budget: {} };

function events(context: TaskContext): SentEvent[] {
  const { attempts } = context;
  const dispatched = { type: 'task.dispatched', attempt: attempts + 1 };
  const ended = {
    ...{ attemptId: context.attemptId ?? 'none', reason: 'reported', error: 'it failed' },
    ...{ isRetryable: true, result: null, startedAt: null, checkpointMisses: 1 },
    ...{ lastCheckpoint: null, usage: { tokens: 6 }, delegationId: null },
  };
  const checkpoint = { at: 1, status: 'half', completed: [], remaining: [], progressPercent: 1 };
  const answered = { type: 'human.answered', questionId: '1' };
  const said = { key: null, answer: 'yes', timeoutMs: null, parts: [] };
  const parts = [{ prompt: 'one' }, { prompt: 'two' }];
  const collecting = { reason: 'compaction', windowEndsAt: 1_900_000_000_000 };
  const ends = ['done', 'failed', 'timedOut', 'stalled', 'killed'].map(
    (outcome) => `attempt.${outcome}`,
  );
  return [
    { type: 'task.unblocked' },
    { type: 'dependency.failed', dependency: 't0' },
    { ...dispatched, rules },
    { ...dispatched, rules: { ...rules, stallsCount: false } },
    { type: 'task.changed', plan: { ...plan, limitMs: 90_000 } },
    { type: 'task.removed' },
    { type: 'attempt.recall', reason: 'pause' },
    { type: 'attempt.kill' },
    { type: 'checkpoint.collect', ...collecting },
    ...ends.flatMap((type) => [
      { type, ...ended },
      { type, ...ended, attemptId: 'another' },
    ]),
    { type: 'attempt.failed', ...ended, isRetryable: false, delegationId: 'e1' },
    { type: 'attempt.killed', ...ended, lastCheckpoint: { ...checkpoint, data: 1 } },
    ...[ended.attemptId, 'another'].map((attemptId) => ({
      ...{ type: 'question.asked', attemptId, requestId: 'h1', question: 'May I?' },
      ...{ options: null, about: null, allow: null },
    })),
    ...[
      said,
      { ...said, key: 'split', parts },
      { ...said, key: 'split', parts: [] },
      { ...said, key: 'clarify' },
      { ...said, key: 'clarify', answer: '' },
      { ...said, key: 'increase' },
      { ...said, key: 'increase', timeoutMs: 600_000 },
      { ...said, key: 'increase', timeoutMs: 1 },
      { ...said, key: 'skip' },
    ].map((answer) => ({ ...answered, said: answer })),
    {
      type: 'expert.answered',
      delegationId: 'e1',
      expert: 'lawyer',
      ok: true,
      answer: 'yes',
      reason: null,
    },
    {
      type: 'expert.answered',
      delegationId: 'e1',
      expert: 'lawyer',
      ok: false,
      answer: null,
      reason: 'exit',
    },
    { type: 'message.refused' },
  ];
}

export const task: OwnMachine = {
  machine: taskMachine,
  samples: {
    inputs: { usual: { runId: 'r1', taskId: 't1', plan } },
    events,
    key: (context: TaskContext) => [
      [context.question?.kind, Math.min(context.timeoutCount, 2), context.failureCount],
      [context.rules?.stallsCount, context.orphans.length > 0],
    ],
  },
};
