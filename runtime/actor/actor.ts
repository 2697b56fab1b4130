/**
 * An actor in memory: its record, unpacked, and its mailbox.
 *
 * An actor is in memory only while it has something to do; its record is the truth.
 * `text` is that record as last encoded, committed or about to be, and what a failed
 * turn falls back to.
 */

import type { AnyMachineSnapshot } from 'xstate';
import { RuntimeError } from '../base/errors.ts';
import { jsonOnce } from '../base/json-cache.ts';
import type { Logger } from '../base/limits.ts';
import type { IndexEntry } from '../ports/store.ts';
import type { Tree } from '../statechart.ts';
import { NO_TABLES, type Tables } from '../statechart.ts';
import type { Group } from './commit-group.ts';
import type { DeadlineEntry } from './deadlines.ts';
import { Inbox } from './inbox.ts';
import type { Kind } from './kind.ts';
import { Mailbox, type Urgency } from './mailbox.ts';
import { Outbox } from './outbox.ts';
import { rankOf } from './rank.ts';
import { TimerTable } from './timer-table.ts';

/** Stop reason of an actor of which only the numbers of its messages are left. */
export const FORGOTTEN = 'it was forgotten';

/** A durable effect that has not been carried out yet. */
export interface PendingEffect {
  readonly id: string;
  readonly name: string;
  readonly params: unknown;
}

export interface Actor {
  readonly address: string;
  readonly kind: Kind;
  readonly mailbox: Mailbox;
  /** Undefined until its spawn has succeeded. */
  tree: Tree | undefined;
  status: 'unspawned' | IndexEntry['status'];
  /** Reason why it was stopped, as text; only with status `stopped`. */
  stopReason: string | undefined;
  input: unknown;
  /** Turns taken so far, in all its lives. */
  turns: number;
  /** Time of the last turn. */
  at: number;
  timers: TimerTable;
  inbox: Inbox;
  outbox: Outbox;
  effects: PendingEffect[];
  /** Fence of the last takeover this actor has heard of. */
  term: number;
  text: string;
  /** The tables that lie beside that record. */
  tables: Tables;
  /** The state value as text, as queries and history show it. */
  state: string;
  /** The last committed snapshot: what handles show. With it the turn it is of, and that turn's time. */
  committed: AnyMachineSnapshot | undefined;
  committedTurn: number;
  committedAt: number;
  /** The group that holds its latest write, until that is settled. */
  group: Group | undefined;
  /** Index in that group. */
  groupIndex: number;
  /** True when memory is ahead of the record in bookkeeping that may be written with the next turn. */
  isDirty: boolean;
  /** Children that act by themselves and run now: such an actor stays in memory. */
  runningChildren: number;
  /** Failures of each child whose end no turn could take, by session; see child-tries.ts. */
  tries: Map<number, number>;
  /** Times of recent failures, for supervision. */
  failedAt: number[];
  /** Urgency of the actor while it stands among the actors that have something to take. */
  readyAs: Urgency | undefined;
  /** Queues of those in which it has a place: one bit for each urgency. */
  places: number;
  /** Entry in the node's index of deadlines, once it had one. */
  deadline: DeadlineEntry | undefined;
}

/** An actor that does not exist yet; `legacy` is what an earlier life at the address left behind. */
export function unspawned(
  address: string,
  kind: Kind,
  legacy?: Pick<Actor, 'inbox' | 'outbox' | 'turns' | 'text' | 'tables'>,
): Actor {
  return {
    address,
    kind,
    mailbox: new Mailbox(kind.newWork),
    tree: undefined,
    status: 'unspawned',
    stopReason: undefined,
    input: undefined,
    turns: legacy?.turns ?? 0,
    at: 0,
    timers: new TimerTable(),
    inbox: legacy?.inbox ?? new Inbox(),
    outbox: legacy?.outbox ?? new Outbox(),
    effects: [],
    term: 1,
    text: legacy?.text ?? '',
    tables: legacy?.tables ?? NO_TABLES,
    state: '',
    committed: undefined,
    committedTurn: 0,
    committedAt: 0,
    group: undefined,
    groupIndex: 0,
    isDirty: false,
    runningChildren: 0,
    tries: new Map(),
    failedAt: [],
    readyAs: undefined,
    places: 0,
    deadline: undefined,
  };
}

/**
 * True if nothing waits, runs, is under way or unwritten: the record says it all, and nobody else holds a
 * part of it.
 */
export function isIdle(actor: Actor): boolean {
  return (
    actor.mailbox.size === 0 &&
    actor.group === undefined &&
    !actor.isDirty &&
    actor.runningChildren === 0 &&
    actor.outbox.size === 0 &&
    actor.effects.length === 0
  );
}

/** The snapshot as others see it: XState's own knows nothing of an actor that the runtime has stopped. */
export function shownSnapshot({ address, tree, status, stopReason }: Actor): AnyMachineSnapshot {
  const { snapshot } = tree as Tree;
  if (status !== 'stopped') return snapshot;
  if (stopReason === undefined) return { ...snapshot, status: 'stopped' } as never;
  const error = new RuntimeError('ACTOR_ENDED', stopReason, { address });
  return { ...snapshot, status: 'error', error } as AnyMachineSnapshot;
}

/** The state value as text: `running`, or JSON for anything that is not one word. */
export function stateText(value: unknown): string {
  return typeof value === 'string' ? value : jsonOnce(value);
}

/** The index entry that goes with the record. */
export function indexEntry(actor: Actor, logger: Logger): IndexEntry {
  const tree = actor.tree as Tree;
  const { tags } = tree.snapshot;
  const rank = actor.status !== 'stopped' ? rankOf(actor.kind, tree.snapshot, logger) : undefined;
  return {
    kind: actor.kind.name,
    status: actor.status as IndexEntry['status'],
    isPending: actor.outbox.size > 0 || actor.effects.length > 0 || tree.hasChildren,
    state: actor.state,
    tags: tags.size === 0 ? NO_TAGS : [...tags],
    dueAt: actor.status === 'active' ? actor.timers.nextDueAt() : null,
    turnAt: actor.at,
    ...(rank !== undefined && { rank }),
  };
}

const NO_TAGS: readonly string[] = [];
