/**
 * Link from a worker's process to actors: what it says until it is taken, as a hint, or as a question.
 *
 * Guarantees: `tell` ends when the receiver has the event on disk or has refused it for good, when
 * its signal is aborted, or with the worker. What was handed over before an abort may still arrive.
 */

import { messageOf, RuntimeError } from '../../../runtime/base/errors.ts';
import type { Logger } from '../../../runtime/base/limits.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { pause } from '../client/pause.ts';

type AnyEvent = { readonly type: string; readonly [field: string]: unknown };

/** Between tries of something that was refused for now; the last one goes on. */
const AGAIN_MS = [1_000, 2_000, 4_000, 5_000] as const;

export class Link {
  readonly #runtime: Runtime;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #ending = new AbortController();

  constructor(runtime: Runtime, clock: Clock, logger: Logger) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Aborted with the worker. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  close(): void {
    this.#ending.abort(new RuntimeError('ABORTED', 'The worker has stopped.'));
  }

  hint(address: string, event: AnyEvent): void {
    if (!this.ended.aborted) this.#runtime.actor(address).hint(event);
  }

  /** Resolves when nothing more is to be done about it. */
  async tell(address: string, event: AnyEvent, signal: AbortSignal = this.ended): Promise<void> {
    for (let tries = 0; !signal.aborted && !this.ended.aborted; tries += 1) {
      try {
        // Without a limit: a report that is sent as another message could be taken twice.
        const options = { signal, timeoutMs: Number.POSITIVE_INFINITY };
        await this.#runtime.actor(address).send(event, options);
        return;
      } catch (thrown) {
        if (signal.aborted || this.ended.aborted) return;
        if (thrown instanceof RuntimeError && thrown.code === 'RUNTIME_STOPPED') return;
        if (!mayRetry(thrown)) {
          // The receiver has ended, or never was: nobody waits for it.
          const fields = { to: address, event: event.type, error: messageOf(thrown) };
          this.#logger.info(fields, 'what a worker had to say was refused');
          return;
        }
      }
      const pauseMs = AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)] as number;
      await pause(this.#clock, pauseMs, signal);
    }
  }

  /** One question, one answer. @throws {RuntimeError} as `ask` of a handle does. */
  ask(address: string, event: AnyEvent, timeoutMs: number, signal: AbortSignal): Promise<unknown> {
    return this.#runtime.actor(address).ask(event, { timeoutMs, signal });
  }
}

function mayRetry(thrown: unknown): boolean {
  return thrown instanceof RuntimeError && thrown.retryable;
}
