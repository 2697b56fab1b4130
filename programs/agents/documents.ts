/**
 * Documents of runs: what a program gets to read of a run, its tasks and its questions.
 */

import type { QuestionRow } from '../../machines/agents/orchestration/context.ts';
import type { AttemptRow } from '../../machines/agents/task/context.ts';
import { ESCALATION_KEYS, type Usage } from '../../machines/agents/words.ts';
import type { StoredRun, StoredRuns } from './stored-runs.ts';

export type RunStatus = 'running' | 'completed' | 'failed' | 'blocked' | 'paused' | 'interrupted';

export interface RunDocument {
  readonly runId: string;
  readonly status: RunStatus;
  readonly tasks: readonly TaskDocument[];
}

export interface TaskDocument {
  readonly id: string;
  readonly state: string;
  readonly timeoutCount: number;
  readonly stallCount: number;
  readonly failureCount: number;
  /** The open one. */
  readonly question: QuestionDocument | null;
  readonly result: unknown;
  readonly attempts: readonly AttemptDocument[];
}

export type AttemptDocument = AttemptRow;

export interface QuestionDocument {
  readonly id: string;
  readonly run: string;
  readonly task: string;
  readonly kind: 'agent' | 'escalation';
  readonly text: string;
  readonly options: readonly string[] | null;
  /** Keys of the options, of an escalation. */
  readonly keys: readonly string[] | null;
  readonly context: unknown;
  readonly allow: readonly string[] | null;
  readonly askedAtMs: number;
}

export interface StatusDocument extends RunDocument {
  readonly slots: number;
  readonly slotsInUse: number;
  readonly usage: Usage;
  readonly agents: readonly AgentStatus[];
  readonly experts: ReadonlyArray<{
    readonly delegationId: string;
    readonly expert: string;
    readonly task: string;
    readonly isQueued: boolean;
  }>;
  readonly questions: readonly QuestionDocument[];
  readonly timeout_tracking: {
    readonly checkpoint_misses: Readonly<Record<string, number>>;
    readonly stalled_agents: readonly string[];
    readonly task_timeouts: Readonly<Record<string, number>>;
  };
}

export interface AgentStatus {
  readonly attemptId: string;
  readonly agent: string;
  readonly state: string;
  readonly activeMs: number;
  readonly remainingMs: number;
  readonly limitMs: number;
  readonly quietMs: number;
  readonly lastAction: string | null;
  readonly lastCheckpoint: string | null;
  readonly checkpointMisses: number;
}

export function statusOf({ state, context }: StoredRun): RunStatus {
  if (state === 'blocked' || state === 'paused') return state;
  if (state === 'stopped') return 'interrupted';
  if (state !== 'finished') return 'running';
  const rows = [...context.tasks.values()];
  const hasFailed = rows.some(({ state: of }) => of === 'failed' || of === 'unreachable');
  return hasFailed ? 'failed' : 'completed';
}

export function runDocument(stored: StoredRuns, run: StoredRun): RunDocument {
  const { runId, tasks } = run.context;
  const questions = questionsOf(run);
  const rows = [...tasks].sort(([, one], [, other]) => (one.order < other.order ? -1 : 1));
  return {
    runId,
    status: statusOf(run),
    tasks: rows.map(([id, row]) => {
      const task = stored.task(runId, id)?.context;
      return {
        id,
        state: row.state,
        timeoutCount: task?.timeoutCount ?? 0,
        stallCount: task?.stallCount ?? 0,
        failureCount: task?.failureCount ?? 0,
        question: questions.find((each) => each.task === id) ?? null,
        result: task?.result ?? null,
        attempts: [...(task?.history.values() ?? [])],
      };
    }),
  };
}

/** Open questions, in the order in which they were asked. */
export function questionsOf({ context: { runId, questions } }: StoredRun): QuestionDocument[] {
  return [...questions.values()]
    .filter(({ state }) => state === 'open')
    .map((row) => questionDocument(runId, row));
}

function questionDocument(run: string, row: QuestionRow): QuestionDocument {
  const { questionId: id, taskId: task, kind, text, options, about, allow, askedAtMs } = row;
  const keys = kind === 'escalation' ? ESCALATION_KEYS : null;
  return { id, run, task, kind, text, options, keys, context: about, allow, askedAtMs };
}

export function statusDocument(stored: StoredRuns, run: StoredRun, at: number): StatusDocument {
  const { runId, live, delegations, rules, usage } = run.context;
  const document = runDocument(stored, run);
  const misses: Record<string, number> = {};
  const stalled: string[] = [];
  const agents: AgentStatus[] = [];
  for (const attemptId of live.keys()) {
    const agent = stored.agent(runId, attemptId);
    if (agent === undefined) continue;
    const { context, state } = agent;
    misses[attemptId] = context.misses;
    if (context.outcome === 'stalled') stalled.push(attemptId);
    const counting = context.countingSince === null ? 0 : at - context.countingSince;
    const activeMs = context.outcome === null ? context.activeMs + counting : context.activeAtEndMs;
    const limitMs = context.rules.agentLimitMs;
    agents.push({
      attemptId,
      agent: context.name,
      state: activityOf(state),
      activeMs,
      remainingMs: Math.max(0, limitMs - activeMs),
      limitMs,
      quietMs: Math.max(0, at - Math.max(context.lastLineAt, context.lastCheckpoint?.at ?? 0)),
      lastAction: context.lastAction,
      lastCheckpoint: context.lastCheckpoint?.status ?? null,
      checkpointMisses: context.missesTotal,
    });
  }
  return {
    ...document,
    slots: rules?.slots ?? 0,
    slotsInUse: live.size,
    usage,
    agents: agents.sort(byNeed),
    experts: [...delegations].map(([delegationId, { expert, taskId: task, isGranted }]) => ({
      delegationId,
      expert,
      task,
      isQueued: !isGranted,
    })),
    questions: questionsOf(run),
    timeout_tracking: {
      checkpoint_misses: misses,
      stalled_agents: stalled,
      task_timeouts: Object.fromEntries(document.tasks.map((each) => [each.id, each.timeoutCount])),
    },
  };
}

/** Those that wait for a human first, then the one of which nothing was heard for longest. */
const byNeed = (one: AgentStatus, other: AgentStatus): number =>
  Number(other.state === 'awaitingHuman') - Number(one.state === 'awaitingHuman') ||
  other.quietMs - one.quietMs;

const ACTIVITIES = [
  'awaitingExpert',
  'awaitingHuman',
  'working',
  'terminating',
  'cleaning',
  'starting',
];

/** What an attempt or an expert is about, of its nested state. */
export const activityOf = (state: string): string =>
  ACTIVITIES.find((each) => state.includes(each)) ?? state;
