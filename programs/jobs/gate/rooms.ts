/**
 * Rooms: which datacenters have said that they take no more jobs, so that a gate does not take them either.
 *
 *   open ──refused──▶ full ──the refused jobs were all taken──▶ open
 *                      │ ▲
 *      its time is up  ▼ │ the job that was let through is refused
 *                     trying ──it was taken──▶ open
 *
 * Guarantees: while jobs that were taken here are refused there, no further ones are taken for it, so what
 * becomes free there is theirs. Jobs wait at a gate for as long as dispatching may take, and no longer.
 */

interface Room {
  /** Before that nothing new is tried. */
  until: number;
  /** Jobs that this gate has taken and that were refused there. */
  readonly held: Set<string>;
}

const AT_LEAST_MS = 1_000;
const DEFAULT_MS = 5_000;

export class Rooms {
  readonly #byDatacenter = new Map<string, Room>();

  /** The datacenter has too much to do. */
  refused(
    datacenter: string,
    jobId: string,
    { now, retryAfterMs = DEFAULT_MS }: { readonly now: number; readonly retryAfterMs?: number },
  ): void {
    const room = this.#byDatacenter.get(datacenter) ?? { until: 0, held: new Set() };
    room.held.add(jobId);
    room.until = Math.max(room.until, now + retryAfterMs);
    this.#byDatacenter.set(datacenter, room);
  }

  /** It was taken there, or is not tried any more. */
  settled(datacenter: string, jobId: string, isTaken: boolean): void {
    const room = this.#byDatacenter.get(datacenter);
    room?.held.delete(jobId);
    if (isTaken && room?.held.size === 0) this.#byDatacenter.delete(datacenter);
  }

  /**
   * After which time a job for these is worth trying again; undefined when one of them may take it. Where
   * nobody knows, one is let through to see.
   */
  retryAfterMs(datacenters: readonly string[], now: number): number | undefined {
    const rooms = datacenters.map((name) => this.#byDatacenter.get(name));
    const full = rooms.filter((room) => room !== undefined);
    if (full.length < rooms.length || full.length === 0) return undefined;
    if (full.every((room) => room.held.size > 0 || room.until > now))
      return Math.max(AT_LEAST_MS, Math.min(...full.map(({ until }) => until - now)));
    for (const room of full) room.until = Math.max(room.until, now + AT_LEAST_MS);
    return undefined;
  }
}
