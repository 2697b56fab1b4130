/**
 * Worker: a process that runs handlers for one datacenter.
 *
 * It registers, tells that it lives, takes what it has cores and a handler for, and reports how that
 * ended. It keeps nothing on disk: what it held is lost with the process, and the datacenter runs it
 * again elsewhere. When it loses its manager it goes on for the grace and then stops what it runs. Only
 * its datacenter gives it orders.
 */

import { createRuntime } from '../../create-runtime.ts';
import { workerAddress } from '../../machines/jobs/addresses.ts';
import { attemptMachine } from '../../machines/jobs/attempt.ts';
import { workerMachine } from '../../machines/jobs/worker.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { type Logger, SILENT_LOGGER } from '../../runtime/base/limits.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import { Runtime } from '../../runtime/runtime.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { systemRandom } from '../../runtime/system/random.ts';
import { resolveConfiguration, workerRules } from './configuration.ts';
import { Counters } from './counters.ts';
import { JOBS_LIMITS } from './limits.ts';
import { logPerformer } from './log-events.ts';
import { startSweep } from './sweep.ts';
import { Extensions } from './worker/extension.ts';
import { checkHandlers, type Handlers } from './worker/handlers.ts';
import { hostWorker, type WorkerKinds } from './worker/kinds.ts';
import { Link } from './worker/link.ts';
import {
  checkOptions,
  isManager,
  type JobWorkerOptions,
  policyOf,
  STOP_LIMIT_MS,
} from './worker/options.ts';
import { ENDED_RETENTION_MS, Runs } from './worker/runs.ts';
import { shellHandler } from './worker/shell.ts';
import { sleepHandler } from './worker/sleep.ts';

export type { ExtensionPolicy, ExtensionView } from './worker/extension.ts';
export type {
  ExtensionWish,
  Handler,
  HandlerContext,
  Handlers,
  ReportedProgress,
} from './worker/handlers.ts';
export type { WorkerKinds } from './worker/kinds.ts';
export type { JobWorkerOptions } from './worker/options.ts';

