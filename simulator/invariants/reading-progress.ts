/**
 * When a job got further the last time, and since when its leader leads: counted from the events
 * that it took, not read from its record.
 *
 * Times are those of the leader's own clock. Where turns were not seen the count goes on from the
 * record that was found behind them.
 */

import type { JobContext } from '../../machines/jobs/job.ts';
import { graceMs } from './reading-deadlines.ts';
import { type JobStep, PerActor } from './reading-jobs.ts';

export interface Progress {
  lastAt: number;
  /** The event that said so. */
  lastBy: string;
  /** Nobody is found stuck before the end of the grace after a takeover. */
  graceUntil: number;
  /** When the leader took over; undefined while the job has had only one. */
  ledSince: number | undefined;
}

interface TakenEvent {
  readonly type: string;
  readonly sinceProgressMs?: number;
  readonly creditId?: string;
}

export class ProgressOfJobs {
  readonly #known = new PerActor<JobContext, Progress>(({ after, before = after }) => ({
    lastAt: before.lastProgressAt,
    lastBy: 'its acceptance',
    graceUntil: before.stuckGraceUntil,
    ledSince: undefined,
  }));

  /** As it is after the step. */
  take(step: JobStep): Progress {
    const { before, after, record, hasGap } = step;
    const known = this.#known.of(step);
    if (hasGap || before === undefined) {
      const { lastProgressAt, stuckGraceUntil } = before ?? after;
      known.lastAt = lastProgressAt;
      known.graceUntil = stuckGraceUntil;
    }
    if (before === undefined) return known;
    const { takenAt } = record;
    const event = record.event as TakenEvent;
    if (isTakeover(step)) {
      // A clock that is behind: what was noted on the one before keeps its age.
      known.lastAt += Math.min(0, takenAt - before.seenAt);
      known.graceUntil = takenAt + graceMs(before);
      known.ledSince = takenAt;
    }
    const at = progressAt(step, event);
    if (at <= known.lastAt) return known;
    known.lastAt = at;
    known.lastBy = `${event.type} of ${record.from ?? 'itself'} at ${takenAt}`;
    return known;
  }

  forget(place: string): void {
    this.#known.forget(place);
  }
}

/** The job has a new leader with this step. What the runtime told it is not in the record of the turn. */
export function isTakeover({ before, stateBefore, after, record }: JobStep): boolean {
  if (record.event.type !== 'leadership.acquired' || before === undefined) return false;
  // One that is not accepted yet has no leader: it only learns whose node it is on.
  return stateBefore !== 'assembling' && after.term > before.term;
}

/** When the job got further by this step; the beginning of time when it did not. */
function progressAt({ before, stateBefore, after, record }: JobStep, event: TakenEvent): number {
  const { takenAt } = record;
  const none = Number.NEGATIVE_INFINITY;
  if (before === undefined) return none;
  switch (event.type) {
    case 'job.assembled':
      return stateBefore === 'assembling' ? takenAt : none;
    case 'workflow.changed':
      return takenAt;
    case 'message.refused':
      return after.table.standing === before.table.standing ? none : takenAt;
    case 'workflow.progressed':
      return takenAt - (event.sinceProgressMs ?? 0);
    case 'extension.credited': {
      const isDecided = before.timeoutReportedAt !== null || before.endedAt !== null;
      return isDecided || before.creditIds.includes(event.creditId ?? '') ? none : takenAt;
    }
    case 'job.extend':
      return after.operatorCredits.length > before.operatorCredits.length ? takenAt : none;
    default:
      return none;
  }
}
