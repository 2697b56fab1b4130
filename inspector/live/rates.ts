/**
 * Rates: samples of a runtime's counters, one a second while somebody looks, kept for an hour.
 */

import type { Series } from '../protocol.ts';
import type { LiveContext } from './live-context.ts';

const SAMPLE_MS = 1_000;
const SAMPLES_MAX = 3_600;
/** Steps of a series at most. */
const STEPS_MAX = 120;

export const RATE_NAMES = ['births', 'ends', 'turns', 'failed', 'timeouts', 'messages'] as const;
export type RateName = (typeof RATE_NAMES)[number];

export class Rates {
  readonly #context: LiveContext;
  /** Counters at each second, the oldest first. */
  #samples: Array<readonly number[]> = [];
  #cancel: (() => void) | undefined;

  constructor(context: LiveContext) {
    this.#context = context;
  }

  start(): void {
    if (this.#cancel === undefined) this.#sample();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#samples = [];
  }

  /** Series of the last part of `windowMs`, as far back as samples go. */
  series(windowMs: number): Readonly<Record<RateName, Series>> {
    const wanted = Math.min(SAMPLES_MAX, Math.max(1, Math.floor(windowMs / SAMPLE_MS)));
    const samples = this.#samples.slice(-(wanted + 1));
    const per = Math.max(1, Math.ceil((samples.length - 1) / STEPS_MAX));
    const series = RATE_NAMES.map((name, index) => {
      const values: number[] = [];
      for (let end = samples.length - 1; end >= per; end -= per) {
        const risen = (samples[end]?.[index] ?? 0) - (samples[end - per]?.[index] ?? 0);
        values.unshift(risen);
      }
      return [name, { stepMs: per * SAMPLE_MS, values }] as const;
    });
    return Object.fromEntries(series) as unknown as Record<RateName, Series>;
  }

  #sample(): void {
    const { runtime, watch } = this.#context;
    const { births, ends, turns, turnsFailed, timersFired, messagesReceived, messagesSent } =
      runtime.metrics();
    this.#samples.push([
      births,
      ends,
      turns,
      turnsFailed,
      timersFired,
      messagesReceived + messagesSent,
    ]);
    if (this.#samples.length > SAMPLES_MAX + 1) this.#samples.shift();
    this.#cancel = watch.later(SAMPLE_MS, () => this.#sample());
  }
}