export interface JobWorker {
  readonly id: string;
  /** Rises with each start of the worker. */
  readonly bootEpoch: number;
  readonly runtime: Runtime<WorkerKinds>;
  readonly counters: Counters;
  /** Resolves when the worker has stopped: by `stop`, or because its datacenter does not take it. */
  readonly ended: Promise<WorkerEnd>;
  /**
   * Takes nothing new, waits for what runs as long as the limit says, stops the rest so that it is
   * run elsewhere, and ends. Idempotent.
   */
  stop(options?: { readonly limitMs?: number }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface WorkerEnd {
  /** Reason for which the datacenter does not take the worker; null when it was stopped. */
  readonly refusal: string | null;
}

/** A manager that has just connected says a little later what it hosts. */
const GREETING_MS = 100;
const SWEPT = [
  { kind: 'worker', machine: workerMachine },
  { kind: 'attempt', machine: attemptMachine },
];

/** @throws {RuntimeError} OPTION_INVALID, ABORTED */
export async function startWorker(options: JobWorkerOptions): Promise<JobWorker> {
  const config = resolveConfiguration(options.config);
  checkOptions(options);
  const { clock = systemClock(), random = systemRandom(), logger = SILENT_LOGGER } = options;
  const handlers: Handlers = {
    sleep: sleepHandler(clock),
    ...(options.allowShell === true && {
      shell: shellHandler(clock, config.cancelGraceMs, options.shellVariables),
    }),
    ...options.handlers,
  };
  checkHandlers(handlers);
  const { worker: workerId, datacenter, transport } = options;
  if (options.signal?.aborted === true)
    throw new RuntimeError('ABORTED', 'The signal was aborted.');
  const runtime = await createRuntime({
    node: workerId,
    place: workerId,
    transport,
    clock,
    random,
    logger,
    limits: { ...JOBS_LIMITS, endedRetentionMs: ENDED_RETENTION_MS, ...options.limits },
    ...(options.telemetry !== undefined && { telemetry: options.telemetry }),
    ...(options.inspect !== undefined && { inspect: options.inspect }),
  });
  const counters = new Counters();
  const bootEpoch = clock.now();
  const link = new Link(runtime as Runtime, clock, logger);
  const policy = policyOf(options.extend);
  const runs: Runs = new Runs({
    clock,
    logger,
    link,
    workerId,
    bootEpoch,
    datacenter,
    handlers,
    extend: (run, wish) => extensions.ask(run, wish),
  });
  const extensions = new Extensions({
    clock,
    random,
    logger,
    counters,
    link,
    workerId,
    datacenter,
    policy,
    baseDeadlineMs: config.baseDeadlineMs,
    atWork: () => runs.atWork(),
  });
  const note = logPerformer(logger, counters, options.onNote);
  const hosted = hostWorker(runtime as Runtime, {
    runs,
    extensions,
    note,
    isDatacenter: (place) => place === datacenter || isManager(options, place),
  });
  const input = {
    workerId,
    bootEpoch,
    datacenter,
    coresTotal: options.cores,
    handlers: Object.keys(handlers),
    rules: workerRules(config),
  };
  await hosted.spawn(`worker/${bootEpoch}`, { input });
  const program = { runtime, clock, logger, counters };
  const endSweep = startSweep(program, note, config.checkIntervalMs, SWEPT);
  return new HostedWorker(
    hosted,
    bootEpoch,
    { ...options, clock, logger },
    {
      link,
      runs,
      counters,
      endSweep,
    },
  );
}

interface HostedParts {
  readonly counters: Counters;
  readonly link: Link;
  readonly runs: Runs;
  readonly endSweep: Cancel;
}

class HostedWorker implements JobWorker {
  readonly id: string;
  readonly bootEpoch: number;
  readonly runtime: Runtime<WorkerKinds>;
  readonly counters: Counters;
  readonly ended: Promise<WorkerEnd>;
  readonly #address: `worker/${string}`;
  readonly #parts: HostedParts;
  readonly #stopLimitMs: number;

  constructor(
    runtime: Runtime<WorkerKinds>,
    bootEpoch: number,
    options: JobWorkerOptions & { readonly clock: Clock; readonly logger: Logger },
    parts: HostedParts,
  ) {
    const { worker, signal, stopLimitMs = STOP_LIMIT_MS } = options;
    this.id = worker;
    this.bootEpoch = bootEpoch;
    this.runtime = runtime;
    this.counters = parts.counters;
    this.#address = workerAddress(worker, bootEpoch) as `worker/${string}`;
    this.#parts = parts;
    this.#stopLimitMs = stopLimitMs;
    const stopWatching = this.#watchManagers(options);
    const aborted = (): void => void this.stop();
    if (signal?.aborted === true) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
    this.ended = this.#untilDone().then(async (end) => {
      stopWatching();
      parts.endSweep();
      signal?.removeEventListener('abort', aborted);
      if (end.refusal !== null)
        options.logger.error({ worker, ...end }, 'the datacenter does not take this worker');
      parts.link.close();
      parts.runs.close();
      await runtime.stop();
      return end;
    });
  }

  async stop({ limitMs = this.#stopLimitMs }: { readonly limitMs?: number } = {}): Promise<void> {
    await this.#parts.link.tell(this.#address, { type: 'worker.stop', limitMs });
    await this.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #untilDone(): Promise<WorkerEnd> {
    const actor = this.runtime.actor(this.#address);
    return new Promise((resolve) => {
      const complete = (): void => resolve(actor.getSnapshot().output ?? { refusal: null });
      actor.subscribe({ complete, error: () => resolve({ refusal: 'failed' }) });
    });
  }

  /** Tells the worker when the connection to its manager has come or gone, or to one that may lead where none does. */
  #watchManagers(options: JobWorkerOptions & { readonly clock: Clock }): () => void {
    const { clock, datacenter } = options;
    const { link } = this.#parts;
    const { hostOf } = Runtime.watchOf(this.runtime as never);
    const tell = (type: 'manager.reachable' | 'manager.unreachable', peer: string): void => {
      // A standby may come and go as it likes.
      if ([undefined, peer].includes(hostOf(datacenter))) void link.tell(this.#address, { type });
    };
    return this.runtime.inspect((record) => {
      if (record.type !== 'peer' || !isManager(options, record.peer)) return;
      const { change, peer } = record;
      if (change === 'down') tell('manager.unreachable', peer);
      else clock.schedule(clock.now() + GREETING_MS, () => tell('manager.reachable', peer));
    });
  }
}
