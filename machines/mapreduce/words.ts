/**
 * Words that machines, programs and documents of map-reduce runs share.
 */

export const POLICIES = ['per_agent', 'per_command', 'hybrid'] as const;
export type Policy = (typeof POLICIES)[number];

export const TIMEOUT_ACTIONS = ['dlq', 'skip', 'fail', 'graceful_terminate'] as const;
export type TimeoutAction = (typeof TIMEOUT_ACTIONS)[number];

export const FAILURE_ACTIONS = ['dlq', 'skip', 'fail'] as const;
export type FailureAction = (typeof FAILURE_ACTIONS)[number];

export const COMMAND_TYPES = ['claude', 'shell', 'unknown'] as const;
export type CommandType = (typeof COMMAND_TYPES)[number];

/** End of an attempt. */
export type AgentOutcome =
  | 'done'
  | 'failed'
  | 'timedOut'
  | 'cancelled'
  | 'interrupted'
  | 'deferred';

/** End of an item. */
export type ItemOutcome = 'done' | 'dlq' | 'skipped' | 'failed';

/** Reason of an item's end that is not done. */
export type ItemReason =
  | 'timeout'
  | 'commandFailed'
  | 'worktree'
  | 'validation'
  | 'enforcer'
  | 'jobFailed';

export type ErrorType =
  | 'Timeout'
  | 'CommandFailed'
  | 'WorktreeError'
  | 'ValidationFailed'
  | 'Unknown';

export type Resolution = 'GracefulTermination' | 'ForceTermination';

/** Limit that ran out. `idle`: no output for too long; `budget`: a counter of the item's cost. */
export type TimeoutKind = 'agent' | 'command' | 'idle' | 'budget';

export type StopCause = 'cancelled' | 'interrupted';

/** One signal, and how long its group may take before the next; SIGKILL follows the last. */
export interface TerminationStep {
  readonly signal: string;
  readonly waitMs: number;
}

/** A failed attempt, as the history of an item keeps it. */
export interface FailureEntry {
  readonly attemptNumber: number;
  readonly timestamp: number;
  readonly errorType: ErrorType;
  readonly errorMessage: string;
  readonly agentId: string;
  /** Index of the step that failed; null where none had begun. */
  readonly stepFailed: number | null;
  readonly durationMs: number;
  readonly exitCode: number | null;
  readonly timeoutKind: TimeoutKind | null;
}

export interface TimeoutRecord {
  readonly kind: TimeoutKind;
  readonly commandIndex: number | null;
  readonly commandType: CommandType | null;
  readonly configuredMs: number;
  /** Moment for which the timer was armed, and the moment when that was decided. */
  readonly dueAt: number;
  readonly decidedAt: number;
  readonly elapsedMs: number;
  readonly policy: Policy;
  readonly resolution: Resolution | null;
  /** Null until it is known. */
  readonly cleanup: string | null;
}

/** `500ms`, `1.5s`, `600s`. */
export function durationText(ms: number): string {
  return ms < 1_000 ? `${ms}ms` : `${ms / 1_000}s`;
}
