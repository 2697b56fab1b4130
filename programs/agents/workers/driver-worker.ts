/**
 * Driver worker: an attempt that runs in this process, by a function of the program that embeds the runtime.
 */

import type { StopReason } from '../../../machines/agents/words.ts';
import { messageOf } from '../../../runtime/base/errors.ts';
import type { Cancel, Clock } from '../../../runtime/ports/clock.ts';
import { readObject } from '../protocol.ts';
import type { ToAgent, Worker, WorkerEnd, WorkerListener } from '../worker.ts';

/** What a driver gives for an attempt that it has begun. */
export interface DriverRun {
  /** A line to it, of those that an agent reads. */
  send(line: ToAgent): void;
  /** Lines of it, of those that an agent prints. */
  readonly lines: AsyncIterable<unknown>;
  /** Asks it to stop; called again after the grace, it must end. */
  stop(reason: StopReason, graceMs: number): void;
  /** Settles when nothing of it is left. */
  readonly ended: Promise<unknown>;
}

export interface Driver {
  start(assignment: ToAgent): DriverRun;
}

export class DriverWorker implements Worker {
  readonly group = null;
  readonly startTicks = null;
  readonly ended: Promise<WorkerEnd>;
  readonly #graceMs: number;
  #run: DriverRun | undefined;
  #isEnded = false;
  #waiting = new Set<() => void>();

  constructor(
    driver: Driver,
    assignment: ToAgent,
    graceMs: number,
    clock: Clock,
    listener: WorkerListener,
  ) {
    this.#graceMs = graceMs;
    try {
      this.#run = driver.start(assignment);
    } catch (thrown) {
      this.#isEnded = true;
      const startFailure = { error: messageOf(thrown), retryable: true };
      this.ended = Promise.resolve({ exitCode: 1, signal: null, startFailure });
      return;
    }
    const { lines, ended } = this.#run;
    const isRead = this.#read(lines, assignment.attemptId, listener);
    const end = (exitCode: number): WorkerEnd => {
      this.#end();
      return { exitCode, signal: null, startFailure: null };
    };
    // Lines that it has sent before its end come before it; lines that never end do not hold it up.
    this.ended = ended.then(
      () => Promise.race([isRead, ended.then(() => deferred(clock))]).then(() => end(0)),
      () => end(1),
    );
  }

  send(line: ToAgent): void {
    try {
      this.#run?.send(line);
    } catch {
      // A driver that does not take a line is like a program that does not read it.
    }
  }

  closeInput(): void {}

  stop(reason: StopReason): void {
    this.#stop(reason);
  }

  kill(): void {
    this.#stop('limit');
  }

  get isEmpty(): boolean {
    return this.#isEnded;
  }

  whenEmpty(then: () => void): Cancel {
    if (this.#isEnded) then();
    else this.#waiting.add(then);
    return () => void this.#waiting.delete(then);
  }

  pause(): void {}

  resume(): void {}

  release(): void {}

  #stop(reason: StopReason): void {
    try {
      this.#run?.stop(reason, this.#graceMs);
    } catch {
      // It is asked again after the grace.
    }
  }

  #end(): void {
    this.#isEnded = true;
    for (const then of this.#waiting) then();
    this.#waiting.clear();
  }

  async #read(
    lines: AsyncIterable<unknown>,
    attemptId: string,
    listener: WorkerListener,
  ): Promise<void> {
    try {
      for await (const line of lines) {
        listener.seen();
        const read = readObject(line, attemptId);
        if (read.kind === 'event') listener.event(read.event);
        else if (read.kind === 'malformed') listener.malformed(read.why);
      }
    } catch {
      listener.exceeded('lineFailure');
    }
  }
}

/** After what was sent before has come. */
const deferred = (clock: Clock): Promise<void> => new Promise((resolve) => clock.defer(resolve));
