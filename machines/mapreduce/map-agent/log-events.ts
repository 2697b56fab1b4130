/**
 * Log events of an agent: the events of monitoring that its chart tells by the action `note`.
 */

import type { LogEvent } from '../log-events.ts';
import type { TimeoutKind } from '../words.ts';
import { timedOut, timeoutType } from './context.ts';
import type { Args } from './setup.ts';

const noting = (event: LogEvent['event'], fields: (args: Args) => object) =>
  ({
    type: 'note',
    params: (args: Args): LogEvent => ({
      event,
      at: args.event.at,
      run_id: args.context.runId,
      agent_id: args.context.agentId,
      role: args.context.role,
      item_index: args.context.itemIndex,
      ...fields(args),
    }),
  }) as const;

export const started = noting('AgentStarted', ({ context }) => ({
  timeout_duration_ms: context.rules.agentLimitMs,
}));

export const commandStarted = noting('CommandStarted', ({ context: { command, rules } }) => ({
  command_index: command?.index,
  timeout_duration_ms: rules.steps[command?.index ?? -1]?.limitMs ?? null,
}));

export const commandCompleted = noting('CommandCompleted', ({ context: { commands } }) => ({
  command_index: commands.at(-1)?.index,
  command_type: commands.at(-1)?.type,
  duration_ms: commands.at(-1)?.durationMs,
  exit_code: commands.at(-1)?.exitCode,
}));

export const timeoutOccurred = (kind: TimeoutKind, enforced: boolean) =>
  noting('TimeoutOccurred', ({ context, event }) => {
    const timeout = timedOut(context, kind, event);
    return {
      timeout_type: timeoutType(timeout),
      command_index: timeout.commandIndex,
      duration_ms: timeout.configuredMs,
      elapsed_ms: timeout.elapsedMs,
      enforced,
      lateness_ms: timeout.decidedAt - timeout.dueAt,
    };
  });

export const timeoutResolved = noting('TimeoutResolved', ({ context: { resolution } }) => ({
  resolution,
}));

/** The first signal to an attempt that has timed out. */
export const signalled = noting('SignalSent', ({ context: { timeout }, event }) => ({
  lateness_ms: event.at - (timeout?.dueAt ?? event.at),
}));

/** After a timeout. */
export const cleanupResolved = noting('TimeoutResolved', ({ context: { cleanup } }) => {
  const reason = /^CleanupFailed\((.*)\)$/s.exec(cleanup ?? '')?.[1];
  return reason === undefined ? { resolution: cleanup } : { resolution: 'CleanupFailed', reason };
});

export const timeoutExtended = noting('TimeoutExtended', ({ context, event }) => {
  const { agentDueAt, command, extensions } = context;
  return {
    command_index: agentDueAt === null ? (command?.index ?? null) : null,
    by_ms: extensions.at(-1)?.byMs,
    remaining_ms: agentDueAt === null ? null : agentDueAt - event.at,
  };
});

export const unavailable = noting('EnforcementUnavailable', ({ context }) => ({
  reason: context.enforcementFailure,
}));

export const completed = (success: boolean) =>
  noting('AgentCompleted', ({ context, event }) => ({
    total_duration_ms: context.startedAt === null ? 0 : event.at - context.startedAt,
    success,
  }));
