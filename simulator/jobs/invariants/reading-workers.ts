/**
 * Knowledge that a worker's health must have of its worker, counted from the messages that it took, the
 * answers that it gave and the configuration, and not read from its record: its registration, its deadline,
 * the attempts that it has, and what each of them was granted.
 *
 * Written from the specification. Grants are counted for each attempt since it was placed, or since a worker
 * that was suspect was heard again; nothing else restarts the count. After turns that nobody saw the record
 * is believed.
 */

import { operationIdOf } from '../../../machines/jobs/addresses.ts';
import type {
  AttemptEnded,
  AttemptPlaced,
  AttemptRunning,
  RegistrationTold,
} from '../../../machines/jobs/messages/local.ts';
import type {
  AnnounceAnswered,
  ExtensionAnswer,
  ExtensionRequested,
  HeartbeatReceived,
} from '../../../machines/jobs/messages/worker.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import { eventOf, type TakenTurn } from './reading-turns.ts';

export type HealthTurn = TakenTurn<WorkerHealthContext>;

/** What an attempt was granted so far. */
export interface Granted {
  readonly grants: number;
  readonly sumMs: number;
  /** At the last grant; null when it was not said then. */
  readonly progress: number;
  readonly completedItems: number | null;
}

export interface HeldAttempt {
  /** The last heartbeat sent before the worker took it; undefined until it did. */
  readonly takenAfter: number | undefined;
  readonly granted: Granted | undefined;
}

export interface HeldWorker {
  registration: number;
  bootEpoch: number;
  /** Moment by the clock of the leader that took the last turn. */
  deadline: number;
  /** The last word of the worker, or the takeover, until which nobody listened. */
  lastHeardAt: number;
  readonly attempts: Map<string, HeldAttempt>;
  /** Attempts in a heartbeat whose other pages are still to come. */
  listed: { readonly seq: number; readonly pages: Set<number>; readonly ids: Set<string> };
}

export const isTrusted = (state: string): boolean => state.startsWith('{"trusted"');
export const isSuspect = (state: string): boolean => state.startsWith('{"suspect"');
export const isEvicted = (state: string): boolean => state.startsWith('{"evicted"');
const isRegistered = (state: string): boolean => isTrusted(state) || isSuspect(state);

/** The n-th grant of one attempt, first is 0. */
export const grantMs = (n: number, baseMs: number, minMs: number): number =>
  Math.max(minMs, Math.floor(baseMs / 2 ** n));

/** The first N grants of one attempt together. */
export function sumOf(grants: number, baseMs: number, minMs: number): number {
  let sumMs = 0;
  for (let n = 0; n < grants; n += 1) sumMs += grantMs(n, baseMs, minMs);
  return sumMs;
}

export class HeldWorkers {
  readonly #known = new Map<string, HeldWorker>();
  readonly #config: JobsConfiguration;

  constructor(config: JobsConfiguration) {
    this.#config = config;
  }

  /** Before the turn, or after it once that was taken; undefined where nobody knows. */
  of(address: string): HeldWorker | undefined {
    return this.#known.get(address);
  }

  /** A turn, once it has been judged, and what it answered to a request that is new. */
  take(turn: HealthTurn, answer?: ExtensionAnswer): void {
    const { record, context, before, isSpawn } = turn;
    const known = this.#known.get(record.address);
    if (known === undefined || (before === undefined && !isSpawn)) {
      this.#known.set(record.address, this.#believed(context));
      return;
    }
    this.#hear(known, turn);
    if (answer?.granted === true) grow(known, turn, answer);
    if (isEvicted(record.state)) known.attempts.clear();
  }

  forget(address: string): void {
    this.#known.delete(address);
  }

