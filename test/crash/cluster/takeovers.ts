/**
 * Time that places had no host: from the kill of one until the next one hosts it.
 *
 * A place that another process stood by for, and one whose own process had to be started again, are
 * two measures. Times are of the clock that all processes of one machine share.
 */

import type { LogRecord } from '../../processes/log-book.ts';
import { placeOf } from '../../processes/process-cluster.ts';

export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export class Takeovers {
  readonly byStandbyMs: number[] = [];
  readonly byRestartMs: number[] = [];
  /** By place. */
  readonly #hosts = new Map<string, string>();
  readonly #killed = new Map<string, { readonly at: number; standsBy: boolean }>();

  /** The places that somebody hosts, and who. */
  get hosts(): ReadonlyMap<string, string> {
    return this.#hosts;
  }

  take({ node, event, at }: LogRecord): void {
    if (event !== 'node.hosting') return;
    const place = placeOf(node);
    const killed = this.#killed.get(place);
    this.#killed.delete(place);
    this.#hosts.set(place, node);
    if (killed === undefined) return;
    const measured = killed.standsBy ? this.byStandbyMs : this.byRestartMs;
    measured.push(Math.max(0, at - killed.at));
  }

  /** `standsBy`: somebody else was ready to take over. */
  kill(node: string, at: number, standsBy: boolean): void {
    const place = placeOf(node);
    const waiting = this.#killed.get(place);
    // Anybody who stood by has died as well before it hosted the place.
    if (waiting !== undefined) waiting.standsBy = false;
    if (this.#hosts.get(place) !== node) return;
    this.#hosts.delete(place);
    this.#killed.set(place, { at, standsBy });
  }
}

export function quantiles(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (share: number): number =>
    Math.round(sorted[Math.ceil(share * (sorted.length - 1))] ?? 0);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
