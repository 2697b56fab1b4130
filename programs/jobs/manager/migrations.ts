/**
 * Migrations of records of earlier releases to the form that this one knows.
 *
 * Version 2 of `workflow`: one that waits for cores is `queued`, whether the pool knows of it or not.
 * Version 2 of `worker-pool`: requests lie in lanes instead of one queue.
 * Version 2 of `worker-health`: it knows when it heard the worker last, has a region that says whether an
 * answer waits for credits, and says why it was evicted.
 * Version 3 of `worker-health`: its operations lie in a table.
 * Version 2 of `job`: what it hears and what it decides are regions; its end says as what, and what is left to do.
 * Version 3 of `job`: its workflows lie in rows, and no report of progress is waited for.
 */

import { tableOf, type WholeTable } from '../../../machines/jobs/job/table.ts';
import { isOver } from '../../../machines/jobs/job/workflows.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { SlotRequested } from '../../../machines/jobs/messages/local.ts';
import { type Operation, withOperation } from '../../../machines/jobs/worker-health/context.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import {
  asWaiting,
  inserted,
  type Lane,
  newLane,
} from '../../../machines/jobs/worker-pool/lanes.ts';
import { laneOf } from '../../../machines/jobs/worker-pool/steps.ts';
import type { MigratedState } from '../../../runtime/actor.ts';
import { Table } from '../../../runtime/machine.ts';

interface Persisted {
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
}

const WAITED = ['asking', 'turnedAway'];

export function workflowToVersion2({ snapshot, timers }: MigratedState): MigratedState {
  const { PENDING } = ((snapshot as Persisted).value ?? {}) as { readonly PENDING?: string };
  if (PENDING === undefined || !WAITED.includes(PENDING)) return { snapshot, timers };
  return { snapshot: { ...(snapshot as Persisted), value: { PENDING: 'queued' } }, timers };
}

/** Number it keeps until the leading manager tells it another. */
const QUEUE_MAX = 256;

export function poolToVersion2({ snapshot, timers }: MigratedState): MigratedState {
  const { value, context } = snapshot as Persisted;
  const { queue, hasTurnedAway: _, ...others } = context;
  const lanes: Record<string, Lane> = {};
  for (const asked of queue as ReadonlyArray<Omit<SlotRequested, 'type'>>) {
    const name = laneOf(asked);
    lanes[name] = inserted(lanes[name] ?? newLane(name, true), asWaiting(asked));
  }
  const serving = { placing: 'waiting', searching: 'idle' };
  return {
    snapshot: {
      ...(snapshot as Persisted),
      value: value === 'suspended' ? value : { serving },
      context: {
        ...others,
        ...{ queueMax: QUEUE_MAX, lanes, unexplored: [], search: null, searches: 0 },
      },
    },
    timers,
  };
}

const WATCHED = 'xstate.after.deadlineLimit.workerHealth.trusted';

/**
 * Health in version 2. Nobody wrote down when the worker was heard last: its deadline tells, but for
 * extensions, and a takeover follows at once.
 */
function healthToVersion2({ snapshot, timers }: MigratedState): MigratedState {
  const { value, context } = snapshot as Persisted;
  const { deadline, rules, pending } = context as unknown as WorkerHealthContext;
  const credit = pending.length === 0 ? 'settled' : 'awaitingCredits';
  const { trusted } = value as { readonly trusted?: { readonly standing: string } };
  const states: Readonly<Record<string, unknown>> = {
    suspect: { suspect: credit },
    evicted: { evicted: 'silent' },
  };
  const isWatched = trusted !== undefined;
  return {
    snapshot: {
      ...(snapshot as Persisted),
      value: isWatched
        ? { trusted: { hearing: {}, standing: trusted.standing, credit, contact: 'heard' } }
        : (states[value as string] ?? value),
      context: { ...context, lastHeardAt: deadline - rules.baseDeadlineMs },
    },
    timers: timers.map(({ id, dueAt }) => ({
      id: id === `${WATCHED}.deadlineLimit.armed` ? `${WATCHED}.contact.heard` : id,
      dueAt,
    })),
  };
}

/** Its operations lie in a table, and those that hold grants are found without going through all. */
function healthToVersion3({ snapshot, timers }: MigratedState): MigratedState {
  const { context, ...others } = snapshot as Persisted;
  const operations = Object.entries(context.operations as Readonly<Record<string, Operation>>);
  let tables = { operations: Table.of<Operation>(), grantHolders: Table.of<string>() };
  for (const [id, operation] of operations) tables = withOperation(tables, id, operation);
  return { snapshot: { ...others, context: { ...context, ...tables } }, timers };
}

/** Registration of a worker's health, as far as its records go. */
export const HEALTH_OPTIONS = {
  version: 3,
  migrate: { 2: healthToVersion2, 3: healthToVersion3 },
};

/** Deadlines keep their names. What is held or in its grace is so from the takeover on that follows. */
function jobToVersion2({ snapshot, timers }: MigratedState): MigratedState {
  const { value, context } = snapshot as Persisted;
  const { status, isFinalKnown } = context as unknown as JobContext;
  const table = tableOf(context.table as WholeTable);
  const regions = { hearing: {}, decisions: {} };
  const { active } = value as { readonly active?: object };
  const ending = {
    ...regions,
    outcome: status,
    stopping: isOver(table) ? 'stopped' : 'underWay',
    telling: isFinalKnown ? 'told' : 'untold',
  };
  const states: Readonly<Record<string, unknown>> = { ending: { ending } };
  return {
    snapshot: {
      ...(snapshot as Persisted),
      value:
        active === undefined
          ? (states[value as string] ?? value)
          : { active: { ...regions, ...active } },
    },
    timers,
  };
}

/** Its workflows lie in rows, and no report of progress is waited for. */
function jobToVersion3({ snapshot, timers }: MigratedState): MigratedState {
  const { context, ...others } = snapshot as Persisted;
  const { reliableReportSeq: _, ackedReportSeq: __, ...kept } = context;
  const table = tableOf(context.table as WholeTable);
  return { snapshot: { ...others, context: { ...kept, table } }, timers };
}

/** Registration of a job, as far as its records go. */
export const JOB_OPTIONS = {
  version: 3,
  migrate: { 2: jobToVersion2, 3: jobToVersion3 },
  forgetsInput: true,
};
