/**
 * Distance of the wall clocks of nodes from true time, as their lives tell it.
 *
 * A node that has told nothing is taken to be right. Times of different nodes are compared in true
 * time only, and only as differences: when zero was, by any clock, nobody needs to know.
 */

import type { HistoryRecord } from '../../history.ts';
import type { TurnRecord } from './reading-steps.ts';

type NodeRecord = Extract<HistoryRecord, { readonly type: 'node' }>;

interface Off {
  /** How far it was ahead at a moment, and how many millionths it gains since. */
  readonly aheadMs: number;
  readonly driftPpm: number;
  readonly atMs: number;
}

export class Clocks {
  readonly #off = new Map<string, Off>();
  #hasDrift = false;

  node({ node, change, skewMs, driftPpm, atMs }: NodeRecord): void {
    const off = this.#off.get(node);
    // A clock is set when its node starts; from there on only its pace changes, and that at once.
    if (change === 'started') this.#off.set(node, { aheadMs: skewMs, driftPpm, atMs });
    else if (off !== undefined)
      this.#off.set(node, { aheadMs: aheadAt(off, atMs), driftPpm, atMs });
    if (driftPpm !== 0) this.#hasDrift = true;
  }

  /** When the turn was taken: true time, counted from a moment that is the same for all turns. */
  trueTime({ node, takenAt, atMs }: TurnRecord): number {
    const off = this.#off.get(node);
    return off === undefined ? takenAt : takenAt - aheadAt(off, atMs);
  }

  /**
   * How far a duration that several leaders measured, one after the other, may be off: two clocks
   * may be wrong in opposite directions, and where clocks drift every leader may add to it.
   */
  slackMs(epsilonMs: number, leaders: number): number {
    return 2 * epsilonMs * (this.#hasDrift ? leaders : 1);
  }
}

const aheadAt = ({ aheadMs, driftPpm, atMs }: Off, laterMs: number): number =>
  aheadMs + ((laterMs - atMs) * driftPpm) / 1_000_000;
