/**
 * Attempts: the workers of agents and experts. It carries out what their machines ask for, and tells them what
 * became of that.
 *
 * What an attempt starts carries a mark in its environment, by which it is found again when it left its group,
 * and by a runtime that began after a crash. Nothing here decides.
 */

import type { ProcessParams } from '../../machines/agents/process-end.ts';
import type { StopReason } from '../../machines/agents/words.ts';
import { excerpt, messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import { IdleNews, ProcessGroups } from '../processes.ts';
import { EventQueue } from './event-queue.ts';
import { type Mark, markOf } from './marks.ts';
import type { Plan } from './plan.ts';
import type { RunFolder } from './run-folder.ts';
import type { ToAgent, Worker, WorkerEnd, WorkerListener } from './worker.ts';
import { type Driver, DriverWorker } from './workers/driver-worker.ts';
import { LogTail } from './workers/log-tail.ts';
import { PlainWorker } from './workers/plain-worker.ts';
import { ProcessWorker } from './workers/process-worker.ts';

export interface AttemptServices {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Directory of the data, whole: part of the mark. */
  readonly data: string;
  readonly drivers: Readonly<Record<string, Driver>>;
  /** Variables that programs get beside their own. */
  readonly inherited: Readonly<Record<string, string>>;
  plan(runId: string): Plan;
  folder(runId: string): RunFolder;
  assignment(params: ProcessParams): ToAgent;
  /** To the actor of an attempt, durable when it resolves. @throws what `send` throws */
  tell(address: string, event: { readonly type: string }): Promise<void>;
  /** A line that came when nobody was there to take it any more. */
  late(params: ProcessParams, event: { readonly type: string }): void;
}

interface Running {
  readonly params: ProcessParams;
  readonly worker: Worker;
  readonly queue: EventQueue;
  readonly idle: IdleNews;
  readonly state: { strayLines: number; hasQuota: boolean };
  cancelWait: Cancel;
}

type Call<TParams = ProcessParams> = { readonly params: TParams; readonly address: string };

export class Attempts {
  readonly #services: AttemptServices;
  readonly #groups: ProcessGroups;
  readonly #running = new Map<string, Running>();

  constructor(services: AttemptServices) {
    this.#services = services;
    this.#groups = new ProcessGroups(services.clock);
  }

  readonly performers = {
    startProcess: (call: Call) => this.#start(call),
    sendLine: ({ params }: Call<ProcessParams & { readonly line: { readonly type: string } }>) =>
      this.#running.get(keyOf(params))?.worker.send(this.#line(params, params.line)),
    closeInput: ({ params }: Call) => this.#running.get(keyOf(params))?.worker.closeInput(),
    stopProcess: (call: Call<ProcessParams & { readonly reason: StopReason }>) => this.#stop(call),
    killProcess: (call: Call) => this.#kill(call),
    cleanUp: (call: Call) => this.#cleanUp(call),
  } as const;

  /** Workers that have not been cleaned away. */
  get size(): number {
    return this.#running.size;
  }

  #start(call: Call): void {
    try {
      this.#begin(call);
    } catch (thrown) {
      const { params, address } = call;
      const error = messageOf(thrown);
      const { attemptId } = params;
      this.#services.logger.warn({ attemptId, error }, 'an attempt could not be started');
      void this.#told(params, address, {
        type: 'process.refused',
        error,
        retryable: true,
      } as never);
    }
  }

  #begin({ params, address }: Call): void {
    const { clock } = this.#services;
    const assignment = this.#services.assignment(params);
    const { timeouts } = this.#services.plan(params.runId);
    const queue = new EventQueue((event) => this.#told(params, address, event));
    const seen = (): void => queue.add({ type: 'line.seen' });
    const idle = new IdleNews(clock, timeouts.IDLE_TIMEOUT, seen);
    const state = { strayLines: 0, hasQuota: false };
    const listener: WorkerListener = {
      event: (event) => queue.add(event),
      malformed: (why, line, text) =>
        queue.add({ type: 'line.malformed', why, line, text: excerpt(text) } as never),
      exceeded: (limit) => queue.add({ type: 'limit.exceeded', limit } as never),
      stray: () => {
        state.strayLines += 1;
      },
      seen: () => idle.seen(),
    };
    const worker = this.#worker(params, assignment, listener, state);
    queue.holds(worker);
    const running: Running = { params, worker, queue, idle, state, cancelWait: () => {} };
    this.#running.set(keyOf(params), running);
    const { group, startTicks } = worker;
    if (worker.hasStarted) {
      queue.add({ type: 'process.started', group, startTicks } as never);
      worker.send(assignment);
    }
    void worker.ended.then((end) => this.#ended(running, end));
  }

  #driver({ name }: ProcessParams): Driver | undefined {
    const { drivers } = this.#services;
    return Object.hasOwn(drivers, name) ? drivers[name] : undefined;
  }

  #worker(
    params: ProcessParams,
    assignment: ToAgent,
    listener: WorkerListener,
    state: Running['state'],
  ): Worker {
    const { clock, logger, inherited } = this.#services;
    const { runId, taskId, attemptId, role, name } = params;
    const plan = this.#services.plan(runId);
    const { options, directory } = plan;
    const driver = this.#driver(params);
    if (driver !== undefined)
      return new DriverWorker(
        driver,
        assignment,
        {
          graceMs: options.terminationGraceMs,
          lineBytesMax: options.maxLineBytes,
          outputBytesMax: options.maxOutputBytes,
        },
        clock,
        listener,
      );
    const command = (role === 'agent' ? plan.agents : plan.experts)[name];
    if (command === undefined) throw new Error(`The plan has no ${role} "${name}".`);
    const folder = this.#services.folder(runId);
    const failed = (error: Error): void =>
      logger.warn({ attemptId, error: error.message }, 'a log could not be kept');
    const matches = command.quotaMatches.map((text) => new RegExp(text));
    const mark = this.#mark(params);
    const own = {
      [mark.name]: mark.value,
      ESCAPEMENT_RUN_ID: runId,
      ESCAPEMENT_TASK_ID: taskId,
      ESCAPEMENT_ATTEMPT_ID: attemptId,
      ESCAPEMENT_ROLE: role,
    };
    const process = {
      argv: command.argv,
      cwd: directory,
      env: { ...inherited, ...own },
      attemptId,
      lineBytesMax: options.maxLineBytes,
      outputBytesMax: options.maxOutputBytes,
      log: new LogTail(folder.logPath(attemptId), failed),
      watchLog: (text: string) => {
        if (state.hasQuota || !matches.some((match) => match.test(text))) return;
        state.hasQuota = true;
        listener.event({ type: 'quota.exhausted', resetsInMs: options.quotaResetMs });
      },
    };
    if (command.protocol === 'lines')
      return new ProcessWorker(process, this.#groups, clock, listener);
    return new PlainWorker(
      {
        ...process,
        prompt: String(assignment.prompt),
        isPromptArgument: command.prompt === 'argument',
        checkpointFile: command.checkpoints === 'file' ? folder.checkpointPath(attemptId) : null,
      },
      this.#groups,
      clock,
      listener,
    );
  }

  #ended({ params, worker, queue, idle, state }: Running, end: WorkerEnd): void {
    const { exitCode, signal, startFailure } = end;
    idle.close();
    if (startFailure !== null) {
      queue.add({ type: 'process.refused', ...startFailure } as never);
      return;
    }
    const { isEmpty } = worker;
    const isClean = isEmpty && this.#hasNothingLeft(params);
    if (isClean) void this.#forget(params);
    const { strayLines } = state;
    const event = { type: 'process.exited', exitCode, signal, strayLines, isEmpty, isClean };
    queue.add(event);
  }

  /** True when nothing that has left its group is left either. */
  #hasNothingLeft(params: ProcessParams): boolean {
    const { rows, isUndecided } = this.#groups.findMarked(this.#mark(params));
    return rows.length === 0 && !isUndecided;
  }

  #stop({ params, address }: Call<ProcessParams & { readonly reason: StopReason }>): void {
    const running = this.#running.get(keyOf(params));
    if (running === undefined) {
      void this.#told(params, address, { type: 'group.emptied' });
      return;
    }
    const { reason, runId } = params;
    const graceMs = this.#services.plan(runId).options.terminationGraceMs;
    running.worker.stop(reason, this.#line(params, { type: 'stop', reason, graceMs }));
    this.#whenEmpty(running);
  }

  async #kill({ params, address }: Call): Promise<void> {
    const running = this.#running.get(keyOf(params));
    if (running !== undefined) {
      running.worker.kill();
      this.#whenEmpty(running);
      return;
    }
    // Of a runtime before this one, or of none.
    await this.#groups.killMarked(this.#mark(params)).catch(() => {});
    await this.#told(params, address, { type: 'group.emptied' });
  }

  #whenEmpty(running: Running): void {
    running.cancelWait();
    running.cancelWait = running.worker.whenEmpty(() =>
      running.queue.add({ type: 'group.emptied' }),
    );
  }

  async #cleanUp({ params, address }: Call): Promise<void> {
    const running = this.#running.get(keyOf(params));
    running?.cancelWait();
    const group = running?.worker.group ?? null;
    try {
      if (group !== null && !this.#groups.isEmpty(group)) await this.#groups.terminate(group, []);
      await this.#groups.killMarked(this.#mark(params));
    } catch (thrown) {
      const { attemptId } = params;
      const error = messageOf(thrown);
      this.#services.logger.warn({ attemptId, error }, 'an attempt could not be cleaned up');
    }
    await this.#forget(params);
    await this.#told(params, address, { type: 'cleanup.finished' });
  }

  async #forget(params: ProcessParams): Promise<void> {
    const running = this.#running.get(keyOf(params));
    this.#running.delete(keyOf(params));
    running?.idle.close();
    await running?.worker.release();
  }

  #line(
    { attemptId }: ProcessParams,
    line: { readonly type: string; readonly [field: string]: unknown },
  ): ToAgent {
    return { ...line, attemptId, at: this.#services.clock.now() };
  }

  #mark({ runId, attemptId }: ProcessParams): Mark {
    return markOf(this.#services.data, runId, attemptId);
  }

  async #told(
    params: ProcessParams,
    address: string,
    event: { readonly type: string },
  ): Promise<void> {
    try {
      await this.#services.tell(address, event);
    } catch (thrown) {
      this.#services.late(params, event);
      const { attemptId } = params;
      const said = { attemptId, event: event.type, error: messageOf(thrown) };
      this.#services.logger.debug(said, 'an attempt could not be told');
    }
  }
}

const keyOf = ({ runId, attemptId }: ProcessParams): string => `${runId}/${attemptId}`;
