/**
 * Runs of a worker, and what its actors ask of the process.
 *
 * Guarantees: an attempt has at most one run; it is forgotten with its attempt, whatever its
 * handler does. It decides nothing: when a run begins, stops and is reported is the machines' part.
 */

import {
  operationIdOf,
  workerAddress,
  workflowAddress,
  workflowIdOf,
} from '../../../machines/jobs/addresses.ts';
import type { RunParams } from '../../../machines/jobs/attempt.ts';
import type { AttemptStopped, ResultReceived } from '../../../machines/jobs/messages/worker.ts';
import type { ProgressByOperation } from '../../../machines/jobs/worker/attempts.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import type { Handlers } from './handlers.ts';
import { Run, type RunServices } from './run.ts';

export interface RunsServices extends RunServices {
  readonly workerId: string;
  readonly bootEpoch: number;
  readonly datacenter: string;
  readonly handlers: Handlers;
}

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
      run.closing.abort(OVER);
    }
    this.#runs.clear();
  }

  progress(): ProgressByOperation {
    return Object.fromEntries(
      [...this.#runs.values()].map(({ operationId, progress }) => [operationId, progress.figures]),
    );
  }

  /** Performers of the kind `attempt`. */
  readonly performers = {
    runHandler: ({ address, params }: Call<RunParams>): void => {
      const { link, handlers } = this.#services;
      const run = new Run(params, this.#services);
      this.#runs.set(address, run);
      const handler = handlers[params.handler] ?? unknownHandler;
      run.begin(handler, (outcome) => {
        void link.tell(address, { type: 'handler.ended', ...outcome });
      });
    },
    abortHandler: ({ address }: Call): void =>
      this.#runs.get(address)?.abort('The run is to stop.'),
    abandonHandler: ({ address }: Call): void => this.#runs.get(address)?.abandon(),
    sendReport: async ({ address, params }: Call<ResultReceived | AttemptStopped>) => {
      const closed = this.#runs.get(address)?.closing.signal;
      await this.report(params, closed);
      if (closed?.aborted !== true)
        await this.#services.link.tell(address, { type: 'report.taken' });
    },
    freeCores: ({ address }: Call): void => this.#tellWorker('attempt.finished', address),
    closeAttempt: ({ address }: Call): void => {
      this.#tellWorker('attempt.ended', address);
      const run = this.#runs.get(address);
      run?.abandon();
      run?.closing.abort(OVER);
      this.#runs.delete(address);
    },
  };

  /** Tells a workflow how an attempt ended, until it has it on disk or does not want it. */
  report(params: ResultReceived | AttemptStopped, signal?: AbortSignal): Promise<void> {
    const { link, datacenter } = this.#services;
    const workflow = workflowAddress(params.jobId, workflowIdOf(params.attemptId), datacenter);
    return link.tell(workflow, params, signal);
  }

  #tellWorker(type: 'attempt.finished' | 'attempt.ended', attempt: string): void {
    const { link, workerId, bootEpoch } = this.#services;
    const params = this.#runs.get(attempt)?.params;
    if (params === undefined) return;
    const operationId = operationIdOf(params.jobId, params.attemptId);
    // At once into the mailbox of an actor of this process, before anything leaves for elsewhere.
    void link.tell(workerAddress(workerId, bootEpoch), { type, operationId });
  }
}

/** The worker takes no dispatch for a handler it has not, so this is never run. */
const unknownHandler = async (): Promise<never> => {
  throw new Error('There is no such handler.');
};
