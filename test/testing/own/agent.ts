/** Words to an agent: by its process, its experts, its task and a restart. */

import type { AgentContext } from '../../../machines/agents/agent/context.ts';
import { agentMachine } from '../../../machines/agents/agent.ts';
import type { SentEvent } from '../../../testing/model/step.ts';
import { processEvents } from './agent-process.ts';
import type { OwnMachine } from './own-machine.ts';

const rules = {
  ...{ agentLimitMs: 60_000, checkpointIntervalMs: 10_000, checkpointTimeoutMs: 3_000 },
  ...{ stallThreshold: 2, retryOnMiss: false, delegationLimitMs: 20_000, delegationsMax: 1 },
  ...{ experts: ['lawyer'], graceMs: 5_000, malformedLinesMax: 1, idleLimitMs: 25_000 },
  budget: { tokens: 10 },
};
const agent = (changes: object) => ({
  ...{ runId: 'r1', taskId: 't1', attemptId: 't1#1', attempt: 1, name: 'coder', usageBefore: {} },
  rules: { ...rules, ...changes },
});

const checkpoint = {
  ...{ status: 'half', completed: ['a'], remaining: ['b'], progressPercent: 50, data: null },
};

function events(context: AgentContext, at: number): SentEvent[] {
  const { request, expired, delegation, question } = context;
  const answered = { type: 'expert.answered', ok: true, answer: 'yes', reason: null, usage: {} };
  const asking = { type: 'delegation.requested', prompt: 'Is it?', data: null };
  const collecting = { type: 'checkpoint.collect', windowEndsAt: at + 4_000 };
  return [
    ...processEvents,
    { ...asking, requestId: `q${context.seen.length + 2}`, expert: 'lawyer' },
    { ...asking, requestId: `q${context.seen.length + 2}`, expert: 'nobody' },
    {
      ...{ type: 'question.asked', requestId: `h${context.seen.length + 2}`, question: 'May I?' },
      ...{ options: null, context: null, allow: null },
    },
    { type: 'checkpoint.reported', requestId: request?.requestId ?? 'c98', checkpoint },
    { type: 'checkpoint.reported', requestId: 'c99', checkpoint },
    ...(expired.length === 0
      ? []
      : [{ type: 'checkpoint.reported', requestId: expired[0], checkpoint }]),
    { ...answered, delegationId: delegation?.delegationId ?? 'e9' },
    { ...answered, delegationId: 'e9', ok: false, answer: null, reason: 'timedOut' },
    { type: 'human.answered', requestId: question ?? 'h9', questionId: '1', answer: 'yes' },
    { type: 'human.answered', requestId: 'h8', questionId: '2', answer: 'yes' },
    { ...collecting, reason: 'compaction' },
    { ...collecting, reason: 'pause', windowEndsAt: at },
    { type: 'clock.stop' },
    { type: 'clock.continue' },
    { type: 'checkpoint.due' },
  ];
}

const CLOCK_FIRST =
  'The clock was armed before any other deadline, and of two that are due at one moment it comes first.';

export const agentAttempt: OwnMachine = {
  machine: agentMachine,
  samples: {
    inputs: {
      usual: agent({}),
      'asked again where it is silent': agent({ retryOnMiss: true, idleLimitMs: null }),
      'asked for nothing': agent({ checkpointIntervalMs: null }),
      'whose clock ends with an interval': agent({
        ...{ checkpointIntervalMs: 20_000, agentLimitMs: 20_000, idleLimitMs: null },
      }),
      'whose clock ends with a wait': agent({ agentLimitMs: 13_000, idleLimitMs: null }),
      'whose wait ends with an interval': agent({
        ...{ checkpointTimeoutMs: 10_000, stallThreshold: 3, idleLimitMs: null },
      }),
    },
    events,
    key: (context: AgentContext) => [
      [context.rules.retryOnMiss, context.rules.checkpointIntervalMs, context.malformedLines],
      [context.rules.agentLimitMs, context.rules.checkpointTimeoutMs, context.rules.idleLimitMs],
      [context.request?.reason, context.request?.isCollected, context.expired.length > 0],
      [context.misses, Math.min(context.tick, 3), context.delegation !== null],
      [context.question !== null, context.seen.includes('q1'), context.seen.includes('h1')],
      [Math.min(context.delegations, 1), (context.usage.tokens ?? 0) > 10],
      [context.outcome, context.reason, context.stopReason],
    ],
  },
  unreachable: {
    'agent.active.checkpoint.requested on checkpoint.reported (3)':
      'A checkpoint that names no request answers the open request.',
    'agent.active.interval.ticking after checkpointInterval (1)': CLOCK_FIRST,
    'agent.active.checkpoint.requested after checkpointWait (1)': CLOCK_FIRST,
    'agent on leadership.acquired': 'Every state in which it lives has an answer of its own.',
  },
};
