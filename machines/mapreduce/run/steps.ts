/**
 * Steps of a run: what the end of an agent, or room for another, means, as pure functions from the context to
 * what is remembered, said and asked then.
 */

import { SPAWN_EVENT, Table } from '../../../runtime/machine.ts';
import { agentAddress, agentIdOf, type Role } from '../addresses.ts';
import type { AgentRules, MapAgentInput } from '../map-agent/context.ts';
import type { FailureEntry, ItemOutcome, ItemReason, StopCause } from '../words.ts';
import {
  type AgentEnded,
  durationKey,
  type ItemRow,
  isFinal,
  itemKey,
  mayRetry,
  medianLimit,
  outcomeAfter,
  type RunContext,
  reasonOf,
  retryDelayMs,
  retryKey,
} from './context.ts';

/** The end of an item, which the program writes to the failed items. */
export interface KeepParams {
  readonly runId: string;
  readonly itemIndex: number;
  /** Empty for an item that failed before and is done now. */
  readonly failures: readonly FailureEntry[];
}

export interface Said {
  readonly to: string;
  readonly event: { readonly type: string };
}

export interface Step {
  readonly next: Partial<RunContext>;
  readonly says?: readonly Said[];
  readonly keeps?: readonly KeepParams[];
  /** Items that are final now. */
  readonly ended?: ReadonlyArray<{
    readonly itemIndex: number;
    readonly outcome: ItemOutcome;
    readonly reason: ItemReason | null;
  }>;
  /** An item that gets another attempt. */
  readonly retried?: {
    readonly itemIndex: number;
    readonly cause: string;
    readonly retryAt: number;
  };
}

const NEW_ITEM: ItemRow = {
  state: 'running',
  reason: null,
  attempts: 0,
  counted: 0,
  failures: [],
  retryAt: null,
};

/** Index of the item that is begun next: a due retry goes before new items. */
function nextIndex({ retries, next, rules }: RunContext, at: number): number | undefined {
  const [first] = retries.entries();
  if (first !== undefined && Number(first[0].slice(0, 16)) <= at) return first[1];
  return next < rules.itemCount ? next : undefined;
}

export function hasRoomAndWork(context: RunContext, at: number, room: number): boolean {
  return context.agents.size < room && nextIndex(context, at) !== undefined;
}

/** Begins agents until `room` of them run. */
export function begin(context: RunContext, at: number, room: number): Step {
  const says: Said[] = [];
  const rules = mapRules(context);
  let now = context;
  while (hasRoomAndWork(now, at, room)) {
    const index = nextIndex(now, at) as number;
    const row = now.items.get(itemKey(index)) ?? NEW_ITEM;
    const attempt = row.attempts + 1;
    const begun = { ...row, state: 'running', attempts: attempt, retryAt: null } as const;
    says.push(spawned(now, 'map', index, attempt, rules));
    now = {
      ...withAgent(now, 'map', index, attempt),
      items: now.items.with(itemKey(index), begun),
      retries: now.retries.without(retryKey(row.retryAt ?? 0, index)),
      next: index === now.next ? index + 1 : now.next,
    };
  }
  const { agents, items, retries, next } = now;
  return { next: { agents, items, retries, next }, says };
}

/** Rules of an attempt that begins now. */
function mapRules(context: RunContext): AgentRules {
  const median = medianLimit(context);
  if (median === undefined) return context.rules.map;
  return { ...context.rules.map, agentLimitMs: median.limitMs, limitBasis: median.basis };
}

/** Begins the steps before or after the map. */
export function beginSide(context: RunContext, role: 'setup' | 'reduce'): Step {
  const attempts = context[role].attempts + 1;
  const { agents } = withAgent(context, role, 0, attempts);
  const next = { agents, [role]: { attempts, outcome: null } };
  return { next, says: [spawned(context, role, 0, attempts, context.rules[role] as AgentRules)] };
}

/** Stops every agent that runs. */
export function cancel({ runId, agents }: RunContext, cause: StopCause): Step {
  return { next: {}, says: toAll(runId, agents.keys(), { type: 'agent.cancel', cause }) };
}

export function kill({ runId, agents }: RunContext): Step {
  return { next: {}, says: toAll(runId, agents.keys(), { type: 'agent.kill' }) };
}

/** The end of an agent. One that is not known, or known no more, changes nothing. */
export function end(context: RunContext, event: AgentEnded & { readonly at: number }): Step {
  const { role, itemIndex, attempt } = event;
  const agentId = agentIdOf(role, itemIndex, attempt);
  if (!context.agents.has(agentId)) return { next: {} };
  const agents = context.agents.without(agentId);
  if (role !== 'map') return { next: { ...endOfSide(context, role, event), agents } };
  const counted = {
    agents,
    agentsStarted: context.agentsStarted + (event.hasStarted ? 1 : 0),
    timeouts: context.timeouts + (event.outcome === 'timedOut' ? 1 : 0),
  };
  const step = endOfItem({ ...context, ...counted }, event);
  return { ...step, next: { ...counted, ...step.next } };
}

function endOfSide(
  context: RunContext,
  role: 'setup' | 'reduce',
  { outcome, failure }: AgentEnded,
): Partial<RunContext> {
  if (outcome === 'done') return { [role]: { ...context[role], outcome } };
  if (failure === null) return {};
  const reason = `${role} failed: ${failure.errorMessage}`;
  return { [role]: { ...context[role], outcome: 'failed' }, reason: context.reason ?? reason };
}

