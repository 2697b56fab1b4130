/**
 * Documents of runs: what a program gets to read of a run, its agents and its failed items.
 *
 * All of it comes from committed records and from the files of the run. Times are milliseconds since the epoch.
 */

import type { MapAgentContext } from '../../machines/mapreduce/map-agent.ts';
import type { ItemRow } from '../../machines/mapreduce/run/context.ts';
import type { StoredActor } from '../runs.ts';
import { itemHasher } from './item-hashes.ts';
import { ItemFile } from './items.ts';
import type { About } from './plan.ts';
import type { RunFolder } from './run-folder.ts';
import { type RunStatus, type StoredRun, type StoredRuns, statusOf } from './stored-runs.ts';
import { parseWorkflow } from './workflow.ts';

export interface RunDocument {
  readonly runId: string;
  readonly status: RunStatus;
  readonly reason: string | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly warnings: readonly string[];
  readonly reduce: { readonly outcome: string; readonly output: string } | null;
  readonly summary: Readonly<Record<'done' | 'dlq' | 'skipped' | 'failed', number>>;
  readonly items: readonly ItemDocument[];
}

export interface ItemDocument {
  readonly itemId: string;
  /** Of the item and the template: the same for the same commands with the same values. */
  readonly hash: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly output: string | null;
  readonly attempts: readonly AttemptDocument[];
}

export interface AttemptDocument {
  readonly agentId: string;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly outcome: string;
  readonly commands: readonly CommandDocument[];
  readonly timeout: TimeoutDocument | null;
  readonly worktree: MapAgentContext['worktree'];
  readonly error: string | null;
}

export interface CommandDocument {
  readonly index: number;
  readonly type: string;
  readonly exitCode: number | null;
  readonly durationMs: number | null;
  readonly output: string;
}

export interface TimeoutDocument {
  readonly type: string;
  readonly commandIndex: number | null;
  readonly commandType: string | null;
  readonly configuredMs: number;
  readonly elapsedMs: number;
  readonly policy: string;
  readonly resolution: string | null;
  readonly cleanup: string | null;
}

/** States of an agent that is at work. */
export const ENDED = new Set([
  'done',
  'failed',
  'timedOut',
  'cancelled',
  'interrupted',
  'deferred',
]);

export function runDocument(stored: StoredRuns, run: StoredRun, folder: RunFolder): RunDocument {
  const { runId, startedAt, endedAt, counts, reason, reduce, rules } = run.context;
  const about = run.context.about as unknown as About;
  const attempts = attemptsOf(stored, runId, folder);
  const rows = stored.items(runId);
  const file = new ItemFile(folder.itemsPath);
  const hashOf = itemHasher(parseWorkflow(folder.readWorkflow(), 'workflow.yml').map.template);
  const items: ItemDocument[] = [];
  for (let index = 0; index < rules.itemCount; index++) {
    const { itemId, value } = file.at(index);
    const hash = hashOf(value);
    items.push(itemDocument({ itemId, hash }, rows.get(index), attempts.get(index) ?? [], run));
  }
  file.close();
  const [side] = reduce.attempts === 0 ? [] : [`reduce-${reduce.attempts}`];
  const reduceAgent = side === undefined ? undefined : stored.agent(runId, side);
  return {
    runId,
    status: statusOf(run),
    reason,
    startedAtMs: startedAt,
    endedAtMs: endedAt,
    warnings: [...about.warnings, ...untimed(stored, runId)],
    reduce:
      reduceAgent === undefined
        ? null
        : { outcome: reduceAgent.state, output: outputOf(reduceAgent.context, folder) },
    summary: counts,
    items,
  };
}

function itemDocument(
  item: Pick<ItemDocument, 'itemId' | 'hash'>,
  row: ItemRow | undefined,
  attempts: readonly AttemptDocument[],
  run: StoredRun,
): ItemDocument {
  const hasFailed = statusOf(run) === 'failed';
  const outcome = row?.state ?? (hasFailed ? 'failed' : 'pending');
  const reason = row === undefined ? (hasFailed ? 'jobFailed' : null) : row.reason;
  const output =
    outcome === 'done' ? (attempts.at(-1)?.commands.at(-1)?.output ?? '').replace(/\n$/, '') : null;
  return { ...item, outcome, reason, output, attempts };
}

/** Attempts that ran without a timer because none was to be had. */
function* untimed(stored: StoredRuns, runId: string): Iterable<string> {
  for (const { context } of stored.agents(runId))
    if (context.enforcementFailure !== null)
      yield `${context.agentId}: ${context.enforcementFailure}`;
}

/** Attempts at each item, in the order of their numbers. */
function attemptsOf(
  stored: StoredRuns,
  runId: string,
  folder: RunFolder,
): ReadonlyMap<number, readonly AttemptDocument[]> {
  const found = new Map<number, StoredActor<MapAgentContext>[]>();
  for (const agent of stored.agents(runId)) {
    if (agent.context.role !== 'map') continue;
    const { itemIndex } = agent.context;
    found.set(itemIndex, [...(found.get(itemIndex) ?? []), agent]);
  }
  const entries = [...found].map(([index, agents]) => {
    agents.sort((a, b) => a.context.attempt - b.context.attempt);
    return [index, agents.map((agent) => attemptDocument(agent, folder))] as const;
  });
  return new Map(entries);
}

export function attemptDocument(
  { state, context }: StoredActor<MapAgentContext>,
  folder: RunFolder,
): AttemptDocument {
  const { agentId, startedAt, endedAt, timeout, worktree, failure } = context;
  return {
    agentId,
    startedAtMs: startedAt,
    endedAtMs: endedAt,
    outcome: ENDED.has(state) ? state : 'running',
    commands: context.commands.map(({ index, type, exitCode, durationMs }) => ({
      index,
      type,
      exitCode,
      durationMs,
      output: folder.output(agentId, index),
    })),
    timeout: timeout && timeoutDocument(timeout),
    worktree,
    error: failure?.message ?? null,
  };
}

export function timeoutDocument(timeout: NonNullable<MapAgentContext['timeout']>): TimeoutDocument {
  const { kind, commandIndex, commandType, configuredMs, elapsedMs, policy } = timeout;
  const { resolution, cleanup } = timeout;
  const place = { type: kind, commandIndex, commandType };
  return { ...place, configuredMs, elapsedMs, policy, resolution, cleanup };
}

function outputOf({ agentId, commands }: MapAgentContext, folder: RunFolder): string {
  const index = commands.at(-1)?.index ?? 0;
  return folder.output(agentId, index).replace(/\n$/, '');
}

/** What the steps after the map are given: one entry for each item, in the order of the input. */
export function mapResults(stored: StoredRuns, run: StoredRun, folder: RunFolder): string {
  const { runId, rules } = run.context;
  const rows = stored.items(runId);
  const file = new ItemFile(folder.itemsPath);
  const entries: string[] = [];
  for (let index = 0; index < rules.itemCount; index++) {
    const row = rows.get(index);
    const isDone = row?.state === 'done';
    const lastIndex = rules.map.steps.length - 1;
    const output = isDone
      ? folder.output(`agent-${index}-${row.attempts}`, lastIndex).replace(/\n$/, '')
      : null;
    const { itemId } = file.at(index);
    entries.push(JSON.stringify({ item_id: itemId, outcome: row?.state ?? 'pending', output }));
  }
  file.close();
  return `[${entries.join(',')}]`;
}
