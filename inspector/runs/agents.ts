/**
 * Runs of agents for the panel: questions, slots, clocks, checkpoints, delegations and tasks, and the answers that
 * humans give to questions on the page.
 */

import {
  agentAddress,
  delegationAddress,
  orchestrationAddress,
  taskAddress,
} from '../../machines/agents/addresses.ts';
import { activeMsAt } from '../../machines/agents/agent/context.ts';
import type { QuestionRow, TaskRow } from '../../machines/agents/orchestration/context.ts';
import { type Checkpoint, ESCALATION_TEXTS, TASK_STATES } from '../../machines/agents/words.ts';
import { answerAmong } from '../../programs/agents/answering.ts';
import { activityOf, statusOf } from '../../programs/agents/documents.ts';
import type { Host } from '../../programs/agents/host.ts';
import { PLACE, type StoredRun, type StoredRuns } from '../../programs/agents/stored-runs.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type {
  DelegationLine,
  PartLine,
  QuestionLine,
  QuestionOption,
  RunLine,
  Shown,
  WorkerLine,
} from '../protocol.ts';
import {
  byNeed,
  countsOf,
  newestRuns,
  PARTS_MAX,
  type RunsSource,
  type RunsTold,
} from './source.ts';

type Show = (value: unknown) => Shown;

const at = (address: string): string => `${address}@${PLACE}`;

export function agentRuns(host: Pick<Host, 'stored' | 'folder'>): RunsSource {
  const { stored } = host;
  const folder = (runId: string) => host.folder(runId);
  return {
    view: (now, show) => agentsView(stored, now, show),
    answer: async ({ question, answer, texts, limitMs }, who) => {
      const { refusal } = answerAmong(
        { stored, folder },
        {
          questionId: question,
          answer,
          by: who,
          ...(texts !== undefined && { texts }),
          ...(limitMs !== undefined && { timeoutMs: limitMs }),
        },
      );
      if (refusal !== null) throw new RuntimeError('NOT_ALLOWED', `${refusal}.`);
      return 'It is durable, and told to the run.';
    },
  };
}

export function agentsView(stored: StoredRuns, now: number, show: Show): RunsTold {
  const all = stored.runs().map((run) => ({ run, status: statusOf(run) }));
  const { told, more } = newestRuns(all, ({ status }) => !ENDED.has(status));
  return {
    runs: told.map(({ run, status }) => runLine(stored, run, status, now, show)),
    more,
  };
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'interrupted']);

function runLine(
  stored: StoredRuns,
  run: StoredRun,
  status: string,
  now: number,
  show: Show,
): RunLine {
  const { runId, startedAt, endedAt, rules, live, tasks, usage, pauseCause } = run.context;
  const rows = [...tasks].sort(([, one], [, other]) => (one.order < other.order ? -1 : 1));
  const states = rows.map(([, { state }]) => state);
  const questions = [...run.context.questions.values()].filter(({ state }) => state === 'open');
  const asked = new Set(questions.map(({ attemptId }) => attemptId));
  return {
    system: 'agents',
    runId,
    address: at(orchestrationAddress(runId)),
    status,
    isLive: !ENDED.has(status),
    ...(status === 'paused' && pauseCause !== null && { why: PAUSES[pauseCause] }),
    startedAt,
    ...(endedAt !== null && { endedAt }),
    slots: { used: live.size, all: rules?.slots ?? 0 },
    counts: countsOf(
      TASK_STATES.map((state) => [state, states.filter((each) => each === state).length]),
    ),
    usage,
    questions: questions.map((row) => questionLine(row, show)),
    workers: byNeed(
      [...live.keys()].flatMap((id) => workerLine(stored, runId, id, asked.has(id), now) ?? []),
    ),
    delegations: [...run.context.delegations.keys()].flatMap(
      (id) => delegationLine(stored, runId, id) ?? [],
    ),
    parts: rows.slice(0, PARTS_MAX).map(([id, row]) => taskLine(stored, run, id, row)),
    partsMore: Math.max(0, rows.length - PARTS_MAX),
  };
}

const PAUSES = {
  threshold: 'the session comes to its end',
  command: 'somebody has paused it',
  budget: 'its budget is used up',
} as const;

