/**
 * Report of one actor as data: what `explain` tells as text, for programs that show it.
 *
 * Plain values that are bounded in number; the context is the committed one itself, and who takes it copies it.
 */

import type { Actor } from '../actor.ts';
import { eventType, RUN_AGAIN, stateText } from '../actor.ts';
import type { IndexEntry } from '../ports/store.ts';
import {
  activeDelays,
  activeNodes,
  delayMsOf,
  exitsOf,
  liveMachines,
  pathOf,
} from '../statechart.ts';

/** Rows of one sort in a report. */
const ROWS_MAX = 100;

export interface ReportedDeadline {
  readonly id: string;
  readonly dueAt: number;
  /** Its delay, where the definition says it without an event. */
  readonly delayMs?: number;
  /** Path of the child that it belongs to. */
  readonly child?: string;
}

export interface ReportedExit {
  readonly state: string;
  readonly to: string;
  readonly cause: string;
  readonly condition: string;
  readonly timer?: string;
  readonly dueAt?: number;
  /** Path of the child machine, or name of the chart in the context, that it belongs to. */
  readonly of?: string;
}

export interface ActorReport {
  readonly address: string;
  readonly kind: string;
  readonly version: number;
  readonly status: IndexEntry['status'];
  readonly stopReason?: string;
  readonly turns: number;
  readonly turnAt: number;
  readonly state: string;
  readonly tags: readonly string[];
  /** Paths of the active states, the root's is empty. */
  readonly active: readonly string[];
  readonly context: unknown;
  readonly deadlines: readonly ReportedDeadline[];
  readonly exits: readonly ReportedExit[];
  readonly children: ReadonlyArray<{
    readonly id: string;
    readonly src?: string;
    readonly state?: string;
    readonly actsAlone: boolean;
  }>;
  readonly effects: ReadonlyArray<{
    readonly name: string;
    readonly id: string;
    readonly doing: string;
  }>;
  readonly outbox: ReadonlyArray<{
    readonly to: string;
    readonly type: string;
    readonly count: number;
    readonly attempts: number;
  }>;
  readonly mailbox: readonly string[];
  readonly mailboxSize: number;
}

/** Undefined of an actor that was never spawned. `doing` says how far a durable effect is. */
export function reportOf(
  actor: Actor,
  doing: (effectId: string) => string,
): ActorReport | undefined {
  const { address, kind, status, stopReason, turns, at, state, committed } = actor;
  if (status === 'unspawned' || committed === undefined) return undefined;
  const lanes = [...actor.outbox.lanes()].slice(0, ROWS_MAX);
  const mailbox = [...actor.mailbox].slice(0, ROWS_MAX);
  return {
    address,
    kind: kind.name,
    version: kind.version,
    status,
    ...(stopReason !== undefined && { stopReason }),
    turns,
    turnAt: at,
    state,
    tags: [...committed.tags],
    active: activeNodes(committed).map(pathOf),
    context: committed.context,
    deadlines: deadlinesOf(actor),
    exits: exitsOfActor(actor),
    children: childrenOf(actor),
    effects: actor.effects
      .slice(0, ROWS_MAX)
      .map(({ id, name }) => ({ id, name, doing: doing(id) })),
    outbox: lanes.map(({ to, rows, attempts }) => ({
      to,
      type: rows[0]?.event.type ?? '',
      count: rows.length,
      attempts,
    })),
    mailbox: mailbox.map((item) =>
      item.type === 'timersDue' ? 'a deadline' : eventType(item, undefined),
    ),
    mailboxSize: actor.mailbox.size,
  };
}

function deadlinesOf({ timers, committed, tree }: Actor): ReportedDeadline[] {
  if (committed === undefined) return [];
  const delays = new Map(
    activeDelays(committed).map(({ id, delay }) => [id, delayMsOf(committed, delay)]),
  );
  const paths = new Map((tree?.members() ?? []).map(({ session, path }) => [session, path]));
  return timers.rows.slice(0, ROWS_MAX).map(({ id, dueAt, session, event }) => {
    const delayMs = session === 0 ? delays.get(id) : undefined;
    const child = session === 0 ? undefined : paths.get(session);
    const name = id === RUN_AGAIN ? String((event as { child?: unknown }).child ?? id) : id;
    return {
      id: name,
      dueAt,
      ...(delayMs !== undefined && { delayMs }),
      ...(child !== undefined && { child }),
    };
  });
}

/** Exits of its machine, of its machine children, and of the charts that it keeps in its context. */
function exitsOfActor(actor: Actor): ReportedExit[] {
  const { committed, status, kind, timers } = actor;
  if (committed === undefined || status !== 'active') return [];
  const dueAt = new Map(timers.rows.map(({ session, id, dueAt }) => [`${session}.${id}`, dueAt]));
  const own = liveMachines(committed).flatMap(({ session, path, snapshot }) =>
    exitsOf(activeNodes(snapshot)).map((exit) => ({
      ...exit,
      dueAt: exit.timer === undefined ? undefined : dueAt.get(`${session}.${exit.timer}`),
      of: session === 0 ? undefined : path,
    })),
  );
  const kept = Object.entries(kind.options.charts?.(committed.context) ?? {}).flatMap(
    ([name, chart]) =>
      exitsOf(activeNodes(chart)).map((exit) => ({ ...exit, dueAt: undefined, of: name })),
  );
  return [...own, ...kept].map(({ state, to, cause, condition, timer, dueAt: due, of }) => ({
    state,
    to,
    cause,
    condition,
    ...(timer !== undefined && { timer }),
    ...(due !== undefined && { dueAt: due }),
    ...(of !== undefined && { of }),
  }));
}

function childrenOf({ tree, status }: Actor): ActorReport['children'] {
  const members = status === 'active' ? (tree?.members() ?? []) : [];
  return members.slice(0, ROWS_MAX).map(({ path, src, actsAlone, value }) => ({
    id: path,
    ...(src !== undefined && { src }),
    ...(value !== undefined && { state: stateText(value) }),
    actsAlone,
  }));
}
