/**
 * Failure of an agent: the sentence for what ended it, and its entry in the history of its item.
 */

import { durationText, type FailureEntry } from '../words.ts';
import { type MapAgentContext, overdrawn } from './context.ts';

/** The sentence for what ended an attempt without success. */
export function failureMessage(context: MapAgentContext): string {
  const { agentId, timeout, failure, extensions } = context;
  if (timeout === null) return failure?.message ?? '';
  const { kind, commandIndex, configuredMs } = timeout;
  const givenMs = extensions.reduce((sum, { byMs }) => sum + byMs, 0);
  const after = durationText(configuredMs + (kind === 'agent' ? givenMs : 0));
  if (kind === 'agent') return `Agent ${agentId} timed out after ${after}`;
  if (kind === 'idle') return `Command ${commandIndex} in agent ${agentId} was idle for ${after}`;
  if (kind === 'budget') {
    const name = overdrawn(context);
    // A context that is shown may have values replaced, whose names look like secrets.
    if (name === undefined) return `Agent ${agentId} went over its budget`;
    return `Agent ${agentId} went over its budget of ${context.rules.budget[name]} ${name}`;
  }
  return `Command ${commandIndex} in agent ${agentId} timed out after ${after}`;
}

export function failureEntry(context: MapAgentContext, at: number): FailureEntry {
  const { attempt, agentId, startedAt, timeout, failure, commands } = context;
  return {
    attemptNumber: attempt,
    timestamp: at,
    errorType: timeout === null ? (failure?.type ?? 'Unknown') : 'Timeout',
    errorMessage: failureMessage(context),
    agentId,
    stepFailed: timeout === null ? (failure?.step ?? null) : (commands.at(-1)?.index ?? null),
    durationMs: startedAt === null ? 0 : at - startedAt,
    exitCode: timeout === null ? (commands.at(-1)?.exitCode ?? null) : null,
    timeoutKind: timeout?.kind ?? null,
  };
}
