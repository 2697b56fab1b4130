/**
 * Timeouts on record: timers that are armed, incidents, and statistics of runs.
 */

import {
  commandDueAt,
  idleDueAt,
  type LimitBasis,
} from '../../machines/mapreduce/map-agent/context.ts';
import { failureMessage } from '../../machines/mapreduce/map-agent/failure.ts';
import type { MapAgentContext } from '../../machines/mapreduce/map-agent.ts';
import type { StoredActor } from '../runs.ts';
import {
  type AttemptDocument,
  attemptDocument,
  ENDED,
  type TimeoutDocument,
  timeoutDocument,
} from './documents.ts';
import { ItemFile } from './items.ts';
import { nearestRank } from './percentile.ts';
import type { About } from './plan.ts';
import type { RunFolder } from './run-folder.ts';
import type { StoredRun, StoredRuns } from './stored-runs.ts';

export interface TimerDocument {
  readonly runId: string;
  readonly agentId: string;
  readonly itemIndex: number;
  readonly itemId: string | null;
  readonly kind: 'agent' | 'command' | 'idle';
  readonly limitMs: number | null;
  readonly dueAtMs: number;
  readonly remainingMs: number;
}

/** Timers that are armed now, the next one first. Without a folder nobody knows the items' own ids. */
export function activeTimers(
  stored: StoredRuns,
  runs: Iterable<StoredRun>,
  now: number,
  folderOf?: (runId: string) => RunFolder,
): readonly TimerDocument[] {
  const timers: TimerDocument[] = [];
  for (const { context } of runs) {
    const { runId } = context;
    const items = folderOf && new ItemFile(folderOf(runId).itemsPath);
    for (const agent of stored.activeAgents(runId)) {
      const { role, itemIndex } = agent.context;
      const itemId = role === 'map' ? (items?.at(itemIndex).itemId ?? null) : null;
      for (const timer of timersOf(agent)) {
        const remainingMs = Math.max(0, timer.dueAtMs - now);
        timers.push({ ...timer, itemId, remainingMs });
      }
    }
    items?.close();
  }
  return timers.sort((a, b) => a.dueAtMs - b.dueAtMs);
}

function* timersOf({
  state,
  context,
}: StoredActor<MapAgentContext>): Iterable<Omit<TimerDocument, 'itemId' | 'remainingMs'>> {
  if (!state.includes('"running"')) return;
  const { runId, agentId, itemIndex, rules, agentDueAt, command } = context;
  const step = rules.steps[command?.index ?? -1];
  const limits = [
    ['agent', 'agentLimit', rules.agentLimitMs, agentDueAt],
    ['command', 'commandLimit', step?.limitMs ?? null, commandDueAt(context)],
    ['idle', 'idleLimit', step?.idleLimitMs ?? null, idleDueAt(context)],
  ] as const;
  for (const [kind, region, limitMs, dueAtMs] of limits)
    if (dueAtMs !== null && state.includes(`"${region}":"armed"`))
      yield { runId, agentId, itemIndex, kind, limitMs, dueAtMs };
}

export interface IncidentDocument extends AttemptDocument {
  readonly runId: string;
  readonly message: string;
  /** What the limit of the attempt is a share of; null where it is a number that somebody has stated. */
  readonly limitBasis: LimitBasis | null;
  readonly extensions: MapAgentContext['extensions'];
  readonly shadowTimeouts: readonly TimeoutDocument[];
}

/** The attempt with what it has printed, by its run or of the latest run that has one of that name. */
export function incidentOf(
  stored: StoredRuns,
  folderOf: (runId: string) => RunFolder,
  agentId: string,
  runId: string | undefined,
): IncidentDocument | undefined {
  const runs = runId === undefined ? stored.runs().map(({ context }) => context.runId) : [runId];
  for (const id of runs.reverse()) {
    const agent = stored.agent(id, agentId);
    if (agent === undefined) continue;
    const { extensions, shadowTimeouts } = agent.context;
    return {
      runId: id,
      message: failureMessage(agent.context),
      limitBasis: agent.context.rules.limitBasis ?? null,
      ...attemptDocument(agent, folderOf(id)),
      extensions,
      shadowTimeouts: shadowTimeouts.map(timeoutDocument),
    };
  }
  return undefined;
}

export interface Statistics {
  readonly monitoring: boolean;
  readonly agents_started: number;
  readonly agents_completed: number;
  readonly timeouts_occurred: number;
  readonly timeout_rate_percent: number;
  readonly average_execution_time_secs: number;
  readonly agents_failed: number;
  readonly agents_active: number;
  readonly timeouts_by_type: Readonly<Record<string, number>>;
  readonly shadow_timeouts: number;
  readonly enforcement_unavailable: number;
  readonly decision_lateness_p99_ms: number;
  readonly signal_lateness_p99_ms: number;
}

/** Successes whose times make up the average. */
const AVERAGED_MAX = 100;

/** Attempts begun are those completed, timed out, failed and active. Of runs without monitoring all is 0. */
export function statisticsOf(stored: StoredRuns, runs: readonly StoredRun[]): Statistics {
  const watched = runs.filter(({ context }) => (context.about as unknown as About).monitoring);
  const agents = watched.flatMap(({ context }) =>
    [...stored.agents(context.runId)].filter((agent) => agent.context.role === 'map'),
  );
  const begun = agents.filter(({ context }) => context.startedAt !== null);
  const count = (...states: string[]) => begun.filter(({ state }) => states.includes(state)).length;
  const timeouts = begun.flatMap(({ context, state }) =>
    context.timeout !== null && state !== 'done' ? [context] : [],
  );
  const byType: Record<string, number> = {};
  for (const { timeout } of timeouts) {
    const type =
      timeout?.kind === 'command' ? `command_${timeout.commandType}` : (timeout?.kind ?? '');
    byType[type] = (byType[type] ?? 0) + 1;
  }
  const active = begun.filter(
    ({ state, context }) => !ENDED.has(state) && context.timeout === null,
  );
  const successes = begun
    .filter(({ state }) => state === 'done')
    .map(({ context }) => context)
    .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))
    .slice(-AVERAGED_MAX)
    .map(({ startedAt, endedAt }) => (endedAt ?? 0) - (startedAt ?? 0));
  const decisions = timeouts.map(
    ({ timeout }) => (timeout?.decidedAt ?? 0) - (timeout?.dueAt ?? 0),
  );
  const signals = timeouts.flatMap(({ timeout, firstSignalAt }) =>
    firstSignalAt === null ? [] : [firstSignalAt - (timeout?.dueAt ?? 0)],
  );
  const sum = successes.reduce((all, each) => all + each, 0);
  return {
    monitoring: watched.length === runs.length,
    agents_started: begun.length,
    agents_completed: count('done'),
    timeouts_occurred: timeouts.length,
    timeout_rate_percent: percent(timeouts.length, begun.length),
    average_execution_time_secs: successes.length === 0 ? 0 : sum / successes.length / 1_000,
    agents_failed: count('failed', 'cancelled', 'interrupted', 'deferred'),
    agents_active: active.length,
    timeouts_by_type: byType,
    shadow_timeouts: begun.reduce((all, { context }) => all + context.shadowTimeouts.length, 0),
    enforcement_unavailable: agents.filter(({ context }) => context.enforcementFailure !== null)
      .length,
    decision_lateness_p99_ms: nearestRank(decisions, 99),
    signal_lateness_p99_ms: nearestRank(signals, 99),
  };
}

const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