function questionLine(row: QuestionRow, show: Show): QuestionLine {
  const { questionId: id, taskId: task, kind, text, about, askedAtMs: askedAt } = row;
  const options = optionsOf(row);
  return {
    ...{ id, task, kind, text, askedAt },
    ...(options !== undefined && { options }),
    ...(about !== null && about !== undefined && { about: show(about) }),
  };
}

function optionsOf({ kind, options, allow, limitMs }: QuestionRow): QuestionOption[] | undefined {
  if (kind === 'escalation')
    return [
      { answer: 'clarify', label: ESCALATION_TEXTS.clarify, needs: 'text' },
      {
        answer: 'increase',
        label: ESCALATION_TEXTS.increase,
        needs: 'limit',
        ...(limitMs !== null && { limitMs }),
      },
      { answer: 'split', label: ESCALATION_TEXTS.split, needs: 'texts' },
      { answer: 'skip', label: ESCALATION_TEXTS.skip },
    ];
  if (allow !== null)
    return allow.map((answer) => ({
      answer,
      label: answer,
      ...((answer === 'edit' || answer === 'respond') && { needs: 'text' as const }),
    }));
  return options?.map((answer) => ({ answer, label: answer }));
}

function workerLine(
  stored: StoredRuns,
  runId: string,
  attemptId: string,
  isWaiting: boolean,
  now: number,
): WorkerLine | undefined {
  const agent = stored.agent(runId, attemptId);
  if (agent === undefined) return undefined;
  const { context, state } = agent;
  const { startedAt, outcome, lastLineAt, lastAction, lastCheckpoint, request, rules } = context;
  const checkpoint = lastCheckpoint === null ? undefined : checkpointOf(lastCheckpoint);
  return {
    id: attemptId,
    address: at(agentAddress(runId, attemptId)),
    of: context.taskId,
    name: context.name,
    state: activityOf(state),
    isWaiting,
    ...(startedAt !== null && { startedAt }),
    clock: {
      usedMs: outcome === null ? activeMsAt(context, now) : context.activeAtEndMs,
      limitMs: rules.agentLimitMs,
      isRunning: outcome === null && context.countingSince !== null,
    },
    ...(startedAt !== null && { heardAt: Math.max(lastLineAt, checkpoint?.at ?? 0) }),
    ...(lastAction !== null && { lastAction }),
    ...(checkpoint !== undefined && { checkpoint }),
    ...(request !== null && { checkpointDueAt: request.dueAt }),
    misses: { count: context.misses, stalledAt: rules.stallThreshold },
  };
}

function checkpointOf({
  at: moment,
  status,
  progressPercent: percent,
  remaining,
}: Checkpoint): NonNullable<WorkerLine['checkpoint']> {
  return { at: moment, status, remaining, ...(percent !== null && { percent }) };
}

function delegationLine(stored: StoredRuns, runId: string, id: string): DelegationLine | undefined {
  const found = stored.delegation(runId, id);
  if (found === undefined) return undefined;
  const { name: expert, taskId: task, prompt, dueAt } = found.context;
  return {
    id,
    address: at(delegationAddress(runId, id)),
    expert,
    task,
    state: activityOf(found.state),
    prompt,
    ...(dueAt > 0 && { dueAt }),
  };
}

function taskLine(stored: StoredRuns, run: StoredRun, id: string, row: TaskRow): PartLine {
  const { runId, tasks } = run.context;
  const context = stored.task(runId, id)?.context;
  const waitsFor = row.dependsOn.filter((other) => {
    const state = tasks.get(other)?.state;
    return state !== 'done' && state !== 'skipped' && state !== 'replaced';
  });
  const words = [
    row.state === 'blocked' && waitsFor.length > 0 && `waits for ${waitsFor.join(', ')}`,
    row.parts.length > 0 && `replaced by ${row.parts.join(', ')}`,
    times(context?.timeoutCount, 'timed out'),
    times(context?.stallCount, 'stalled'),
    times(context?.failureCount, 'failed'),
  ];
  return {
    id,
    address: at(taskAddress(runId, id)),
    state: row.state,
    attempts: row.attempts,
    detail: words.filter((each) => typeof each === 'string').join('; '),
  };
}

const times = (count: number | undefined, what: string): string | false =>
  count !== undefined && count > 0 && `${what} ${count === 1 ? 'once' : `${count} times`}`;
