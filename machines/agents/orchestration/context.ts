/**
 * Context of an orchestration: the rules of its run, its tasks as far as dispatching needs them, who is at work,
 * and which questions are open.
 */

import { Table, type Timed } from '../../../runtime/machine.ts';
import type { HumanAnswer, TaskPlan, TaskSettled } from '../task/context.ts';
import type { TaskRules, TaskState, Usage } from '../words.ts';

export interface RunRules {
  readonly slots: number;
  readonly task: TaskRules;
  /** Agents by name whose attempts are asked for no checkpoints. */
  readonly silentAgents: readonly string[];
  /** Experts by name: as many as may run at a time. */
  readonly experts: Readonly<Record<string, number>>;
  readonly contextThreshold: number;
  readonly sessionThreshold: number;
  readonly compactionTimeoutMs: number;
  readonly hasCompactCommand: boolean;
  readonly blockAllOnQuestion: boolean;
  /** Least time for which a quota that is used up pauses the run. */
  readonly quotaPauseMinMs: number;
  /** Most that each counter of usage may come to over all tasks. */
  readonly budget: Usage;
}

/** A task as a plan has it, in the order of the plan. */
export interface PlannedTask {
  readonly taskId: string;
  readonly priority: number;
  readonly dependsOn: readonly string[];
  readonly plan: TaskPlan;
}

export interface OrchestrationInput {
  readonly runId: string;
  /** Of no consequence to the run: kept for people and for programs. */
  readonly about: Readonly<Record<string, unknown>>;
}

export interface TaskRow {
  /** Place in the plan; that of a part begins with its parent's. */
  readonly order: string;
  readonly priority: number;
  readonly dependsOn: readonly string[];
  readonly plan: TaskPlan;
  readonly state: TaskState;
  readonly attempts: number;
  /** Parts that have taken its place. */
  readonly parts: readonly string[];
}

export interface LiveRow {
  readonly taskId: string;
  /** It waits for a human, and may be ended where nothing else is left to do. */
  readonly isWaiting: boolean;
}

export interface DelegationRow {
  readonly expert: string;
  readonly taskId: string;
  /** Its place in the queue of its expert. */
  readonly number: number;
  readonly isGranted: boolean;
}

export interface QuestionRow {
  readonly questionId: string;
  readonly taskId: string;
  readonly attemptId: string | null;
  readonly kind: 'agent' | 'escalation';
  readonly text: string;
  /** Null: any text will do. */
  readonly options: readonly string[] | null;
  readonly about: unknown;
  /** Ways in which it may be answered, of a question in the form of an inbox. */
  readonly allow: readonly string[] | null;
  /** Limit of the task, which `increase` has to exceed. */
  readonly limitMs: number | null;
  readonly askedAtMs: number;
  readonly state: 'open' | 'answered' | 'withdrawn';
  readonly answer: unknown;
}

export type PauseCause = 'threshold' | 'command' | 'budget';

export interface OrchestrationContext extends OrchestrationInput {
  readonly rules: RunRules | null;
  readonly exitWhenBlocked: boolean;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly tasks: Table<TaskRow>;
  /** Attempts that have not ended, by id. */
  readonly live: Table<LiveRow>;
  /** Delegations that have not ended, by id. */
  readonly delegations: Table<DelegationRow>;
  readonly delegationCount: number;
  readonly questions: Table<QuestionRow>;
  readonly questionCount: number;
  readonly contextRemaining: number | null;
  readonly sessionRemaining: number | null;
  /** False from a compaction or pause on, until a value above the threshold. */
  readonly isContextArmed: boolean;
  readonly isSessionArmed: boolean;
  readonly pauseCause: PauseCause | null;
  /** Somebody wants what runs to end, and nothing to begin. */
  readonly isDraining: boolean;
  /** Attempts whose checkpoint is waited for. */
  readonly collecting: readonly string[];
  readonly windowEndsAt: number;
  readonly quotaEndsAt: number;
  readonly usage: Usage;
  /** Number of the compaction that runs, by which its answer is known. */
  readonly compaction: number;
}

export type OrchestrationEvent = Timed<
  // From the program.
  | {
      readonly type: 'run.begun';
      readonly rules: RunRules;
      readonly tasks: readonly PlannedTask[];
      readonly exitWhenBlocked: boolean;
      readonly about: Readonly<Record<string, unknown>>;
    }
  /** SIGINT, SIGTERM or an aborted signal; a second one skips the grace. */
  | { readonly type: 'run.interrupt' }
  | { readonly type: 'run.kill' }
  /** What runs may end, nothing begins. */
  | { readonly type: 'run.drain' }
  | { readonly type: 'session.pause' }
  | { readonly type: 'session.resumed' }
  | { readonly type: 'question.answered'; readonly questionId: string; readonly said: HumanAnswer }
  | {
      readonly type: 'compaction.finished';
      readonly number: number;
      readonly failure: string | null;
    }
  // From anybody who knows.
  | {
      readonly type: 'usage.reported';
      readonly kind: 'agent' | 'context' | 'session';
      readonly remainingPercent: number | null;
      readonly amounts: Usage;
    }
  | { readonly type: 'quota.exhausted'; readonly attemptId: string; readonly resetsInMs: number }
  // From its tasks.
  | TaskSettled
  | {
      readonly type: 'question.opened';
      readonly taskId: string;
      readonly attemptId: string | null;
      readonly kind: 'agent' | 'escalation';
      readonly text: string;
      readonly options: readonly string[] | null;
      readonly about: unknown;
      readonly allow: readonly string[] | null;
      readonly limitMs: number | null;
    }
  | { readonly type: 'question.withdrawn'; readonly taskId: string }
  // From attempts and delegations.
  | { readonly type: 'checkpoint.collected'; readonly attemptId: string | null }
  | {
      readonly type: 'delegation.queued';
      readonly delegationId: string;
      readonly expert: string;
      readonly taskId: string;
    }
  | { readonly type: 'delegation.ended'; readonly delegationId: string }
  | { readonly type: 'message.refused' }
  | { readonly type: 'leadership.acquired'; readonly fence: number; readonly node: string }
>;

export type EventOf<TType extends OrchestrationEvent['type']> = Extract<
  OrchestrationEvent,
  { type: TType }
>;

export function bornOrchestration(
  input: OrchestrationInput & { readonly at: number },
): OrchestrationContext {
  return {
    runId: input.runId,
    about: input.about,
    rules: null,
    exitWhenBlocked: false,
    startedAt: input.at,
    endedAt: null,
    tasks: Table.of<TaskRow>(),
    live: Table.of<LiveRow>(),
    delegations: Table.of<DelegationRow>(),
    delegationCount: 0,
    questions: Table.of<QuestionRow>(),
    questionCount: 0,
    contextRemaining: null,
    sessionRemaining: null,
    isContextArmed: true,
    isSessionArmed: true,
    pauseCause: null,
    isDraining: false,
    collecting: [],
    windowEndsAt: 0,
    quotaEndsAt: 0,
    usage: {},
    compaction: 0,
  };
}

const FINAL: ReadonlySet<TaskState> = new Set([
  'done',
  'failed',
  'unreachable',
  'skipped',
  'replaced',
]);

export const isFinal = ({ state }: TaskRow): boolean => FINAL.has(state);

export const questionKey = (number: number): string => String(number).padStart(10, '0');

export function openQuestion(
  { questions }: OrchestrationContext,
  taskId: string,
): readonly [string, QuestionRow] | undefined {
  for (const entry of questions)
    if (entry[1].taskId === taskId && entry[1].state === 'open') return entry;
  return undefined;
}
