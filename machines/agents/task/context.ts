/**
 * Context of a task: what is to be done, its counters, its attempts, and what humans and experts have said.
 */

import { Table, type Timed } from '../../../runtime/machine.ts';
import type {
  Checkpoint,
  EscalationKey,
  ExpertFailure,
  Outcome,
  StopReason,
  TaskRules,
  TaskState,
  Usage,
} from '../words.ts';

/** A task as its plan has it. */
export interface TaskPlan {
  readonly prompt: string;
  /** Name of its agent in the plan. */
  readonly agent: string;
  /** Its own limit, which the plan states; null: that of the run. */
  readonly limitMs: number | null;
  readonly budget: Usage;
}

export interface TaskInput {
  readonly runId: string;
  readonly taskId: string;
  readonly plan: TaskPlan;
}

/** A part of a task that is split. */
export interface Part {
  readonly prompt: string;
  readonly agent?: string;
  readonly priority?: number;
}

export interface AttemptRow {
  readonly attemptId: string;
  readonly agent: string;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** Null while it lives. */
  readonly outcome: Outcome | null;
  readonly checkpointMisses: number;
  readonly reason: string | null;
  readonly error: string | null;
}

export interface OpenQuestion {
  readonly kind: 'agent' | 'escalation';
  /** The agent's own id of it; empty for an escalation. */
  readonly requestId: string;
  readonly text: string;
}

export interface TaskContext extends TaskInput {
  readonly rules: TaskRules | null;
  /** Limit that a human has set, which goes before all others. */
  readonly humanLimitMs: number | null;
  readonly attempts: number;
  readonly attemptId: string | null;
  readonly history: Table<AttemptRow>;
  readonly timeoutCount: number;
  readonly stallCount: number;
  readonly failureCount: number;
  readonly clarifications: readonly string[];
  readonly answers: ReadonlyArray<{ readonly question: string; readonly answer: unknown }>;
  readonly expertAnswers: ReadonlyArray<{ readonly expert: string; readonly answer: unknown }>;
  readonly lastCheckpoint: Checkpoint | null;
  readonly usage: Usage;
  readonly question: OpenQuestion | null;
  /** A delegation that its attempt has left at work. */
  readonly orphans: readonly string[];
  readonly parts: readonly Part[];
  readonly result: unknown;
  readonly reason: string | null;
}

/** What a human says to a question. */
export interface HumanAnswer {
  /** Key of an option of an escalation; null for the question of an agent. */
  readonly key: EscalationKey | null;
  /** For an agent: the text of the option, or whatever was said. */
  readonly answer: unknown;
  readonly timeoutMs: number | null;
  readonly parts: readonly Part[];
  /** Who has said it, where that is known. */
  readonly by?: string;
}

interface Ended {
  readonly attemptId: string;
  readonly reason: string | null;
  readonly error: string | null;
  readonly isRetryable: boolean;
  readonly result: unknown;
  readonly startedAt: number | null;
  readonly checkpointMisses: number;
  readonly lastCheckpoint: Checkpoint | null;
  readonly usage: Usage;
  readonly delegationId: string | null;
}

export type TaskEvent = Timed<
  // From the orchestration.
  | { readonly type: 'task.unblocked' }
  | { readonly type: 'dependency.failed'; readonly dependency: string }
  | { readonly type: 'task.dispatched'; readonly attempt: number; readonly rules: TaskRules }
  | { readonly type: 'task.changed'; readonly plan: TaskPlan }
  | { readonly type: 'task.removed' }
  | { readonly type: 'attempt.recall'; readonly reason: StopReason }
  | { readonly type: 'attempt.kill' }
  | {
      readonly type: 'checkpoint.collect';
      readonly reason: 'compaction' | 'pause';
      readonly windowEndsAt: number;
    }
  | {
      readonly type: 'human.answered';
      readonly questionId: string;
      readonly said: HumanAnswer;
    }
  // From its attempt.
  | (Ended & { readonly type: 'attempt.done' })
  | (Ended & { readonly type: 'attempt.failed' })
  | (Ended & { readonly type: 'attempt.timedOut' })
  | (Ended & { readonly type: 'attempt.stalled' })
  | (Ended & { readonly type: 'attempt.killed' })
  | {
      readonly type: 'question.asked';
      readonly attemptId: string;
      readonly requestId: string;
      readonly question: string;
      readonly options: readonly string[] | null;
      readonly about: unknown;
      readonly allow: readonly string[] | null;
    }
  // From a delegation.
  | {
      readonly type: 'expert.answered';
      readonly delegationId: string;
      readonly expert: string;
      readonly ok: boolean;
      readonly answer: unknown;
      readonly reason: ExpertFailure | null;
      readonly usage: Usage;
    }
  /** An attempt or a delegation that has ended meanwhile. */
  | { readonly type: 'message.refused' }
>;

export type EndEvent = Extract<TaskEvent, Ended>;

/** What an orchestration hears when a task has come to a state. */
export interface TaskSettled {
  readonly type: 'task.settled';
  readonly taskId: string;
  /** The attempt that has ended with that; null where none has. */
  readonly attemptId: string | null;
  readonly state: TaskState;
  readonly parts: readonly Part[];
}

export function bornTask(input: TaskInput): TaskContext {
  return {
    ...input,
    rules: null,
    humanLimitMs: null,
    attempts: 0,
    attemptId: null,
    history: Table.of<AttemptRow>(),
    timeoutCount: 0,
    stallCount: 0,
    failureCount: 0,
    clarifications: [],
    answers: [],
    expertAnswers: [],
    lastCheckpoint: null,
    usage: {},
    question: null,
    orphans: [],
    parts: [],
    result: null,
    reason: null,
  };
}

export const attemptKey = (attempt: number): string => String(attempt).padStart(10, '0');

/** Limit of the next attempt. */
export function limitOf({ humanLimitMs, plan, rules }: TaskContext): number {
  return humanLimitMs ?? plan.limitMs ?? rules?.attempt.agentLimitMs ?? 0;
}

export function escalationText({ taskId, timeoutCount, stallCount }: TaskContext): string {
  const stalls = stallCount > 0 ? ` (${stallCount} of them stalls)` : '';
  return `Task ${taskId} has timed out ${timeoutCount} times${stalls}. Possible causes: the task is too large, its requirements are unclear, or there is an infrastructure problem. How should it proceed?`;
}