  #hear(known: HeldWorker, { record, before }: HealthTurn): void {
    const { takenAt } = record;
    const wasRegistered = before !== undefined && isRegistered(before.state);
    const told = eventOf<RegistrationTold>(record, 'registration.told');
    const isNew = told !== undefined && told.registration !== known.registration;
    if (isNew) {
      const { registration, bootEpoch } = told;
      Object.assign(known, { registration, bootEpoch, deadline: 0, listed: NOTHING_LISTED() });
      known.attempts.clear();
    }
    const wasSuspect = before !== undefined && isSuspect(before.state);
    const isTakeover = record.event.type === 'leadership.acquired';
    // Who was suspect and says something starts again; a leader that is new only listens again.
    if (wasSuspect && isTrusted(record.state) && !isTakeover && !isNew) {
      known.deadline = 0;
      for (const [id, { takenAfter }] of known.attempts)
        known.attempts.set(id, { takenAfter, granted: undefined });
    }
    if (told !== undefined || (isTakeover && wasRegistered)) this.#trust(known, takenAt);
    if (!wasRegistered) return;
    const answered = eventOf<AnnounceAnswered>(record, 'announce.answered');
    const isItsWord = answered !== undefined && answered.bootEpoch === known.bootEpoch;
    if (isItsWord && !wasSuspect) known.lastHeardAt = takenAt;
    const heartbeat = eventOf<HeartbeatReceived>(record, 'heartbeat.received');
    if (heartbeat !== undefined && heartbeat.bootEpoch === known.bootEpoch)
      this.#beat(known, heartbeat, takenAt);
    this.#attempt(known, record);
  }

  #attempt(known: HeldWorker, record: HealthTurn['record']): void {
    const { event, takenAt } = record;
    const { registration, jobId, attemptId } = event as AttemptPlaced;
    if (registration !== known.registration) return;
    const id = operationIdOf(jobId, attemptId);
    const held = known.attempts.get(id);
    if (event.type === 'attempt.placed')
      known.attempts.set(id, { takenAfter: undefined, granted: undefined });
    const running = eventOf<AttemptRunning>(record, 'attempt.running');
    const ended = eventOf<AttemptEnded>(record, 'attempt.ended');
    if (running !== undefined || ended?.heard === true) known.lastHeardAt = takenAt;
    if (held === undefined) return;
    if (running !== undefined)
      known.attempts.set(id, { ...held, takenAfter: running.heartbeatSeq });
    if (ended === undefined) return;
    known.attempts.delete(id);
    this.#rebase(known);
  }

  /** What it does not list any more in its range is gone, once all its pages are there. */
  #beat(known: HeldWorker, heartbeat: HeartbeatReceived, takenAt: number): void {
    const { heartbeatSeq, page, pages, attempts, range } = heartbeat;
    this.#trust(known, takenAt);
    if (known.listed.seq !== heartbeatSeq)
      known.listed = { ...NOTHING_LISTED(), seq: heartbeatSeq };
    known.listed.pages.add(page);
    for (const { jobId, attemptId } of attempts)
      known.listed.ids.add(operationIdOf(jobId, attemptId));
    if (known.listed.pages.size < pages) return;
    const { ids } = known.listed;
    known.listed = NOTHING_LISTED();
    const missing = [...known.attempts].filter(
      ([id, { takenAfter }]) =>
        takenAfter !== undefined &&
        takenAfter < heartbeatSeq &&
        !ids.has(id) &&
        id >= (range?.from ?? '') &&
        (range?.to == null || id < range.to),
    );
    for (const [id] of missing) known.attempts.delete(id);
    if (missing.length > 0) this.#rebase(known);
  }

  /** What it was granted stays granted: no sign of life brings a deadline nearer. */
  #trust(known: HeldWorker, takenAt: number): void {
    known.deadline = Math.max(known.deadline, takenAt + this.#config.baseDeadlineMs);
    known.lastHeardAt = takenAt;
  }

  /** Once nothing it has holds grants, its last word is all that counts. */
  #rebase(known: HeldWorker): void {
    for (const { granted } of known.attempts.values()) if (granted !== undefined) return;
    known.deadline = Math.min(known.deadline, known.lastHeardAt + this.#config.baseDeadlineMs);
  }

  #believed(context: WorkerHealthContext): HeldWorker {
    const { registration, bootEpoch, deadline, lastHeardAt, operations, listed } = context;
    const { baseDeadlineMs, minGrantMs } = this.#config;
    const attempts = [...operations].map(([id, one]): [string, HeldAttempt] => {
      const { heartbeatSeq, grants = 0, grantedProgress = 0, grantedItems = null } = one;
      const sumMs = sumOf(grants, baseDeadlineMs, minGrantMs);
      const granted = { grants, sumMs, progress: grantedProgress, completedItems: grantedItems };
      return [id, { takenAfter: heartbeatSeq, granted: grants > 0 ? granted : undefined }];
    });
    const { heartbeatSeq: seq = -1, pages = [], ids = [] } = listed ?? {};
    return {
      ...{ registration, bootEpoch, deadline, lastHeardAt },
      attempts: new Map(attempts),
      listed: { seq, pages: new Set(pages), ids: new Set(ids) },
    };
  }
}

const NOTHING_LISTED = (): HeldWorker['listed'] => ({ seq: -1, pages: new Set(), ids: new Set() });

function grow(known: HeldWorker, { record }: HealthTurn, { extensionMs }: ExtensionAnswer): void {
  const { operationId, currentProgress, completedItems } =
    record.event as unknown as ExtensionRequested;
  known.deadline += extensionMs;
  const { takenAfter, granted } = known.attempts.get(operationId) ?? {};
  known.attempts.set(operationId, {
    takenAfter,
    granted: {
      grants: (granted?.grants ?? 0) + 1,
      sumMs: (granted?.sumMs ?? 0) + extensionMs,
      progress: Number(currentProgress),
      completedItems: completedItems ?? null,
    },
  });
}
