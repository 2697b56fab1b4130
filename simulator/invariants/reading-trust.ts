/**
 * Until when each worker may be trusted at most, counted from what its health has heard and granted and
 * not read from its record. After turns that nobody saw the record is believed.
 */

import type { ExtensionAnswer } from '../../machines/jobs/messages/worker.ts';
import type { JobsFacts } from '../jobs/facts.ts';
import type { HealthTurn } from './reading-grants.ts';

export interface Trust {
  /** By the clock of the leader that took the last turn. */
  untilMs: number;
  /** What it is made of, for people. */
  heardAt: number;
  grantedMs: number;
}

/** Signs of life, and what leaders take for one; each gives it the base deadline anew. */
const SIGNS: ReadonlySet<string> = new Set([
  'registration.told',
  'heartbeat.received',
  'announce.answered',
  'attempt.ended',
  'leadership.acquired',
]);

export class TrustOfWorkers {
  readonly #known = new Map<string, Trust>();
  readonly #baseMs: number;

  constructor({ config }: JobsFacts) {
    this.#baseMs = config.baseDeadlineMs;
  }

  /** Before the turn; undefined where nobody knows. */
  of({ record }: HealthTurn): Trust | undefined {
    return this.#known.get(record.address);
  }

  /** The turn has been judged. */
  take({ record, context, before, isBirth }: HealthTurn, answer?: ExtensionAnswer): void {
    const { address, takenAt, event } = record;
    const known = this.#known.get(address);
    if (known === undefined || (before === undefined && !isBirth)) {
      this.#known.set(address, { untilMs: context.deadline, heardAt: takenAt, grantedMs: 0 });
      return;
    }
    if (SIGNS.has(event.type)) {
      // Another leader has another clock: what was granted on the one before it is over with it.
      const isOther = event.type === 'leadership.acquired';
      const untilMs = takenAt + this.#baseMs;
      known.untilMs = isOther ? untilMs : Math.max(known.untilMs, untilMs);
      known.heardAt = takenAt;
      known.grantedMs = 0;
    }
    if (answer?.granted !== true) return;
    known.untilMs += answer.extensionMs;
    known.grantedMs += answer.extensionMs;
  }

  forget(address: string): void {
    this.#known.delete(address);
  }
}
