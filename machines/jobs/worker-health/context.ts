/**
 * Context of a worker's health, and what registrations and heartbeats of the worker change in it.
 * The statechart is in worker-health.ts, extensions are in worker-health/grants.ts.
 */

import { type Spawned, Table, type Timed } from '../../../runtime/machine.ts';
import { operationIdOf } from '../addresses.ts';
import { type AttemptReport, isWithin } from '../messages/fields.ts';
import type {
  AttemptEnded,
  AttemptPlaced,
  AttemptRunning,
  CreditAnswered,
  CreditClosed,
  LeadershipAcquired,
  MessageRefused,
  RegistrationTold,
} from '../messages/local.ts';
import type {
  AnnounceAnswered,
  ExtensionAnswer,
  ExtensionRequested,
  HeartbeatReceived,
} from '../messages/worker.ts';
import type { HealthRules } from '../rules.ts';

export type WorkerHealthEvent = Timed<
  | RegistrationTold
  | HeartbeatReceived
  | AnnounceAnswered
  | ExtensionRequested
  | AttemptPlaced
  | AttemptRunning
  | AttemptEnded
  | CreditAnswered
  | CreditClosed
  | LeadershipAcquired
  | MessageRefused
>;

export interface WorkerHealthInput {
  readonly workerId: string;
  readonly datacenter: string;
  readonly rules: HealthRules;
}

/** One attempt on the worker. What has not happened is left out: there may be a thousand of them. */
export interface Operation {
  /** The last heartbeat sent before the worker took it; set once it is RUNNING. */
  readonly heartbeatSeq?: number;
  /** Figures as last heard in a heartbeat. */
  readonly progress?: number;
  readonly completedItems?: number;
  /** Its last request for an extension that was decided. */
  readonly requestSeq?: number;
  /** Extensions granted. */
  readonly grants?: number;
  readonly grantedProgress?: number;
  readonly grantedItems?: number;
  /** Rises over all operations: whose grant was the latest. */
  readonly grantOrder?: number;
  readonly warned?: boolean;
}

/** An answer that waits until every job concerned has the credit on disk. */
export interface PendingAnswer {
  readonly answer: ExtensionAnswer;
  readonly replyTo: string;
  readonly waitingFor: readonly string[];
  /** Left out in records of earlier releases. */
  readonly operationId?: string;
}

/** An answer kept for its request, should that come again. */
export interface GivenAnswer extends ExtensionAnswer {
  /** Operation that requested it; left out in records of earlier releases. */
  readonly operationId?: string;
}

export interface WorkerHealthContext extends WorkerHealthInput {
  readonly term: number;
  /** 0: never registered. */
  readonly registration: number;
  readonly bootEpoch: number;
  readonly deadline: number;
  /** Its last heartbeat, registration, answer or report. A takeover counts as one: until then nobody listened. */
  readonly lastHeardAt: number;
  /** Heard since this leader took over. */
  readonly heard: boolean;
  readonly operations: Table<Operation>;
  /** Those that hold grants, in the order of the latest grant of each. */
  readonly grantHolders: Table<string>;
  readonly grantCount: number;
  readonly denials: number;
  readonly pending: readonly PendingAnswer[];
  /**
   * Answers for requests that come again: the last one to each operation, and a few of those that are
   * over.
   */
  readonly answers: readonly GivenAnswer[];
  /** Jobs that have credit of this registration. */
  readonly creditedJobs: readonly string[];
  /** List of attempts in a heartbeat whose other pages are still to come. */
  readonly listed: {
    readonly heartbeatSeq: number;
    /** The pages that have come. */
    readonly pages: readonly number[];
    readonly ids: readonly string[];
  } | null;
}

export function initialWorkerHealth({
  workerId,
  datacenter,
  rules,
  at,
}: Spawned<WorkerHealthInput>): WorkerHealthContext {
  return {
    workerId,
    datacenter,
    rules,
    term: 0,
    registration: 0,
    bootEpoch: 0,
    deadline: at,
    lastHeardAt: at,
    heard: false,
    operations: Table.of(),
    grantHolders: Table.of(),
    grantCount: 0,
    denials: 0,
    pending: [],
    answers: [],
    creditedJobs: [],
    listed: null,
  };
}

export function registered(
  context: WorkerHealthContext,
  event: RegistrationTold,
  at: number,
): Partial<WorkerHealthContext> {
  const { registration, bootEpoch, term } = event;
  const base = at + context.rules.baseDeadlineMs;
  const known = { term, heard: true, lastHeardAt: at };
  if (registration === context.registration)
    return { ...known, deadline: Math.max(context.deadline, base) };
  return { ...emptied(), ...known, registration, bootEpoch, deadline: base };
}

