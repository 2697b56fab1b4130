/**
 * Remains of jobs that have ended once everything is quiet, in their datacenter, at their gate and on
 * workers.
 */

import { operationParts } from '../../../machines/jobs/addresses.ts';
import type { WorkerContext } from '../../../machines/jobs/worker/context.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import type { WorkerPoolContext } from '../../../machines/jobs/worker-pool.ts';
import { Table } from '../../../runtime/machine.ts';
import { partsOf, type StoredParts, type Verdict, type Watcher } from '../../invariants.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { JobEnds } from './reading-ends.ts';
import type { GateJobContext } from './reading-gate.ts';
import { healedAtMs, isInCore, reunionMs, roundTripMs } from './reading-healed.ts';
import { Losses, Stores } from './reading-stores.ts';
import { deadlinesOf } from './reading-timers.ts';
import { followTurns, type TimersRecord, type TurnRecord, together } from './reading-turns.ts';

/** As its record has it. */
interface StoredHealth extends Pick<WorkerHealthContext, 'creditedJobs'> {
  readonly operations: Readonly<Record<string, object>>;
}

export const leavesNothing: JobsInvariant = {
  id: 'CL-2',
  kind: 'resources',
  says: 'An actor waits for the deadlines of the state that it is in, each once, and for no others; when all is quiet, nothing is left of a job that has ended: no actor, no message, no attempt, no core, no credit.',
  watch: (facts, verdict) => {
    const jobs = new JobEnds();
    const gates = new GateEnds();
    const stores = new Stores();
    const losses = new Losses();
    const attempts = new Attempts();
    const isKept = (place: string): boolean => isInCore(facts, place) && !losses.has(place);
    return together(fittingTimers(verdict), jobs.watch(), gates.watch(), attempts.watch(), losses, {
      commit: stores.commit,
      end(endedAtMs) {
        const quietSinceMs = endedAtMs - quietMs(facts);
        const healed = healedAtMs(facts);
        if (healed === null || healed > quietSinceMs) return;
        const quiet = new Set<string>();
        for (const { context, endedAtMs: at } of jobs.all.values()) {
          const { jobId, datacenter, gateId } = context;
          const isReached = isKept(datacenter) && (gateId === null || isKept(gateId));
          if (isReached && at !== null && at <= quietSinceMs) quiet.add(`${jobId}@${datacenter}`);
        }
        for (const _ of quiet) verdict.exercised();
        for (const what of lost(stores, quiet)) verdict.broken(what);
        for (const what of attempts.left(quiet, isKept)) verdict.broken(what);
        for (const what of gates.open(stores, quietSinceMs, isKept)) verdict.broken(what);
      },
    });
  },
};

/** How long after its end a job may have something left. */
function quietMs(facts: JobsFacts): number {
  const { cancelGraceMs, dispatchAckTimeoutMs, suspectGraceMs, baseDeadlineMs } = facts.config;
  const { settleLimitMs, orphanGraceMs, managerLostMs } = facts.config;
  // Three cancels, each with its wait and its pause, then the grace of the last.
  const windingUpMs = 3 * 5_000 + 3_000 + cancelGraceMs + 5_000 + dispatchAckTimeoutMs;
  const workersMs = baseDeadlineMs + suspectGraceMs + orphanGraceMs + managerLostMs + cancelGraceMs;
  return windingUpMs + workersMs + settleLimitMs + reunionMs(facts) + 2 * roundTripMs(facts);
}

/** Deadlines and states of the same turn. */
function fittingTimers(verdict: Verdict): Watcher {
  let turn: TurnRecord | undefined;
  return {
    turn(record) {
      turn = record;
    },
    timers(record) {
      if (turn === undefined || turn.address !== record.address) return;
      const expected = deadlinesOf(turn.kind, turn.state);
      if (expected === undefined) return;
      const isWhole = record.timers.length === expected.size;
      if (isWhole && record.timers.every(({ id }) => expected.has(id))) return;
      verdict.broken(`${record.address} ${difference(record, expected)}`, record);
    },
  };
}

function difference({ timers }: TimersRecord, expected: ReadonlySet<string>): string {
  const ids = timers.map(({ id }) => id);
  const missing = [...expected].filter((id) => !ids.includes(id));
  const left = ids.filter((id, index) => !expected.has(id) || ids.indexOf(id) !== index);
  return `lacks [${missing.join(', ')}] and waits for [${left.join(', ')}] without need`;
}

/** `j1@A` of the address of a job, or of a workflow of it. */
function jobOf(address: string): string {
  const [, jobId = ''] = address.split(/[/@]/);
  return `${jobId}${address.slice(address.lastIndexOf('@'))}`;
}

