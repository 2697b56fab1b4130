/**
 * Items at work: for each attempt of a live run what it does, what it has printed last, and what time it has left.
 */

import { commandDueAt } from '../../machines/mapreduce/map-agent/context.ts';
import type { MapAgentContext } from '../../machines/mapreduce/map-agent.ts';
import type { StoredActor } from '../runs.ts';
import type { Host } from './host.ts';

export interface ItemAtWork {
  readonly item: string;
  readonly agentId: string;
  readonly attempt: number;
  /** `preparing`, `running`, `terminating`, `cleaning`. */
  readonly state: string;
  readonly lastLine: string;
  /** Time since the attempt began, and its limit; null without one. */
  readonly runningMs: number;
  readonly limitMs: number | null;
  /** Time without a byte of output; null while no command runs. */
  readonly quietMs: number | null;
  /** Time until the next limit of the agent or its command; null without one. */
  readonly remainingMs: number | null;
  readonly costs: Readonly<Record<string, number>>;
}

/** In the order in which their attempts began. */
export function itemsAtWork(host: Host, runId: string): readonly ItemAtWork[] {
  const agents = [...host.stored.activeAgents(runId)].filter(
    ({ context: { role } }) => role === 'map',
  );
  return agents
    .sort((a, b) => (a.context.startedAt ?? 0) - (b.context.startedAt ?? 0))
    .map((agent) => itemAtWork(host, agent));
}

function itemAtWork(host: Host, { state, context }: StoredActor<MapAgentContext>): ItemAtWork {
  const { runId, agentId, itemIndex, attempt, costs, startedAt, rules } = context;
  const now = host.clock.now();
  const running = host.attempts.active(runId, agentId);
  const dues = [context.agentDueAt, commandDueAt(context)].filter((dueAt) => dueAt !== null);
  return {
    item: host.plan(runId).items.at(itemIndex).itemId,
    agentId,
    attempt,
    state: /^\{"(\w+)"/.exec(state)?.[1] ?? state,
    lastLine: running?.stdout.lastLine ?? '',
    runningMs: startedAt === null ? 0 : now - startedAt,
    limitMs: rules.agentLimitMs,
    quietMs: running === undefined ? null : now - running.lastOutputAt,
    remainingMs: dues.length === 0 ? null : Math.max(0, Math.min(...dues) - now),
    costs,
  };
}
