/**
 * Judge of a run in the pretend world: the invariants of agent runs by their ids, over what the world has written
 * down.
 */

import type { NoteParams } from '../../../machines/agents/notes.ts';
import type {
  OrchestrationContext,
  PlannedTask,
  RunRules,
} from '../../../machines/agents/orchestration.ts';
import type { TaskContext } from '../../../machines/agents/task.ts';
import type { PretendProcess } from './pretend-process.ts';

export interface Judged {
  readonly processes: readonly PretendProcess[];
  readonly notes: readonly NoteParams[];
  readonly rules: RunRules;
  readonly planned: readonly PlannedTask[];
  readonly context: OrchestrationContext;
  readonly state: unknown;
  task(taskId: string): TaskContext;
  agents(): ReadonlyArray<{
    readonly value: unknown;
    readonly context: { readonly request: unknown; readonly misses: number };
  }>;
}

type Must = (isSo: boolean, what: string) => void;

/** Questions at one moment of a run. */
export function judgeQuestions({ questions }: OrchestrationContext): readonly string[] {
  const open = [...questions.values()].filter(({ state }) => state === 'open');
  const tasks = new Set(open.map(({ taskId }) => taskId));
  return tasks.size === open.length ? [] : ['AG-6 a task has one open question at most'];
}

export function judge(world: Judged): readonly string[] {
  const found = new Set<string>();
  const must: Must = (isSo, what) => void (isSo || found.add(what));
  const { context, rules, state } = world;
  must(state === 'finished', `AG-8 the run ends: ${JSON.stringify(state)}`);
  must(
    world.processes.every(({ isAlive }) => !isAlive),
    'AG-7 no process is left',
  );
  const agents = world.processes.filter(({ params }) => params.role === 'agent');
  const experts = world.processes.filter(({ params }) => params.role === 'expert');
  const own = (taskId: string) => agents.filter(({ params }) => params.taskId === taskId);
  for (const process of agents) {
    must(
      overlapping(own(process.params.taskId), process) === 1,
      'AG-1 a task has one live attempt at most',
    );
    must(overlapping(agents, process) <= rules.slots, 'AG-2 no more attempts than slots');
    judgeRequests(process, must);
  }
  for (const process of experts)
    must(
      overlapping(experts, process) <= (rules.experts[process.params.name] ?? 0),
      'AG-9 no more of an expert than may run',
    );
  for (const agent of world.agents()) {
    must(agent.value === 'ended', 'AG-7 every attempt ends');
    const { request, misses } = agent.context;
    must(request === null && misses === 0, 'AG-7 an attempt that ended has no request, no miss');
  }
  judgeNotes(world, must);
  judgeStretches(world, must);
  for (const process of agents) judgeSilence(process, world, must);
  for (const [taskId, row] of context.tasks) {
    const task = world.task(taskId);
    judgeTask(world, task, own(taskId), must);
    for (const each of row.dependsOn)
      must(
        own(taskId).every(({ startedAt }) => startedAt >= lastEnd(own(each))),
        'AG-8 a task begins after those it waits for',
      );
    const wasDone = own(taskId).at(-1)?.saidDone === true;
    if (row.state === 'done') must(wasDone, 'AG-12 a task is done by its last attempt');
  }
  return [...found];
}

const lastEnd = (processes: readonly PretendProcess[]): number =>
  Math.max(0, ...processes.map(({ endedAt }) => endedAt ?? 0));

/** As many as were alive when this one began, with itself, which may have ended in the same moment. */
function overlapping(processes: readonly PretendProcess[], process: PretendProcess): number {
  const { startedAt } = process;
  const others = processes.filter(
    (each) =>
      each !== process &&
      each.startedAt <= startedAt &&
      (each.endedAt ?? Number.POSITIVE_INFINITY) > startedAt,
  );
  return others.length + 1;
}

