/**
 * Gaps in what a gate knows of its datacenters: since when it has lost touch with each, because it was
 * restarted, comes late to a deadline, or has heard nothing; and when it heard of it again.
 *
 * Counted from the turns that it takes, and not from its record.
 */

import { placeOf } from '../../../runtime/base/address.ts';
import type { GateTurn } from './reading-gate.ts';
import { budgetEnd, type HeardJob, isHeardRunning } from './reading-heard-jobs.ts';
import type { TurnRecord } from './reading-turns.ts';

/** Lateness of a word, or of a turn, from which on it speaks of how things were. */
export const WAITED_MS = 1_000;

/** When the gate lost touch with a datacenter, and when it heard of it again; in true time. */
interface Gap {
  readonly sinceMs: number;
  contactMs: number | undefined;
}

/** The gaps of a gate's jobs: by its own restarts, by its lateness, and by the silence of datacenters. */
export class Gaps {
  /** Gaps by address of the gate's job and datacenter. */
  readonly #gaps = new Map<string, Gap>();
  readonly #heardAt = new Map<string, number>();

  of(address: string, datacenter: string): Gap | undefined {
    return this.#gaps.get(`${address} ${datacenter}`);
  }

  forget(address: string): void {
    for (const map of [this.#gaps, this.#heardAt])
      for (const key of [...map.keys()]) if (key.startsWith(`${address} `)) map.delete(key);
  }

  /**
   * The gate comes late to the end of the budget: what it has heard of these before is history. It is not late
   * for those whom it has listened to since a restart, for as long as it has to.
   */
  late(address: string, names: readonly string[], atMs: number, listensMs: number): void {
    for (const name of names) {
      const { sinceMs, contactMs } = this.of(address, name) ?? { sinceMs: 0, contactMs: 0 };
      if (contactMs === undefined && atMs <= sinceMs + listensMs + WAITED_MS) continue;
      this.#gaps.set(`${address} ${name}`, { sinceMs: atMs, contactMs: undefined });
    }
  }

  /** True when the turn hears a datacenter again. */
  take({ record, context, before }: GateTurn): boolean {
    const { address, event, from, atMs, takenAt } = record;
    const isNewHolder =
      event.type === 'leadership.acquired' &&
      before !== undefined &&
      context.fence > before.context.fence;
    if (isNewHolder)
      for (const name of Object.keys(context.datacenters))
        this.#gaps.set(`${address} ${name}`, { sinceMs: atMs, contactMs: undefined });
    const name = speakerOf(record);
    if (name === undefined) return false;
    const key = `${address} ${name}`;
    const heardAt = this.#heardAt.get(key);
    this.#heardAt.set(key, takenAt);
    const silentAfterMs = context.rules?.silentAfterMs ?? Number.POSITIVE_INFINITY;
    const wasSilent = heardAt !== undefined && takenAt - heardAt > silentAfterMs;
    const gap = this.#gaps.get(key);
    if (wasSilent) this.#gaps.set(key, { sinceMs: atMs, contactMs: atMs });
    else if (gap !== undefined && gap.contactMs === undefined) gap.contactMs = atMs;
    else return false;
    return from !== undefined;
  }
}

/** The datacenter whose job said what the turn has taken, if one did. */
function speakerOf({ event, from }: TurnRecord): string | undefined {
  if (from?.startsWith('job/')) return placeOf(from);
  const { figures, datacenter } = event as {
    readonly figures?: object;
    readonly datacenter?: string;
  };
  return figures === undefined ? undefined : datacenter;
}

/** The first turn after the end of the budget comes so long after it that the gate was not there. */
export function comesLate(
  { dueAt, asOf }: { readonly dueAt: number; readonly asOf: number },
  job: HeardJob,
  { record: { takenAt }, before }: GateTurn,
): boolean {
  const isUndecided = before !== undefined && before.context.decision === null;
  const isDue = takenAt > Math.max(dueAt, budgetEnd(job)) + WAITED_MS;
  return isUndecided && isDue && asOf <= dueAt;
}

/** Running datacenters that were in touch then. */
export const heardUntil = (dueAt: number, job: HeardJob): readonly string[] =>
  running(job).filter((name) => {
    const { heardAt = 0 } = job.datacenters.get(name) ?? {};
    return heardAt >= dueAt - job.terms.silentAfterMs;
  });

export const running = (job: HeardJob): readonly string[] =>
  [...job.datacenters].filter(([, one]) => isHeardRunning(one)).map(([name]) => name);
