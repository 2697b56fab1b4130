/**
 * Counts of a result over the whole run: extensions of workers, refusals, corrections.
 *
 * It counts what the programs note about themselves, as their own counters do, but for the whole
 * run and whatever node it was on: a node's counters begin again with its process.
 */

import type { LogEventName } from '../../../machines/jobs/log-events.ts';
import { WORKER_STATES, type WorkerState } from '../../../machines/jobs/words.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import type { LogFact, RecordOf, TurnFact } from '../../history.ts';
import { datacenterOf } from '../names.ts';
import type { Counters, WorkerEnd } from './result.ts';

/** A decision, a report or an order of somebody who has been succeeded since. */
const STALE_REJECTIONS: ReadonlySet<unknown> = new Set([
  'staleLeaderFence',
  'staleDecision',
  'staleFence',
]);
/** A result, progress or a stop of an attempt, as a worker or its health tells it. */
const ATTEMPT_MESSAGES: ReadonlySet<unknown> = new Set([
  'result.received',
  'progress.received',
  'attempt.progressed',
  'attempt.stopped',
]);

type Fields = Readonly<Record<string, unknown>>;
type Mutable<T> = { -readonly [name in keyof T]: T[name] };

export class Tally {
  readonly #workers = new Map<string, Mutable<WorkerEnd>>();
  readonly #counters: Mutable<Omit<Counters, 'timeoutReports'>> = {
    staleFencesRejected: 0,
    statusCorrections: 0,
    globalTimeoutsDeclared: 0,
    extensionsGranted: 0,
    extensionsDenied: 0,
    staleAttempts: 0,
  };

  counters(timeoutReports: number): Counters {
    return { ...this.#counters, timeoutReports };
  }

  /** Counts of a worker by its own name, as the programs have it. */
  worker(workerId: string): WorkerEnd {
    return { ...this.#worker(workerId) };
  }

  takeTurn({ kind, context, state, error }: RecordOf<TurnFact>): void {
    if (kind !== 'worker-health' || context === undefined || error !== undefined) return;
    const { workerId, registration } = context as WorkerHealthContext;
    if (registration > 0) this.#worker(workerId).health = healthOf(state);
  }

  takeLog({ node, fields }: RecordOf<LogFact>): void {
    const counters = this.#counters;
    const { event, rejection, message } = fields;
    switch (event as LogEventName | undefined) {
      case 'timeout.rejected':
        if (STALE_REJECTIONS.has(rejection)) counters.staleFencesRejected += 1;
        return;
      case 'status.corrected':
        // A gate notes what it makes of a refusal; a correction is what a datacenter sends.
        if (datacenterOf(node) !== undefined) counters.statusCorrections += 1;
        return;
      case 'timeout.declared':
        counters.globalTimeoutsDeclared += 1;
        return;
      case 'workflow.attempt.stale':
        if (ATTEMPT_MESSAGES.has(message)) counters.staleAttempts += 1;
        return;
      case 'extension.granted':
        this.#grant(fields);
        return;
      case 'extension.denied':
        this.#deny(fields);
        return;
    }
  }

  #grant({ workerId, extensionMs }: Fields): void {
    const worker = this.#worker(String(workerId));
    worker.extensions += 1;
    worker.extendedMs += Number(extensionMs);
    this.#counters.extensionsGranted += 1;
  }

  #deny({ workerId, denialReason }: Fields): void {
    const worker = this.#worker(String(workerId));
    worker.denials += 1;
    worker.lastDenial = String(denialReason);
    this.#counters.extensionsDenied += 1;
  }

  #worker(workerId: string): Mutable<WorkerEnd> {
    const known = this.#workers.get(workerId);
    if (known !== undefined) return known;
    const worker = { health: null, extensions: 0, extendedMs: 0, denials: 0, lastDenial: null };
    this.#workers.set(workerId, worker);
    return worker;
  }
}

/** The state is one word, or JSON in which the word stands. */
function healthOf(state: string): WorkerState | null {
  return WORKER_STATES.find((word) => state === word || state.includes(`"${word}"`)) ?? null;
}
