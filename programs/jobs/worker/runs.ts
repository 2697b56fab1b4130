/**
 * Runs of a worker, and what its actors ask of the process.
 *
 * Guarantees: an attempt has at most one run; it is forgotten once its report is taken or nobody wants
 * it, whatever its handler does. It decides nothing: when a run begins, stops and is reported is the
 * machines' part. What the next message would say anyway is not said before: that a dispatch was taken,
 * when its result is there at once; that cores are free, when the report is taken at once.
 */

import {
  attemptAddress,
  operationParts,
  workerAddress,
  workflowAddress,
  workflowIdOf,
} from '../../../machines/jobs/addresses.ts';
import { type RunParams, resultOf } from '../../../machines/jobs/attempt.ts';
import { isWithin, type KeyRange } from '../../../machines/jobs/messages/fields.ts';
import type {
  AttemptStopped,
  DispatchAnswered,
  ResultReceived,
} from '../../../machines/jobs/messages/worker.ts';
import type {
  ProgressByOperation,
  ProgressFigures,
} from '../../../machines/jobs/worker/attempts.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import { knob } from '../../../runtime/base/knob.ts';
import type { Handlers } from './handlers.ts';
import { Run, type RunServices } from './run.ts';

export interface RunsServices extends RunServices {
  readonly workerId: string;
  readonly bootEpoch: number;
  readonly datacenter: string;
  readonly handlers: Handlers;
}

/** Time that a result has to come before the answer to its dispatch, and a report to be taken, in ms. */
const PAUSE_MS = knob('attemptAnswerPauseMs', 10);

/**
 * Time for which an ended attempt is known, so that a copy of its dispatch begins no other: longer
 * than one can be under way.
 */
export const ENDED_RETENTION_MS = 60_000;

/** Error after which nothing more is said about a run; one for all, because an error costs its stack. */
const OVER = new RuntimeError('ABORTED', 'The attempt is over.');

interface Call<TParams = unknown> {
  readonly address: string;
  readonly params: TParams;
}

export class Runs {
  readonly #services: RunsServices;
  /** Runs by the address of the attempt. */
  readonly #runs = new Map<string, Run>();
  /** Runs that are over, and whose worker still counts their cores: the report says it, as soon as it is taken. */
  readonly #uncounted = new Map<Run, () => void>();
  /** Moments at which attempts have ended, by address. */
  readonly #ended = new Map<string, number>();

  constructor(services: RunsServices) {
    this.#services = services;
  }

