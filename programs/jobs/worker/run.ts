/**
 * Run: one handler at work, with what it is given, its progress, and its end.
 *
 * The outcome is told once. A run that was abandoned is told nothing more and tells nothing more:
 * its handler may go on for ever, and nobody listens.
 */

import { operationIdOf, workflowAddress, workflowIdOf } from '../../../machines/jobs/addresses.ts';
import type { HandlerOutcome, RunParams } from '../../../machines/jobs/attempt.ts';
import type { ExtensionAnswer } from '../../../machines/jobs/messages/worker.ts';
import type { ProgressFigures } from '../../../machines/jobs/worker/attempts.ts';
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

/** A worker has thousands: what a run may never need is made when it is asked for. */
export class Run {
  readonly operationId: string;
  readonly params: RunParams;
  readonly startedAt: number;
  readonly progress: Progress;
  isOver = false;
  readonly #services: RunServices;
  /** Why the handler is to stop; undefined as long as it is not. */
  #stopReason: RuntimeError | undefined;
  #stopping: AbortController | undefined;
  #closing: AbortController | undefined;

  constructor(params: RunParams, services: RunServices) {
    this.params = params;
    this.operationId = operationIdOf(params.jobId, params.attemptId);
    this.startedAt = services.clock.now();
    this.#services = services;
    this.progress = new Progress(services.clock, this);
  }

  get isStopping(): boolean {
    return this.#stopReason !== undefined;
  }

  /** Aborted when the handler is to stop. */
  get signal(): AbortSignal {
    this.#stopping ??= new AbortController();
    if (this.#stopReason !== undefined) this.#stopping.abort(this.#stopReason);
    return this.#stopping.signal;
  }

  /** Aborted when nobody waits for its report any more. */
  get closing(): AbortSignal {
    this.#closing ??= new AbortController();
    return this.#closing.signal;
  }

  /** Begins; `ended` is called once, unless the run is abandoned before. */
  async begin(handler: Handler, ended: (outcome: HandlerOutcome) => void): Promise<void> {
    // Not within the effect that asked for it: whatever a handler does first is its own affair.
    await null;
    const outcome = await this.#outcomeOf(handler);
    if (this.isOver) return;
    this.#close();
    ended(outcome);
  }

  abort(why: string): void {
    this.#stopReason ??= new RuntimeError('ABORTED', why);
    this.#stopping?.abort(this.#stopReason);
  }

  abandon(): void {
    this.#close();
  }

  /** Nobody waits for its report any more. */
  endReport(reason: RuntimeError): void {
    this.#closing?.abort(reason);
  }

  sendProgress(figures: ProgressFigures): void {
    const { workerId, jobId, attemptId, datacenter } = this.params;
    const workflow = workflowAddress(jobId, workflowIdOf(attemptId), datacenter);
    const named = { type: 'progress.received', workerId, jobId, attemptId };
    this.#services.link.hint(workflow, { ...named, ...figures });
  }

  async #outcomeOf(handler: Handler): Promise<HandlerOutcome> {
    try {
      // Stopped in the same moment: a handler would wait for an abort that has been.
      if (this.#stopReason !== undefined) throw this.#stopReason;
      return succeeded(await handler(this.#context()));
    } catch (thrown) {
      return failed(thrown);
    }
  }

  #close(): void {
    this.isOver = true;
    this.progress.close();
  }

  #context(): HandlerContext {
    const run = this;
    const { jobId, attemptId, payload } = this.params;
    const workflowId = workflowIdOf(attemptId);
    const number = Number(attemptId.slice(workflowId.length + 1));
    return {
      jobId,
      workflowId,
      run: number,
      payload,
      get signal() {
        return run.signal;
      },
      get log() {
        return named(run.#services.logger, { jobId, workflowId, run: number });
      },
      progress: (progress) => run.progress.report(progress),
      extend: (wish = {}) => run.#services.extend(run, wish),
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
