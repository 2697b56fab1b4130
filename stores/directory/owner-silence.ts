/**
 * Silence of the owner of a directory: the time without a sign, as another process saw it.
 *
 * Guarantees: only time during which we looked counts. If the watcher itself was paused, the gap
 * counts as one look, because the owner may have been paused together with it and is about to
 * go on. Clocks of two processes are never compared: a beat is a changed file, not a time.
 */

import type { OwnerSighting } from './owner-file.ts';

export class OwnerSilence {
  readonly #gapMaxMs: number;
  #mark: string | undefined;
  #lookedAt = 0;
  #silentMs = 0;

  /** A gap between two looks counts as `gapMaxMs` at most. */
  constructor(gapMaxMs: number) {
    this.#gapMaxMs = gapMaxMs;
  }

  /** Takes note of what was seen at `at`, and says for how long nothing has changed. */
  look(sighting: OwnerSighting | undefined, at: number): number {
    if (sighting === undefined || sighting.mark !== this.#mark) this.#silentMs = 0;
    else this.#silentMs += Math.min(at - this.#lookedAt, this.#gapMaxMs);
    this.#mark = sighting?.mark;
    this.#lookedAt = at;
    return this.#silentMs;
  }
}
