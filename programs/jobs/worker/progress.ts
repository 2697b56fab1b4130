/**
 * Progress of one run: checked where the handler says it, sent at once, and kept for heartbeats.
 *
 * At most one message a second leaves, the last word is never lost while the run goes on, and what
 * is no progress is refused at the handler and changes nothing.
 */

import type { ProgressFigures } from '../../../machines/jobs/worker/attempts.ts';
import { excerpt, RuntimeError } from '../../../runtime/base/errors.ts';
import type { Cancel, Clock } from '../../../runtime/ports/clock.ts';
import type { ReportedProgress } from './handlers.ts';

type Figures = Omit<ProgressFigures, 'sinceProgressMs'>;

const SEND_PAUSE_MS = 1_000;
const NONE: Figures = { progress: 0 };

export class Progress {
  readonly #clock: Clock;
  readonly #run: { sendProgress(figures: ProgressFigures): void };
  #figures: Figures = NONE;
  /** Time at which it last rose. */
  #risenAt: number;
  #sentAt = Number.NEGATIVE_INFINITY;
  #cancelSend: Cancel | undefined;
  #isNews = false;
  #isClosed = false;

  constructor(clock: Clock, run: { sendProgress(figures: ProgressFigures): void }) {
    this.#clock = clock;
    this.#run = run;
    this.#risenAt = clock.now();
  }

  /** True when it rose since it was told last. */
  get isNews(): boolean {
    return this.#isNews;
  }

  /** Tells how far the run is, in a heartbeat. */
  tell(): ProgressFigures {
    this.#isNews = false;
    return this.figures;
  }

  get figures(): ProgressFigures {
    return { ...this.#figures, sinceProgressMs: this.#clock.now() - this.#risenAt };
  }

  /** @throws {RuntimeError} PROGRESS_INVALID */
  report(reported: number | ReportedProgress): void {
    const figures = checked(reported);
    if (this.#isClosed) return;
    if (hasRisen(this.#figures, figures)) {
      this.#risenAt = this.#clock.now();
      this.#isNews = true;
    }
    this.#figures = figures;
    if (this.#cancelSend !== undefined) return;
    const dueAt = this.#sentAt + SEND_PAUSE_MS;
    if (dueAt <= this.#clock.now()) this.#sendNow();
    else this.#cancelSend = this.#clock.schedule(dueAt, () => this.#sendNow());
  }

  /** Nothing is taken or sent any more: what follows says more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelSend?.();
    this.#cancelSend = undefined;
  }

  #sendNow(): void {
    this.#cancelSend = undefined;
    this.#sentAt = this.#clock.now();
    this.#run.sendProgress(this.figures);
  }
}

function checked(reported: number | ReportedProgress): Figures {
  const given = typeof reported === 'number' ? { progress: reported } : (reported ?? {});
  const { completedItems, totalItems } = given;
  for (const [name, items] of Object.entries({ completedItems, totalItems }))
    if (items !== undefined && !(Number.isSafeInteger(items) && items >= 0))
      throw refusal(`"${name}" is a whole number of 0 or more`, items);
  const progress = given.progress ?? shareOf(completedItems, totalItems);
  if (typeof progress !== 'number' || !(progress >= 0 && progress <= 1))
    throw refusal('progress is a number from 0 to 1', progress);
  return {
    progress,
    ...(completedItems !== undefined && { completedItems }),
    ...(totalItems !== undefined && { totalItems }),
  };
}

function shareOf(completed: number | undefined, total: number | undefined): number | undefined {
  if (completed === undefined || total === undefined) return undefined;
  return total === 0 ? 1 : completed / total;
}

/** True when it rose: by items where both sides have them. */
function hasRisen(before: Figures, now: Figures): boolean {
  return before.completedItems !== undefined && now.completedItems !== undefined
    ? now.completedItems > before.completedItems
    : now.progress > before.progress;
}

function refusal(what: string, got: unknown): RuntimeError {
  const shown = typeof got === 'number' ? String(got) : excerpt(got);
  return new RuntimeError('PROGRESS_INVALID', `Reported ${what}, got ${shown}.`);
}