/** What the stores still have of jobs that are over. */
function* lost(stores: Stores, quiet: ReadonlySet<string>): Generator<string> {
  const busy = new Set<string>();
  for (const kind of ['job', 'workflow']) {
    for (const [address, text] of stores.ofKind(kind)) {
      const job = jobOf(address);
      const what = quiet.has(job) ? remains(partsOf(text)) : undefined;
      if (what !== undefined) yield `${address} ${what}`;
      if (!quiet.has(job)) busy.add(placeOf(job));
    }
  }
  for (const [address, text] of stores.ofKind('worker-health')) {
    const { operations, creditedJobs } = partsOf(text).snapshot.context as StoredHealth;
    const place = placeOf(address);
    const held = Object.keys(operations).map((id) => id.slice(0, id.indexOf('/')));
    for (const jobId of [...held, ...creditedJobs])
      if (quiet.has(`${jobId}${place}`)) yield `${address} still has something of ${jobId}`;
  }
  for (const [address, text] of stores.ofKind('worker-pool')) {
    const { workers, lanes } = partsOf(text).snapshot.context as WorkerPoolContext;
    const place = placeOf(address);
    for (const { jobId } of Object.values(lanes).flatMap(({ waiting }) => waiting))
      if (quiet.has(`${jobId}${place}`)) yield `${address} still has a request of ${jobId}`;
    const isIdle = !busy.has(place) && [...quiet].some((job) => placeOf(job) === place);
    for (const [workerId, { coresReserved }] of isIdle ? Object.entries(workers) : [])
      if (coresReserved !== 0)
        yield `${address} has ${coresReserved} cores of ${workerId} reserved`;
  }
}

/** With its `@`. */
const placeOf = (address: string): string => address.slice(address.lastIndexOf('@'));

/** What an actor that should be over still has; undefined when it has nothing. */
function remains({ status, timers, outbox }: StoredParts): string | undefined {
  if ((status ?? 'active') === 'active') return 'is alive';
  if (timers !== undefined && timers.length > 0) return `waits for ${timers[0]?.[0]}`;
  return outbox !== undefined && outbox.length > 0
    ? `has a message for ${outbox[0]?.[1]}`
    : undefined;
}

interface BusyWorker {
  readonly node: string;
  readonly place: string;
  readonly datacenter: string;
  /** Attempts that it holds: `j1/w1#1`. */
  readonly attempts: readonly string[];
}

/** Attempts that workers hold, as far as their process is. */
class Attempts {
  readonly #workers = new Map<string, BusyWorker>();

  watch(): Watcher {
    return {
      turn: ({ kind, address, node, place, context }) => {
        if (kind !== 'worker') return;
        const { datacenter, attempts } = context as Pick<WorkerContext, 'datacenter' | 'attempts'>;
        const held = [...Table.of(attempts).keys()];
        this.#workers.set(address, { node, place, datacenter, attempts: held });
      },
      actor: ({ kind, address, change }) => {
        if (kind === 'worker' && change !== 'born') this.#workers.delete(address);
      },
      node: ({ node, change }) => {
        if (change !== 'crashed' && change !== 'stopped' && change !== 'started') return;
        for (const [address, worker] of this.#workers)
          if (worker.node === node) this.#workers.delete(address);
      },
    };
  }

  *left(quiet: ReadonlySet<string>, isKept: (place: string) => boolean): Generator<string> {
    for (const { place, datacenter, attempts } of this.#workers.values())
      for (const attempt of isKept(place) ? attempts : [])
        if (quiet.has(`${operationParts(attempt).jobId}@${datacenter}`))
          yield `${attempt} is held by ${place}`;
  }
}

/** When jobs were seen to have an outcome at their gate. */
class GateEnds {
  readonly #ends = new Map<string, { readonly atMs: number; readonly context: GateJobContext }>();

  watch(): Watcher {
    return followTurns<GateJobContext>('gate-job', {
      took: ({ record: { address, atMs }, context }) => {
        if (context.outcome === null) return;
        this.#ends.set(address, { atMs: this.#ends.get(address)?.atMs ?? atMs, context });
      },
      forgot: (address) => this.#ends.delete(address),
    });
  }

  /** Those that are not closed although every datacenter has had the time to confirm. */
  *open(stores: Stores, sinceMs: number, isKept: (place: string) => boolean): Generator<string> {
    for (const [address, { atMs, context }] of this.#ends) {
      const places = [context.gateId, ...Object.keys(context.datacenters)];
      if (atMs > sinceMs || !places.every(isKept)) continue;
      const stored = stores.find(address);
      const what = stored === undefined ? undefined : remains(stored);
      if (what !== undefined) yield `${address} ${what}`;
    }
  }
}
