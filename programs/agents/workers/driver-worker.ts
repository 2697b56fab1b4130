/**
 * Driver worker: an attempt that runs in this process, by a function of the program that embeds the runtime.
 */

import type { StopReason } from '../../../machines/agents/words.ts';
import { messageOf } from '../../../runtime/base/errors.ts';
import type { Cancel, Clock } from '../../../runtime/ports/clock.ts';
import { readLine } from '../protocol.ts';
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

interface DriverLimits {
  readonly graceMs: number;
  readonly lineBytesMax: number;
  readonly outputBytesMax: number;
}

export class DriverWorker implements Worker {
  readonly group = null;
  readonly startTicks = null;
  readonly ended: Promise<WorkerEnd>;
  readonly #limits: DriverLimits;
  readonly #listener: WorkerListener;
  readonly #attemptId: string;
  #bytes = 0;
  /** Of the last line, from 1. */
  #number = 0;
  /** Lines are read on when it resolves. */
  #gate: Promise<void> | undefined;
  #open = (): void => {};
  #run: DriverRun | undefined;
  /** Nothing of it is left, but for lines that are still to be read. */
  #isOver = false;
  #isEnded = false;
  #waiting = new Set<() => void>();

  constructor(
    driver: Driver,
    assignment: ToAgent,
    limits: DriverLimits,
    clock: Clock,
    listener: WorkerListener,
  ) {
    this.#limits = limits;
    this.#listener = listener;
    this.#attemptId = assignment.attemptId;
    try {
      this.#run = driver.start(assignment);
    } catch (thrown) {
      this.#isEnded = true;
      const startFailure = { error: messageOf(thrown), retryable: true };
      this.ended = Promise.resolve({ exitCode: 1, signal: null, startFailure });
      return;
    }
    const { lines, ended } = this.#run;
    const isRead = this.#read(lines);
    const end = (exitCode: number): WorkerEnd => {
      this.#end();
      return { exitCode, signal: null, startFailure: null };
    };
    // Lines that it has sent before its end come before it; lines that never end do not hold it up.
    this.ended = ended.then(
      () => {
        this.#isOver = true;
        this.resume();
        return Promise.race([isRead, deferred(clock)]).then(() => end(0));
      },
      () => end(1),
    );
  }

  get hasStarted(): boolean {
    return this.#run !== undefined;
  }

  send(line: ToAgent): void {
    // It has its assignment from its start.
    if (line.type === 'task.assigned') return;
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

  pause(): void {
    if (this.#isOver) return;
    this.#gate ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  resume(): void {
    this.#gate = undefined;
    this.#open();
  }

  async release(): Promise<void> {
    this.resume();
  }

  #stop(reason: StopReason): void {
    try {
      this.#run?.stop(reason, this.#limits.graceMs);
    } catch {
      // It is asked again after the grace.
    }
  }

  #end(): void {
    this.#isEnded = true;
    for (const then of this.#waiting) then();
    this.#waiting.clear();
  }

  async #read(lines: AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const line of lines) {
        this.#listener.seen();
        if (!this.#take(line)) return;
        await this.#gate;
      }
    } catch {
      this.#listener.exceeded('lineFailure');
    }
  }

  /** The limits of a program's lines hold for it too. False: it has sent too much. */
  #take(line: unknown): boolean {
    const text = textOf(line);
    const { lineBytesMax, outputBytesMax } = this.#limits;
    const bytes = text === undefined ? 0 : Buffer.byteLength(text);
    this.#bytes += bytes;
    if (this.#bytes > outputBytesMax) {
      this.#listener.exceeded('outputLimit');
      return false;
    }
    this.#number += 1;
    if (text === undefined) this.#malformed('it is no object of JSON', String(line));
    else if (bytes > lineBytesMax) this.#malformed(`it is longer than ${lineBytesMax} bytes`, text);
    else {
      const read = readLine(text, true, this.#attemptId);
      if (read.kind === 'event') this.#listener.event(read.event);
      else if (read.kind === 'malformed') this.#malformed(read.why, text);
    }
    return true;
  }

  #malformed(why: string, text: string): void {
    this.#listener.malformed(why, this.#number, text);
  }
}

/** Undefined for what JSON has no object for. */
function textOf(line: unknown): string | undefined {
  try {
    return typeof line === 'object' && line !== null ? JSON.stringify(line) : undefined;
  } catch {
    return undefined;
  }
}

/** After what was sent before has come. */
const deferred = (clock: Clock): Promise<void> => new Promise((resolve) => clock.defer(resolve));
