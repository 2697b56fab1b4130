/**
 * Idle news: tells those who limit the silence of a command that it has printed something, so rarely that it costs little and so soon
 * that its idle limit never runs out too early.
 */

import type { Cancel, Clock } from '../../runtime/ports/clock.ts';

/** Share of the limit that lies between two of them. */
const NEWS_IN_LIMIT = 10;
const LEAST_PAUSE_MS = 5;

export class IdleNews {
  readonly #clock: Clock;
  readonly #pauseMs: number | null;
  readonly #tell: (lastOutputAt: number) => void;
  #lastOutputAt = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, limitMs: number | null, tell: (lastOutputAt: number) => void) {
    this.#clock = clock;
    this.#pauseMs = limitMs === null ? null : Math.max(LEAST_PAUSE_MS, limitMs / NEWS_IN_LIMIT);
    this.#tell = tell;
  }

  seen(): void {
    if (this.#pauseMs === null) return;
    const now = this.#clock.now();
    this.#lastOutputAt = now;
    if (now - this.#toldAt >= this.#pauseMs) this.#send();
    else this.#cancel ??= this.#clock.schedule(this.#toldAt + this.#pauseMs, () => this.#send());
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #send(): void {
    this.close();
    this.#toldAt = this.#clock.now();
    this.#tell(this.#lastOutputAt);
  }
}
