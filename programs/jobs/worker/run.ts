/**
 * Run: one handler at work, with what it is given, its progress, and its end.
 *
 * The outcome is told once. A run that was abandoned is told nothing more and tells nothing more:
 * its handler may go on for ever, and nobody listens.
 */

import { operationIdOf, workflowAddress, workflowIdOf } from '../../../machines/jobs/addresses.ts';
import type { HandlerOutcome, RunParams } from '../../../machines/jobs/attempt.ts';
import type { ExtensionAnswer } from '../../../machines/jobs/messages/worker.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import type { Logger } from '../../../runtime/base/limits.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { ExtensionWish, Handler, HandlerContext } from './handlers.ts';
import type { Link } from './link.ts';
import { failed, succeeded } from './outcome.ts';
import { Progress } from './progress.ts';

export interface RunServices {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly link: Link;
  extend(run: Run, wish: ExtensionWish): Promise<ExtensionAnswer>;
}

export class Run {
  readonly operationId: string;
  readonly params: RunParams;
  readonly startedAt: number;
  readonly progress: Progress;
  /** Aborted when nobody waits for its report any more. */
  readonly closing = new AbortController();
  isOver = false;
  readonly #services: RunServices;
  readonly #abort = new AbortController();

  constructor(params: RunParams, services: RunServices) {
    const { workerId, jobId, attemptId, datacenter } = params;
    this.params = params;
    this.operationId = operationIdOf(jobId, attemptId);
    this.startedAt = services.clock.now();
    this.#services = services;
    const workflow = workflowAddress(jobId, workflowIdOf(attemptId), datacenter);
    this.progress = new Progress(services.clock, (figures) => {
      const named = { type: 'progress.received', workerId, jobId, attemptId };
      services.link.hint(workflow, { ...named, ...figures });
    });
  }

  /** Aborted when the handler is to stop. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Begins; `ended` is called once, unless the run is abandoned before. */
  begin(handler: Handler, ended: (outcome: HandlerOutcome) => void): void {
    const end = (outcome: HandlerOutcome): void => {
      if (this.isOver) return;
      this.#close();
      ended(outcome);
    };
    // Not within the effect that asked for it: whatever a handler does first is its own affair.
    void Promise.resolve()
      .then(() => {
        // Stopped in the same moment: a handler would wait for an abort that has been.
        this.signal.throwIfAborted();
        return handler(this.#context());
      })
      .then(succeeded)
      .catch(failed)
      .then(end);
  }

  abort(why: string): void {
    this.#abort.abort(new RuntimeError('ABORTED', why));
  }

  abandon(): void {
    this.#close();
  }

  #close(): void {
    this.isOver = true;
    this.progress.close();
  }

  #context(): HandlerContext {
    const { jobId, attemptId, payload } = this.params;
    const workflowId = workflowIdOf(attemptId);
    const run = Number(attemptId.slice(workflowId.length + 1));
    return {
      jobId,
      workflowId,
      run,
      payload,
      signal: this.signal,
      log: named(this.#services.logger, { jobId, workflowId, run }),
      progress: (progress) => this.progress.report(progress),
      extend: (wish = {}) => this.#services.extend(this, wish),
    };
  }
}

/** A logger that says in every line which run it was. */
function named(logger: Logger, names: object): Logger {
  return {
    debug: (fields, message) => logger.debug({ ...names, ...fields }, message),
    info: (fields, message) => logger.info({ ...names, ...fields }, message),
    warn: (fields, message) => logger.warn({ ...names, ...fields }, message),
    error: (fields, message) => logger.error({ ...names, ...fields }, message),
  };
}
