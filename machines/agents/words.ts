/**
 * Words that machines, programs and documents of agent runs share.
 */

export const TASK_STATES = [
  'blocked',
  'available',
  'running',
  'awaitingHuman',
  'done',
  'failed',
  'unreachable',
  'skipped',
  'replaced',
  'removed',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** End of an attempt. `killed`: a pause, a shutdown, a restart of the runtime; it counts for nothing. */
export type Outcome = 'done' | 'failed' | 'timedOut' | 'stalled' | 'killed';

/** Reason for which an attempt was made to stop, as its `stop` line says it. */
export type StopReason =
  | 'timedOut'
  | 'stalled'
  | 'idle'
  | 'budget'
  | 'pause'
  | 'shutdown'
  | 'quota'
  | 'limit'
  | 'taskFinal'
  | 'runtimeRestart';

/** Reasons for a request of a checkpoint. */
export type RequestReason = 'interval' | 'retry' | 'compaction' | 'pause';

/** Reasons for which an expert gave no answer. */
export type ExpertFailure =
  | 'timedOut'
  | 'failed'
  | 'exit'
  | 'unknownExpert'
  | 'delegationLimit'
  | 'busy'
  | 'notAllowed';

/** Answers to the question of a task that runs out of time again and again. */
export const ESCALATION_KEYS = ['split', 'clarify', 'increase', 'skip'] as const;
export type EscalationKey = (typeof ESCALATION_KEYS)[number];

export const ESCALATION_TEXTS: Readonly<Record<EscalationKey, string>> = {
  split: 'Split task into smaller subtasks',
  clarify: 'Clarify requirements',
  increase: 'Increase timeout for this task',
  skip: 'Skip task and continue',
};

export interface Checkpoint {
  readonly at: number;
  readonly status: string;
  readonly completed: readonly string[];
  readonly remaining: readonly string[];
  readonly progressPercent: number | null;
  readonly data: unknown;
}

/** Rules that an attempt goes by, fixed when it is dispatched. */
export interface AttemptRules {
  readonly agentLimitMs: number;
  /** Null: it is asked for no checkpoints. */
  readonly checkpointIntervalMs: number | null;
  readonly checkpointTimeoutMs: number;
  readonly stallThreshold: number;
  readonly retryOnMiss: boolean;
  readonly delegationLimitMs: number;
  readonly delegationsMax: number;
  readonly experts: readonly string[];
  readonly graceMs: number;
  readonly malformedLinesMax: number;
  /** Null: silence has no limit. */
  readonly idleLimitMs: number | null;
  /** Most of each counter of usage that one task may come to. */
  readonly budget: Readonly<Record<string, number>>;
}

/** Rules by which the end of an attempt counts for its task. */
export interface TaskRules {
  readonly attempt: AttemptRules;
  readonly timeoutEscalation: number;
  readonly stallsCount: boolean;
  readonly failuresMax: number;
}

/** Counters of usage by name: tokens, cost. */
export type Usage = Readonly<Record<string, number>>;

export function addUsage(one: Usage, other: Usage): Usage {
  const sum: Record<string, number> = { ...one };
  for (const [name, amount] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + amount;
  return sum;
}

/** Name of a budget that is used up. */
export function overdrawn(budget: Usage, usage: Usage): string | undefined {
  return Object.keys(budget).find((name) => (usage[name] ?? 0) > (budget[name] ?? 0));
}