function endOfItem(context: RunContext, event: AgentEnded & { readonly at: number }): Step {
  const { rules, items } = context;
  const { itemIndex, outcome, failure, at } = event;
  const row = items.get(itemKey(itemIndex)) ?? NEW_ITEM;
  if (outcome === 'done')
    return finalItem(withDuration(context, event), itemIndex, row, 'done', null);
  if (outcome === 'cancelled') return finalItem(context, itemIndex, row, 'failed', 'jobFailed');
  // It was none of its own doing: begun again, and not counted.
  if (failure === null) return waiting(context, itemIndex, row, at);
  const failed = { ...row, counted: row.counted + 1, failures: [...row.failures, failure] };
  if (mayRetry(rules, failure.errorType, failed.counted)) {
    if (context.reason !== null)
      return finalItem(context, itemIndex, failed, 'failed', 'jobFailed');
    const retryAt = at + retryDelayMs(rules.retry, failed.counted);
    const cause = failure.errorType === 'Timeout' ? 'timeout' : 'command_failed';
    return {
      ...waiting(context, itemIndex, failed, retryAt),
      retried: { itemIndex, cause, retryAt },
    };
  }
  const final = outcomeAfter(rules, failure);
  const step = finalItem(context, itemIndex, failed, final, reasonOf(failure.errorType));
  if (final !== 'failed') return step;
  return { ...step, next: { ...step.next, reason: context.reason ?? failure.errorMessage } };
}

/** The context with the time of a success, where somebody asks for it. */
function withDuration(context: RunContext, { durationMs }: AgentEnded): RunContext {
  if (context.rules.medianLimit === null) return context;
  const key = durationKey(durationMs);
  const durations = context.durations.with(key, (context.durations.get(key) ?? 0) + 1);
  return { ...context, durations };
}

function waiting(context: RunContext, index: number, row: ItemRow, retryAt: number): Step {
  return {
    next: {
      items: context.items.with(itemKey(index), { ...row, state: 'retryWait', retryAt }),
      retries: context.retries.with(retryKey(retryAt, index), index),
    },
  };
}

function finalItem(
  context: RunContext,
  itemIndex: number,
  row: ItemRow,
  outcome: ItemOutcome,
  reason: ItemReason | null,
): Step {
  const { runId, rules, items, counts, recording, durations } = context;
  const key = itemKey(itemIndex);
  const isKept = outcome === 'dlq' || (outcome === 'done' && rules.resolvesFailedItems);
  return {
    next: {
      // What was kept elsewhere is not kept twice.
      items: items.with(key, {
        ...row,
        state: outcome,
        reason,
        failures: isKept ? [] : row.failures,
      }),
      counts: { ...counts, [outcome]: counts[outcome] + 1 },
      durations,
      ...(isKept && { recording: recording.with(key, true) }),
    },
    ended: [{ itemIndex, outcome, reason }],
    keeps: isKept ? [{ runId, itemIndex, failures: outcome === 'dlq' ? row.failures : [] }] : [],
  };
}

/** The items of a failing run that have no end yet; those that were never begun have no row. */
export function failRest(context: RunContext): Step {
  const { counts, rules } = context;
  let { items } = context;
  for (const [key, row] of items)
    if (!isFinal(row))
      items = items.with(key, { ...row, state: 'failed', reason: 'jobFailed', retryAt: null });
  const failed = rules.itemCount - counts.done - counts.dlq - counts.skipped;
  return { next: { items, retries: Table.of<number>(), counts: { ...counts, failed } } };
}

/** Items that a failed run has left: begun again when it is resumed. */
export function reopen(context: RunContext, at: number): Step {
  let { items, retries } = context;
  for (const [key, row] of items) {
    if (row.state !== 'failed') continue;
    items = items.with(key, { ...row, state: 'retryWait', reason: null, counted: 0, retryAt: at });
    retries = retries.with(retryKey(at, Number(key)), Number(key));
  }
  const { setup, reduce, counts } = context;
  return {
    next: {
      items,
      retries,
      counts: { ...counts, failed: 0 },
      setup: setup.outcome === 'failed' ? { ...setup, outcome: null } : setup,
      reduce: reduce.outcome === 'failed' ? { ...reduce, outcome: null } : reduce,
      reason: null,
      endedAt: null,
    },
  };
}

function withAgent(
  context: RunContext,
  role: Role,
  itemIndex: number,
  attempt: number,
): RunContext {
  const agentId = agentIdOf(role, itemIndex, attempt);
  return { ...context, agents: context.agents.with(agentId, { role, itemIndex, attempt }) };
}

function spawned(
  { runId }: RunContext,
  role: Role,
  itemIndex: number,
  attempt: number,
  rules: AgentRules,
): Said {
  const agentId = agentIdOf(role, itemIndex, attempt);
  const input: MapAgentInput = { runId, agentId, role, itemIndex, attempt, rules };
  return {
    to: agentAddress(runId, agentId),
    event: { type: SPAWN_EVENT, input } as { type: string },
  };
}

function toAll(
  runId: string,
  agents: Iterable<string>,
  event: { readonly type: string; readonly cause?: StopCause },
): readonly Said[] {
  return [...agents].map((agentId) => ({ to: agentAddress(runId, agentId), event }));
}
