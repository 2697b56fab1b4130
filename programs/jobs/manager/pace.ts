/**
 * Pace of a datacenter: the time it takes for one workflow while others wait, which prices a backlog.
 *
 * Time counts while something waits, and runs of work count whenever they end: where nobody waits,
 * nobody says how much more could be done. What is under way without an end makes it slower, so a
 * datacenter whose workers are gone is not taken for as fast as it was. It costs the same however
 * much waits.
 */

import { knob } from '../../../runtime/base/knob.ts';

/** Ends that it goes by: enough for a mean, few enough to follow a change within seconds. */
const ENDS_MAX = knob('paceEndsMax', 256);

export class Pace {
  /** Busy time at each of the last ends, after that at which the first of them began to count. */
  readonly #ends: number[] = [0];
  #busyMs = 0;
  /** Time since which something waits; undefined while nothing does. */
  #busySince: number | undefined;

  /** Something waits from now on, or nothing does any more. */
  wait(isWaiting: boolean, now: number): void {
    if (isWaiting === (this.#busySince !== undefined)) return;
    this.#busyMs = this.#busyAt(now);
    this.#busySince = isWaiting ? now : undefined;
  }

  /** A run has ended. */
  end(now: number): void {
    this.#ends.push(this.#busyAt(now));
    if (this.#ends.length > ENDS_MAX.value + 1) this.#ends.shift();
  }

  /** Milliseconds of each workflow that waits; undefined before the first end. */
  msPerWorkflow(now: number): number | undefined {
    const count = this.#ends.length - 1;
    return count === 0 ? undefined : (this.#busyAt(now) - (this.#ends[0] as number)) / count;
  }

  #busyAt(now: number): number {
    const since = this.#busySince;
    return since === undefined ? this.#busyMs : this.#busyMs + Math.max(0, now - since);
  }
}
