/**
 * Clocks of the datacenters, as their leaders told a gate last.
 *
 * The time until which a datacenter may begin a job by itself is told in the terms of its own clock, so that
 * no two clocks are ever compared: the leader gave a reading, and gets it back with the time that has passed
 * since. However long a submission is on its way, the datacenter knows by its own clock whether it still may.
 */

import type { ClockReading } from '../../../machines/jobs/messages/fields.ts';
import type { Cancel } from '../../../runtime/ports/clock.ts';
import { pause } from '../client/pause.ts';
import type { GateNode } from './node.ts';
import { viewAt } from './views.ts';

/** Interval in which each datacenter is asked. */
const EVERY_MS = 30_000;
/** Age above which a reading is not believed: clocks drift. */
const AGE_MAX_MS = 120_000;
/** Time for which an answer is waited for; the next question goes out when it is over. */
const PATIENCE_MS = 30_000;

/** A moment that has passed by every clock. */
const OVER: ClockReading = { term: 1, at: 0 };

export class DatacenterClocks {
  readonly #readings = new Map<
    string,
    { readonly reading: ClockReading; readonly heardAt: number }
  >();

  /** A datacenter has said what its clock reads. */
  hear(datacenter: string, reading: ClockReading | undefined, now: number): void {
    if (reading !== undefined) this.#readings.set(datacenter, { reading, heardAt: now });
  }

  /**
   * The moment by the datacenter's clock before which it may begin a job that this gate waits for until
   * `dueAt`: halfway, so that neither drift nor the way back matters. Of an unknown clock it is over.
   */
  beginsBefore(datacenter: string, dueAt: number, now: number): ClockReading {
    const known = this.#readings.get(datacenter);
    if (known === undefined || now - known.heardAt > AGE_MAX_MS) return OVER;
    const { reading, heardAt } = known;
    // It was read before it was heard, so what has passed there since is more, and never less.
    return { term: reading.term, at: reading.at + (now - heardAt) + Math.floor((dueAt - now) / 2) };
  }
}

/** Asks every datacenter for its clock, now and again; the returned function ends it. */
export function readClocks(node: GateNode): Cancel {
  const ending = new AbortController();
  for (const datacenter of node.datacenters) void readClock(node, datacenter, ending.signal);
  return () => ending.abort();
}

async function readClock(node: GateNode, datacenter: string, ending: AbortSignal): Promise<void> {
  const { clock, clocks } = node;
  while (!ending.aborted) {
    const askedAt = clock.now();
    const there = await viewAt(node, datacenter, node.gate, 1, PATIENCE_MS);
    clocks.hear(datacenter, there?.clock, clock.now());
    const restMs = askedAt + EVERY_MS - clock.now();
    if (restMs > 0) await pause(clock, restMs, ending);
  }
}