/** Each request comes when the one before was answered, has expired, or was withdrawn by a wait. */
function judgeRequests(process: PretendProcess, must: Must): void {
  const requests = process.lines.filter(({ line }) => line.type === 'checkpoint.requested');
  for (const [index, { line, at }] of requests.entries()) {
    const next = requests[index + 1];
    if (next === undefined) continue;
    const expiresAt = at + (line.timeoutMs ?? 0);
    const wasAnswered = process.answered.some(
      ({ requestId, at: answeredAt }) => requestId === line.requestId && answeredAt <= next.at,
    );
    const wasWithdrawn = process.waits.some(({ from }) => from >= at && from <= next.at);
    must(
      next.at >= expiresAt || wasAnswered || wasWithdrawn,
      'AG-5 one request of a checkpoint is outstanding at most',
    );
  }
}

/** The attempt began to wait for somebody while it was asked. */
function isWithdrawn({ processes, rules }: Judged, { agent_id, at }: NoteParams): boolean {
  const until = at + rules.task.attempt.checkpointTimeoutMs;
  const own = processes.find(({ params }) => params.attemptId === agent_id);
  return own?.waits.some(({ from }) => from >= at && from <= until) ?? false;
}

function judgeNotes(world: Judged, must: Must): void {
  const { notes, rules } = world;
  for (const { event, elapsed_ms, limit_ms } of notes)
    if (event === 'agent_timeout')
      must(elapsed_ms === limit_ms, 'AG-4 an attempt is ended when its active time is its limit');
  const counts = notes.filter(({ event }) => event === 'checkpoint_timeout');
  const { stallThreshold } = rules.task.attempt;
  must(
    counts.every(({ checkpoint_count: count }) => Number(count) <= stallThreshold),
    'AG-11 a stall follows its last miss at once',
  );
  for (const [index, stall] of notes.entries()) {
    if (stall.event === 'agent_ended' && stall.reason === 'quota')
      must(stall.outcome === 'killed', 'AG-13 what a quota ends counts for nothing');
    if (stall.event !== 'agent_stalled') continue;
    const own = notes.slice(0, index).filter(({ agent_id }) => agent_id === stall.agent_id);
    const asked = own.filter(({ event }) => event === 'checkpoint_requested');
    const answered = (note: NoteParams) =>
      own.some(
        (each) => each.event === 'checkpoint_received' && each.request_id === note.request_id,
      );
    const missed = (note: NoteParams) =>
      own.some(
        (each) => each.event === 'checkpoint_timeout' && each.request_id === note.request_id,
      );
    // Requests that were withdrawn, because it waited for somebody, are neither; an answer to one of them is no answer.
    const last = asked.filter(
      (note) => missed(note) || (answered(note) && !isWithdrawn(world, note)),
    );
    must(
      last.length >= stallThreshold && last.slice(-stallThreshold).every(missed),
      'AG-11 a stall is that many misses in a row',
    );
  }
  const once = new Set<string>();
  for (const { event, agent_id } of notes)
    if (event === 'agent_ended') {
      must(!once.has(agent_id ?? ''), 'AG-1 an attempt ends once');
      once.add(agent_id ?? '');
    }
}

function judgeTask(
  { rules, context }: Judged,
  task: TaskContext,
  own: readonly PretendProcess[],
  must: Must,
): void {
  const rows = [...task.history.values()];
  const ended = (outcome: string) => rows.filter((row) => row.outcome === outcome).length;
  const [timedOut, stalled, failed] = [ended('timedOut'), ended('stalled'), ended('failed')];
  must(task.timeoutCount <= timedOut + stalled, 'AG-3 a timeout counts once');
  must(task.stallCount <= stalled, 'AG-3 a stall counts once');
  must(task.failureCount === failed, 'AG-10 failures count, and nothing else as one');
  must(failed <= rules.task.failuresMax, 'AG-10 no more failures than allowed');
  const waitedLong = own.every(
    (process) => activeMs(process) <= limitOf(task, rules) + SLACK_MS || !rows.length,
  );
  must(waitedLong, 'AG-4 no attempt works longer than its limit');
  const questions = [...context.questions.values()].filter((row) => row.taskId === task.taskId);
  const answered = questions.filter((row) => row.kind === 'agent' && row.state === 'answered');
  must(
    task.answers.length <= answered.length && questions.every(({ state }) => state !== 'open'),
    'AG-6 an answer is applied once, and no question is left',
  );
  const isDone = context.tasks.get(task.taskId)?.state === 'done';
  if (!isDone) return;
  const escalations = questions.filter(({ kind }) => kind === 'escalation');
  must(
    escalations.length <= timedOut + stalled,
    'AG-6 a question of a task is asked once for each time it runs out',
  );
}

