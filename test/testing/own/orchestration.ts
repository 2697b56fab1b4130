/** Words to an orchestration: by its tasks, attempts and experts, by people, the program and a restart. */

import type { OrchestrationContext } from '../../../machines/agents/orchestration/context.ts';
import { orchestrationMachine } from '../../../machines/agents/orchestration.ts';
import type { SentEvent } from '../../../testing/model/step.ts';
import type { OwnMachine } from './own-machine.ts';

const attempt = {
  ...{ agentLimitMs: 60_000, checkpointIntervalMs: 10_000, checkpointTimeoutMs: 3_000 },
  ...{ stallThreshold: 2, retryOnMiss: false, delegationLimitMs: 20_000, delegationsMax: 1 },
  ...{ experts: ['lawyer'], graceMs: 5_000, malformedLinesMax: 1, idleLimitMs: null, budget: {} },
};
const rules = {
  slots: 2,
  task: { attempt, timeoutEscalation: 2, stallsCount: true, failuresMax: 2 },
  silentAgents: [],
  experts: { lawyer: 1 },
  contextThreshold: 20,
  sessionThreshold: 10,
  compactionTimeoutMs: 30_000,
  hasCompactCommand: true,
  blockAllOnQuestion: false,
  budget: { tokens: 10 },
};
const plan = { prompt: 'Do it', agent: 'coder', limitMs: null, budget: {} };
const tasks = ['t1', 't2'].map((taskId, index) => ({
  ...{ taskId, priority: 1, dependsOn: index === 0 ? [] : ['t1'], plan },
}));
const begun = { type: 'run.begun', about: {}, tasks };

/** A place in the states of the first task that it may come to next. */
const SETTLED = ['done', 'failed', 'available', 'awaitingHuman', 'skipped'];

function events(context: OrchestrationContext): SentEvent[] {
  const [attemptId = 'none', live] = [...context.live][0] ?? [];
  const taskId = live?.taskId ?? 't1';
  const settled = { type: 'task.settled', parts: [] };
  const [asked] = [...context.questions.values()].filter(({ state }) => state === 'open');
  const said = { key: null, answer: 'yes', timeoutMs: null, parts: [] };
  const usage = { type: 'usage.reported', remainingPercent: null, amounts: {} };
  return [
    { ...begun, exitWhenBlocked: true, rules },
    { ...begun, exitWhenBlocked: false, rules: { ...rules, hasCompactCommand: false, budget: {} } },
    { type: 'run.interrupt' },
    { type: 'run.kill' },
    { type: 'run.drain' },
    { type: 'session.pause' },
    { type: 'session.resumed' },
    { type: 'question.answered', questionId: asked?.questionId ?? '9', said },
    {
      type: 'question.answered',
      questionId: asked?.questionId ?? '9',
      said: { ...said, key: 'skip' },
    },
    { type: 'compaction.finished', number: context.compaction, failure: null },
    { type: 'compaction.finished', number: context.compaction, failure: 'it failed' },
    { type: 'compaction.finished', number: context.compaction + 1, failure: null },
    { ...usage, kind: 'context', remainingPercent: 15 },
    { ...usage, kind: 'context', remainingPercent: 80 },
    { ...usage, kind: 'session', remainingPercent: 5 },
    { ...usage, kind: 'session', remainingPercent: 80 },
    { ...usage, kind: 'agent', amounts: { tokens: 11 } },
    { type: 'quota.exhausted', attemptId, resetsInMs: 60_000 },
    ...SETTLED.map((state) => ({
      ...{ ...settled, taskId, attemptId: live === undefined ? null : attemptId, state },
    })),
    {
      ...{ type: 'question.opened', taskId, attemptId: live === undefined ? null : attemptId },
      ...{ kind: 'agent', text: 'May I?', options: null, about: null, allow: null, limitMs: null },
    },
    { type: 'question.withdrawn', taskId },
    { type: 'checkpoint.collected', attemptId: context.collecting[0] ?? null },
    ...['e1', 'e2'].map((delegationId) => ({
      ...{ type: 'delegation.queued', delegationId, expert: 'lawyer', taskId },
    })),
    { type: 'delegation.ended', delegationId: [...context.delegations.keys()][0] ?? 'e9' },
    { type: 'message.refused' },
    { type: 'leadership.acquired', fence: 2, node: 'here' },
  ];
}

export const orchestration: OwnMachine = {
  machine: orchestrationMachine,
  situationsMax: 3_000,
  samples: {
    inputs: { usual: { runId: 'r1', about: {} } },
    events,
    key: (context: OrchestrationContext) => [
      [...context.tasks.values()].map(({ state, attempts }) => [state, Math.min(attempts, 2)]),
      [...context.live.values()].map(({ isWaiting }) => isWaiting),
      [...context.delegations.values()].map(({ isGranted }) => isGranted),
      [...context.questions.values()].some(({ state }) => state === 'open'),
      [context.rules?.hasCompactCommand, context.exitWhenBlocked, context.pauseCause],
      [context.contextRemaining, context.isContextArmed],
      [context.sessionRemaining, context.isSessionArmed],
      [context.collecting.length, (context.usage.tokens ?? 0) > 10],
    ],
  },
};