  /** Those whose handler is at work. */
  *atWork(): Iterable<Run> {
    for (const run of this.#runs.values()) if (!run.isOver) yield run;
  }

  /** Nobody listens to them any more. */
  close(): void {
    for (const run of this.#runs.values()) {
      run.abort('The worker has stopped.');
      run.abandon();
      run.endReport(OVER);
    }
    this.#runs.clear();
  }

  /** Progress of the runs within the range, and of those that got further since they were told of; of all without one. */
  progress(range?: KeyRange): ProgressByOperation {
    const told: Record<string, ProgressFigures> = {};
    for (const { operationId, progress } of this.#runs.values())
      if (range === undefined || isWithin(range, operationId) || progress.isNews)
        told[operationId] = progress.tell();
    return told;
  }

  /** Begins the run of an attempt, once: a copy of its dispatch may be late. */
  begin(params: RunParams): void {
    const { clock, handlers, workerId } = this.#services;
    const address = attemptAddress(params.jobId, params.attemptId, workerId);
    const run = new Run(params, this.#services);
    this.#forgetEnded(clock.now());
    if (this.#ended.has(address)) {
      this.#tellWorker('attempt.ended', run);
      return;
    }
    this.#runs.set(address, run);
    void run.begin(handlers[params.handler] ?? unknownHandler, (outcome) => {
      if (run.isStopping)
        void this.#services.link.tell(address, { type: 'handler.ended', ...outcome });
      else void this.#sendReport(address, resultOf(params, outcome));
    });
  }

  /** Performers of the kind `attempt`. */
  readonly performers = {
    abortHandler: ({ address }: Call): void => {
      const run = this.#runs.get(address);
      if (run?.isOver === false) run.abort('The run is to stop.');
      else void this.#services.link.tell(address, { type: 'handler.reported' });
    },
    abandonHandler: ({ address }: Call): void => this.#runs.get(address)?.abandon(),
    sendReport: ({ address, params }: Call<ResultReceived | AttemptStopped>): Promise<void> =>
      this.#sendReport(address, params),
    closeAttempt: ({ address }: Call): void => this.#close(address),
  };

  async #sendReport(address: string, params: ResultReceived | AttemptStopped): Promise<void> {
    const { clock } = this.#services;
    const run = this.#runs.get(address);
    if (run === undefined) return;
    const cancel = clock.schedule(clock.now() + PAUSE_MS.value, () => this.#freeCores(run));
    this.#uncounted.set(run, cancel);
    await this.report(params, run.closing);
    this.#uncounted.delete(run);
    cancel();
    this.#close(address);
  }

  /**
   * Frees the cores of all runs that are over, before a dispatch is judged: its datacenter has their results, and
   * may have granted the cores again before this worker hears that they were taken.
   */
  freeCores(): void {
    for (const [run, cancel] of [...this.#uncounted]) {
      cancel();
      this.#freeCores(run);
    }
  }

  #freeCores(run: Run): void {
    this.#uncounted.delete(run);
    this.#tellWorker('attempt.finished', run);
  }

  /** Answers a dispatch that was taken, unless its end is told first. */
  answer(params: DispatchAnswered): void {
    const { clock, link, workerId, datacenter } = this.#services;
    const { jobId, attemptId } = params;
    const workflow = workflowAddress(jobId, workflowIdOf(attemptId), datacenter);
    clock.schedule(clock.now() + PAUSE_MS.value, () => {
      const run = this.#runs.get(attemptAddress(jobId, attemptId, workerId));
      if (run?.isOver === false && !run.isStopping) link.hint(workflow, params);
    });
  }

  /** Gives up the reports of attempts that have ended. */
  drop(operations: readonly string[]): void {
    for (const operationId of operations) {
      const { jobId, attemptId } = operationParts(operationId);
      const address = attemptAddress(jobId, attemptId, this.#services.workerId);
      if (this.#runs.get(address)?.isOver === true) this.#close(address);
    }
  }

  /** Tells the worker once that an attempt is over. */
  #close(address: string): void {
    const run = this.#runs.get(address);
    if (run === undefined) return;
    this.#tellWorker('attempt.ended', run);
    run.abandon();
    run.endReport(OVER);
    this.#runs.delete(address);
    this.#ended.set(address, this.#services.clock.now());
  }

  /** Those that ended first are the first of them. */
  #forgetEnded(now: number): void {
    for (const [address, endedAt] of this.#ended) {
      if (now - endedAt < ENDED_RETENTION_MS) return;
      this.#ended.delete(address);
    }
  }

  /** Tells a workflow how an attempt ended, until it has it on disk or does not want it. */
  report(params: ResultReceived | AttemptStopped, signal?: AbortSignal): Promise<void> {
    const { link, datacenter } = this.#services;
    const workflow = workflowAddress(params.jobId, workflowIdOf(params.attemptId), datacenter);
    return link.tell(workflow, params, signal);
  }

  #tellWorker(type: 'attempt.finished' | 'attempt.ended', { operationId }: Run): void {
    const { link, workerId, bootEpoch } = this.#services;
    // At once into the mailbox of an actor of this process, before anything leaves for elsewhere.
    void link.tell(workerAddress(workerId, bootEpoch), { type, operationId });
  }
}

/** The worker takes no dispatch for a handler it has not, so this is never run. */
const unknownHandler = async (): Promise<never> => {
  throw new Error('There is no such handler.');
};
