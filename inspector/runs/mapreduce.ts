/**
 * Runs of map-reduce for the panel: items by state, attempts with their clocks, what failed, and more time for an
 * attempt.
 */

import { agentAddress, agentIdOf, runAddress } from '../../machines/mapreduce/addresses.ts';
import { commandDueAt, type MapAgentContext } from '../../machines/mapreduce/map-agent/context.ts';
import type { ItemRow, RunContext } from '../../machines/mapreduce/run/context.ts';
import { extendAttempt } from '../../programs/mapreduce/control.ts';
import type { Host } from '../../programs/mapreduce/host.ts';
import {
  PLACE,
  type StoredRun,
  type StoredRuns,
  statusOf,
} from '../../programs/mapreduce/stored-runs.ts';
import type { StoredActor } from '../../programs/runs.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { PartLine, RunLine, WorkerLine } from '../protocol.ts';
import {
  byNeed,
  countsOf,
  newestRuns,
  PARTS_MAX,
  type RunsSource,
  type RunsTold,
} from './source.ts';

const at = (address: string): string => `${address}@${PLACE}`;

/** What runs are told from: their records, and the names of their items. */
export interface MapReduceRecords {
  readonly stored: StoredRuns;
  /** Items that were begun, by their number as text. */
  items(runId: string): Iterable<readonly [key: string | number, row: ItemRow]>;
  itemId(runId: string, index: number): string;
}

export function mapReduceView(records: MapReduceRecords, now: number): RunsTold {
  const isLive = (run: StoredRun) => statusOf(run) === 'running';
  const { told, more } = newestRuns(records.stored.runs(), isLive);
  return {
    runs: told.map((run) => runLine(records, run, now)),
    more,
  };
}

export function mapReduceRuns(host: Host): RunsSource {
  const records: MapReduceRecords = {
    stored: host.stored,
    items: (runId) =>
      (host.runtime.actor(runAddress(runId)).getSnapshot().context as RunContext).items,
    itemId: (runId, index) => host.plan(runId).items.at(index).itemId,
  };
  return {
    view: (now) => mapReduceView(records, now),
    extend: async (address, byMs, by) => {
      const [, runId, agentId] = ATTEMPT.exec(address) ?? [];
      if (runId === undefined || agentId === undefined)
        throw new RuntimeError('OPTION_INVALID', `${address} is no attempt.`);
      const { isExtended, reason } = await extendAttempt(host, { runId, agentId, byMs, by });
      if (isExtended) return `It has ${Math.round(byMs / 1_000)} s more.`;
      throw new RuntimeError('NOT_ALLOWED', `The attempt is not extended: ${reason}.`);
    },
  };
}

const ATTEMPT = /^map-agent\/([^/@]+)\/([^/@]+)(?:@|$)/;

function runLine(records: MapReduceRecords, run: StoredRun, now: number): RunLine {
  const { runId, startedAt, endedAt, rules, counts, costs, reason } = run.context;
  const status = statusOf(run);
  const isLive = status === 'running';
  const workers = isLive ? [...records.stored.activeAgents(runId)] : [];
  const items = isLive ? liveItems(records, runId) : [];
  const begun = items.filter(([, { state }]) => state === 'retryWait').length;
  const running = workers.filter(({ context }) => context.role === 'map').length;
  const final = counts.done + counts.dlq + counts.skipped + counts.failed;
  return {
    system: 'mapreduce',
    runId,
    address: at(runAddress(runId)),
    status,
    isLive,
    ...(reason !== null && { why: reason }),
    startedAt,
    ...(endedAt !== null && { endedAt }),
    slots: { used: running, all: rules.maxParallel },
    counts: countsOf([
      ['running', running],
      ['retryWait', begun],
      ['pending', Math.max(0, rules.itemCount - final - begun - running)],
      ...Object.entries(counts),
    ]),
    usage: costs,
    questions: [],
    workers: byNeed(workers.map((worker) => workerLine(records, worker, now))),
    delegations: [],
    parts: items.slice(0, PARTS_MAX).map(([index, row]) => itemLine(records, runId, index, row)),
    partsMore: Math.max(0, items.length - PARTS_MAX),
  };
}

/** Items that are not done: at work or waiting first, then those that failed, the last one first. */
function liveItems(
  records: MapReduceRecords,
  runId: string,
): ReadonlyArray<readonly [number, ItemRow]> {
  const open: Array<readonly [number, ItemRow]> = [];
  const failed: Array<readonly [number, ItemRow]> = [];
  for (const [key, row] of records.items(runId)) {
    if (row.state === 'done') continue;
    const isOpen = row.state === 'running' || row.state === 'retryWait';
    (isOpen ? open : failed).push([Number(key), row]);
  }
  return [...open, ...failed.reverse()];
}

function itemLine(records: MapReduceRecords, runId: string, index: number, row: ItemRow): PartLine {
  const { state, reason, attempts, failures, retryAt } = row;
  const error = failures.at(-1)?.errorMessage;
  return {
    id: records.itemId(runId, index),
    ...(attempts > 0 && { address: at(agentAddress(runId, agentIdOf('map', index, attempts))) }),
    state,
    attempts,
    detail: [reason, error].filter((each) => each !== null && each !== undefined).join(': '),
    ...(retryAt !== null && { dueAt: retryAt }),
  };
}

function workerLine(
  records: MapReduceRecords,
  { state, context }: StoredActor<MapAgentContext>,
  now: number,
): WorkerLine {
  const { runId, agentId, role, itemIndex, command, startedAt, rules, agentDueAt } = context;
  const step =
    command === null ? undefined : `${command.type} ${command.index + 1} of ${rules.steps.length}`;
  const isMap = role === 'map';
  return {
    id: agentId,
    address: at(agentAddress(runId, agentId)),
    of: isMap ? records.itemId(runId, itemIndex) : role,
    name: step ?? role,
    state: ACTIVITIES.find((each) => state.includes(each)) ?? state,
    isWaiting: false,
    ...(startedAt !== null && { startedAt, clock: clockOf(context, startedAt, agentDueAt, now) }),
    ...(command !== null && { heardAt: command.lastOutputAt }),
  };
}

/** The deadline that comes first: the attempt's, or that of its command. */
function clockOf(
  context: MapAgentContext,
  startedAt: number,
  agentDueAt: number | null,
  now: number,
): NonNullable<WorkerLine['clock']> {
  const due = [agentDueAt, commandDueAt(context)].filter((each) => each !== null);
  const isRunning = context.endedAt === null;
  const usedMs = (context.endedAt ?? now) - startedAt;
  const first = due.length === 0 ? undefined : Math.min(...due);
  return { usedMs, isRunning, ...(first !== undefined && { limitMs: first - startedAt }) };
}

const ACTIVITIES = ['terminating', 'cleaning', 'preparing', 'running'];