/** Everything that belongs to one registration. */
export function emptied(): Partial<WorkerHealthContext> {
  return {
    operations: Table.of(),
    grantHolders: Table.of(),
    denials: 0,
    pending: [],
    creditedJobs: [],
    listed: null,
  };
}

/** Changes an operation to what it is from now on, or takes it away. */
export function withOperation(
  { operations, grantHolders }: Pick<WorkerHealthContext, 'operations' | 'grantHolders'>,
  id: string,
  operation: Operation | undefined,
): Pick<WorkerHealthContext, 'operations' | 'grantHolders'> {
  const { grantOrder: before } = operations.get(id) ?? {};
  const { grantOrder: now } = operation ?? {};
  const others =
    before === undefined || before === now ? grantHolders : grantHolders.without(inOrder(before));
  return {
    operations: operation === undefined ? operations.without(id) : operations.with(id, operation),
    grantHolders: now === undefined ? others : others.with(inOrder(now), id),
  };
}

/** A number as a key that lies in its order. */
const inOrder = (number: number): string => String(number).padStart(16, '0');

/** A suspect worker that is heard again starts from nothing. */
export function recovered(context: WorkerHealthContext, at: number): Partial<WorkerHealthContext> {
  let { operations } = context;
  for (const id of context.grantHolders.values()) {
    const {
      grants: _,
      grantedProgress: __,
      grantedItems: ___,
      grantOrder: ____,
      ...rest
    } = operations.get(id) as Operation;
    operations = operations.with(id, rest);
  }
  const deadline = at + context.rules.baseDeadlineMs;
  const grantHolders = Table.of<string>();
  return { operations, grantHolders, denials: 0, heard: true, lastHeardAt: at, deadline };
}

export interface HeardAttempts {
  readonly next: Partial<WorkerHealthContext>;
  readonly risen: ReadonlyArray<readonly [operationId: string, AttemptReport]>;
  /** Held RUNNING by us and not listed by the worker. */
  readonly missing: readonly string[];
  /** Listed by the worker and unknown to us. */
  readonly unknown: readonly string[];
}

/** Takes one page of a heartbeat. Only when all pages are there they show what is missing in their range. */
export function heard(
  context: WorkerHealthContext,
  event: HeartbeatReceived,
  at: number,
): HeardAttempts {
  let known = { operations: context.operations, grantHolders: context.grantHolders };
  const risen: Array<readonly [string, AttemptReport]> = [];
  const unknown: string[] = [];
  const ids: string[] = [];
  for (const report of event.attempts) {
    const id = operationIdOf(report.jobId, report.attemptId);
    ids.push(id);
    const operation = known.operations.get(id);
    if (operation === undefined) {
      if (!report.finished) unknown.push(id);
      continue;
    }
    if (!isFurther(report, operation.progress ?? 0, operation.completedItems ?? 0)) continue;
    const { progress, completedItems } = report;
    const items = completedItems !== undefined && { completedItems };
    known = withOperation(known, id, { ...operation, progress, ...items });
    risen.push([id, report]);
  }
  const { listed, missing } = completed(context, event, ids);
  for (const id of missing) known = withOperation(known, id, undefined);
  const deadline = Math.max(context.deadline, at + context.rules.baseDeadlineMs);
  const next = { ...known, listed, heard: true, lastHeardAt: at, deadline };
  return { next, risen, missing, unknown };
}

const ALL = { from: '', to: null } as const;
const NOTHING_LISTED: { pages: readonly number[]; ids: readonly string[] } = { pages: [], ids: [] };

function completed(
  { listed, operations }: WorkerHealthContext,
  { heartbeatSeq, page, pages, range = ALL }: HeartbeatReceived,
  ids: readonly string[],
): { readonly listed: WorkerHealthContext['listed']; readonly missing: readonly string[] } {
  const before = listed?.heartbeatSeq === heartbeatSeq ? listed : NOTHING_LISTED;
  const seen = before.pages.includes(page) ? before.pages : [...before.pages, page];
  const all = { heartbeatSeq, pages: seen, ids: [...before.ids, ...ids] };
  if (seen.length < pages) return { listed: all, missing: [] };
  const present = new Set(all.ids);
  const missing: string[] = [];
  for (const [id, { heartbeatSeq: takenAfter }] of operations.entries(range.from)) {
    if (!isWithin(range, id)) break;
    if (takenAfter !== undefined && takenAfter < heartbeatSeq && !present.has(id)) missing.push(id);
  }
  return { listed: null, missing };
}

/** True when it got further: by items where both sides know them, otherwise by progress. */
export function isFurther(
  report: { readonly progress: number; readonly completedItems?: number | undefined },
  progress: number,
  completedItems: number | undefined,
): boolean {
  if (report.completedItems !== undefined && completedItems !== undefined)
    return report.completedItems > completedItems;
  return report.progress > progress;
}
