/**
 * Until when each worker may be trusted at most, reckoned from its own words, from what it was granted
 * and from which attempts are over, never from the deadline in its record. After turns that nobody saw
 * the record is believed.
 *
 * Only what a worker says itself puts its deadline off. What its manager decides alone may bring the
 * deadline nearer, and never moves it further away.
 */

import { operationIdOf } from '../../../machines/jobs/addresses.ts';
import type { AttemptEnded, RegistrationTold } from '../../../machines/jobs/messages/local.ts';
import type { ExtensionAnswer } from '../../../machines/jobs/messages/worker.ts';
import { placeOf } from '../../../runtime/base/address.ts';
import type { JobsFacts } from '../facts.ts';
import { eventOf, type TurnRecord } from './reading-turns.ts';
import type { HealthTurn } from './reading-workers.ts';

export interface Trust {
  /** Moment by the clock of the leader that took the last turn. */
  untilMs: number;
  /** Its last word, at whichever leader. A takeover counts as one: until then nobody listened. */
  heardAt: number;
  /** Granted since then, for people. */
  grantedMs: number;
  registration: number;
  bootEpoch: number;
  /** Attempts that hold grants. */
  readonly granted: Set<string>;
  /** An attempt was given to it, or given up, when it should have been heard again. */
  isOfferedWork: boolean;
}

/** What a worker says to the workflows whose attempts it has. */
const WORDS_TO_WORKFLOWS: ReadonlySet<string> = new Set([
  'dispatch.answered',
  'progress.received',
  'result.received',
  'cancel.answered',
  'attempt.stopped',
]);

export class TrustOfWorkers {
  readonly #known = new Map<string, Trust>();
  readonly #baseMs: number;
  readonly #heartbeatMs: number;

  constructor({ config }: JobsFacts) {
    this.#baseMs = config.baseDeadlineMs;
    this.#heartbeatMs = config.heartbeatIntervalMs;
  }

  /** Before the turn, or after it once that was taken; undefined where nobody knows. */
  of(address: string): Trust | undefined {
    return this.#known.get(address);
  }

  /** Any turn: a workflow may have heard the worker. */
  hear({ kind, address, event, takenAt }: TurnRecord): void {
    if (kind !== 'workflow' || !WORDS_TO_WORKFLOWS.has(event.type)) return;
    const { workerId } = event as { readonly workerId?: string };
    const known = this.#known.get(`worker-health/${workerId}@${placeOf(address)}`);
    if (known !== undefined) heard(known, takenAt);
  }

  /** A turn of a worker's health, once it has been judged. */
  take(turn: HealthTurn, answer?: ExtensionAnswer): void {
    const { record, context, before, isSpawn } = turn;
    const { address, takenAt } = record;
    const known = this.#known.get(address);
    if (known === undefined || (before === undefined && !isSpawn)) {
      const { deadline, registration, bootEpoch, operations } = context;
      const holders = [...operations].filter(([, { grants = 0 }]) => grants > 0);
      this.#known.set(address, {
        untilMs: deadline,
        heardAt: takenAt,
        grantedMs: 0,
        registration,
        bootEpoch,
        granted: new Set(holders.map(([operationId]) => operationId)),
        isOfferedWork: false,
      });
      return;
    }
    this.#takeEvent(known, turn);
    if (answer?.granted !== true) return;
    known.untilMs += answer.extensionMs;
    known.grantedMs += answer.extensionMs;
    const { operationId } = record.event as unknown as { readonly operationId: string };
    known.granted.add(operationId);
  }

  forget(address: string): void {
    this.#known.delete(address);
  }

  #takeEvent(known: Trust, { record }: HealthTurn): void {
    const { event, takenAt } = record;
    const told = eventOf<RegistrationTold>(record, 'registration.told');
    if (told !== undefined && told.registration !== known.registration) {
      const { registration, bootEpoch } = told;
      Object.assign(known, { registration, bootEpoch, untilMs: Number.NEGATIVE_INFINITY });
      known.granted.clear();
    }
    const isThisLife = 'bootEpoch' in event && event.bootEpoch === known.bootEpoch;
    if (isThisLife && event.type === 'announce.answered') heard(known, takenAt);
    if (isThisLife && event.type === 'heartbeat.received') this.#trust(known, takenAt);
    if (told !== undefined || event.type === 'leadership.acquired') this.#trust(known, takenAt);
    const ended = eventOf<AttemptEnded>(record, 'attempt.ended');
    if (ended?.registration === known.registration) this.#end(known, ended, takenAt);
    if (ended !== undefined || event.type === 'attempt.placed')
      known.isOfferedWork ||= takenAt > known.heardAt + this.#heartbeatMs;
  }

  /** Once nothing it has holds grants, its last word is all that counts, from that moment on. */
  #end(known: Trust, { jobId, attemptId }: AttemptEnded, takenAt: number): void {
    known.granted.delete(operationIdOf(jobId, attemptId));
    if (known.granted.size > 0) return;
    const byItsWordMs = known.heardAt + this.#baseMs;
    known.untilMs = Math.min(known.untilMs, Math.max(takenAt, byItsWordMs));
  }

  /** What it was granted stays granted: no sign of life brings a deadline nearer. */
  #trust(known: Trust, takenAt: number): void {
    known.untilMs = Math.max(known.untilMs, takenAt + this.#baseMs);
    heard(known, takenAt);
  }
}

function heard(known: Trust, takenAt: number): void {
  known.heardAt = takenAt;
  known.grantedMs = 0;
  known.isOfferedWork = false;
}