/** Stretches of a run in which nothing, or no attempt, may begin. */
function judgeStretches({ notes, processes }: Judged, must: Must): void {
  const begun = (from: number, to: number, roles: readonly string[]) =>
    processes.filter(
      ({ startedAt, params }) =>
        startedAt > from + MOMENT_MS && startedAt < to && roles.includes(params.role),
    );
  for (const { at, resets_at } of notes.filter(({ event }) => event === 'quota_exhausted'))
    must(
      begun(at, Number(resets_at), ['agent', 'expert']).length === 0,
      'AG-13 nothing begins before a quota is there again',
    );
  const draining = notes.flatMap((note, index) =>
    note.event === 'run_draining' && note.cause === 'command' ? [{ note, index }] : [],
  );
  for (const { note, index } of draining) {
    const next = notes.slice(index + 1).find(({ event }) => RESUMING.has(event));
    must(
      begun(note.at, next?.at ?? Number.POSITIVE_INFINITY, ['agent']).length === 0,
      'AG-15 no attempt begins in a run that drains',
    );
  }
}

const RESUMING: ReadonlySet<string> = new Set(['run_begun', 'session_resumed']);
/** A message that is on its way when a stretch begins. */
const MOMENT_MS = 5;

/** What an attempt says, and how long it says nothing, against the limits of both. */
function judgeSilence(
  process: PretendProcess,
  { rules, planned, notes }: Judged,
  must: Must,
): void {
  const { attemptId } = process.params;
  const noted = (event: string) =>
    notes.find((each) => each.event === event && each.agent_id === attemptId);
  const { idleLimitMs } = rules.task.attempt;
  const idle = noted('agent_idle');
  const spoke = [process.startedAt, ...process.spoke, ...process.waits.map(({ to }) => to ?? 0)];
  if (idle !== undefined) {
    const last = Math.max(...spoke.filter((at) => at < idle.at));
    must(
      idleLimitMs !== null && idle.at - last >= idleLimitMs && idle.at - last <= idleLimitMs + 1,
      'AG-14 an attempt is ended for its silence when that is its limit',
    );
  }
  const overBudget = noted('agent_over_budget');
  // A part has the budget of its whole.
  const [whole] = process.params.taskId.split('.');
  const task = planned.find(({ taskId }) => taskId === whole);
  const tokens = task?.plan.budget.tokens;
  if (overBudget !== undefined)
    must(tokens !== undefined, 'AG-14 an attempt is ended for a budget that it has');
  if (tokens === undefined || process.tokens.length <= tokens) return;
  const moment = process.tokens[tokens] ?? 0;
  const end = process.signals[0]?.at ?? process.endedAt ?? Number.POSITIVE_INFINITY;
  must(end <= moment + SLACK_MS, 'AG-14 an attempt is ended when its budget is used up');
}

/** A process dies this much after the decision: the grace, and the looks at its group. */
const SLACK_MS = 300;

const limitOf = (task: TaskContext, rules: RunRules): number =>
  Math.max(task.humanLimitMs ?? 0, task.plan.limitMs ?? rules.task.attempt.agentLimitMs);

/** Time that a process lived without waiting for anybody. */
function activeMs(process: PretendProcess): number {
  const end = process.signals[0]?.at ?? process.endedAt ?? process.startedAt;
  const waited = process.waits.reduce(
    (sum, { from, to }) => sum + Math.max(0, Math.min(to ?? end, end) - from),
    0,
  );
  return end - process.startedAt - waited;
}
