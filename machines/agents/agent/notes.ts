/**
 * Notes of an attempt: the records that its chart writes by the action `note`.
 */

import { notingFor } from '../notes.ts';
import type { ExpertFailure } from '../words.ts';
import { type AgentContext, type AgentEvent, activeMsAt } from './context.ts';

const noting = notingFor<AgentContext, AgentEvent>(({ attemptId, taskId }) => ({
  agent_id: attemptId,
  task_id: taskId,
}));

export const started = noting('agent_started', ({ context: { name, rules, group } }) => ({
  agent: name,
  limit_ms: rules.agentLimitMs,
  pid: group,
}));

export const ended = noting('agent_ended', ({ context }) => ({
  agent: context.name,
  outcome: context.outcome,
  reason: context.reason,
  error: context.error,
  active_ms: context.activeAtEndMs,
  checkpoint_misses: context.missesTotal,
  signal: context.signal,
  stray_lines: context.strayLines,
  malformed_lines: context.malformedLines,
}));

export const recovered = noting('stalled_agent_recovered');

export const timedOut = noting('agent_timeout', ({ context, event }) => ({
  elapsed_ms: activeMsAt(context, event.at),
  limit_ms: context.rules.agentLimitMs,
  lateness_ms: event.at - (event.dueAt ?? event.at),
}));

export const idle = noting('agent_idle', ({ context }) => ({
  idle_ms: context.rules.idleLimitMs,
}));

export const overBudget = noting('agent_over_budget', ({ context: { usage } }) => ({ usage }));

export const overLimit = noting('agent_over_limit', ({ event }) => ({
  limit: event.type === 'limit.exceeded' ? event.limit : null,
}));

/** A request to an expert that goes to none. */
export const refused = (reason: ExpertFailure) =>
  noting('delegation_refused', ({ event }) => ({
    reason,
    ...(event.type === 'delegation.requested' && {
      request_id: event.requestId,
      expert: event.expert,
    }),
  }));

/** A line that changes nothing, although it can be read. */
export const discarded = (reason: 'repeated' | 'late') =>
  noting('line_discarded', ({ event }) => ({
    reason,
    line: event.type,
    ...('requestId' in event && { request_id: event.requestId }),
  }));

export const requested = noting('checkpoint_requested', ({ context: { request } }) => ({
  request_id: request?.requestId,
  reason: request?.reason,
}));

export const received = noting('checkpoint_received', ({ context, event }) => ({
  request_id: 'requestId' in event ? event.requestId : null,
  status: context.lastCheckpoint?.status,
}));

export const late = noting('checkpoint_late', ({ event }) => ({
  request_id: 'requestId' in event ? event.requestId : null,
}));

/** After the miss was counted. */
export const missed = noting('checkpoint_timeout', ({ context }) => {
  const { misses, attemptId, taskId, rules, expired } = context;
  const of = `${misses} of ${rules.stallThreshold}`;
  return {
    level: 'warn',
    message: `stalled agent? ${attemptId} of task ${taskId} missed checkpoint ${of}`,
    request_id: expired.at(-1),
    checkpoint_count: misses,
    stall_threshold: rules.stallThreshold,
  };
});

export const stalled = noting('agent_stalled', ({ context: { attemptId, misses } }) => ({
  level: 'warn',
  message: `stalled agent ${attemptId}: ${misses} checkpoints missed, stopping it`,
  action: 'marked_for_restart',
}));

export const malformed = noting('malformed_line', ({ event }) => ({
  ...(event.type === 'line.malformed'
    ? { why: event.why, line: event.line, text: event.text }
    : { why: 'an agent that waits asks nothing more' }),
}));

export const lateResult = noting('late_result_discarded', ({ event }) => ({
  result: event.type === 'result.reported' ? 'done' : 'failed',
}));

export const progress = noting('agent_progress', ({ event }) =>
  event.type === 'progress.made' ? { message: event.message, percent: event.percent } : {},
);
