/**
 * Process worker: a program in a group of its own that speaks JSON Lines on its standard streams.
 */

import type { StopReason } from '../../../machines/agents/words.ts';
import type { Cancel, Clock } from '../../../runtime/ports/clock.ts';
import { Command, type ProcessGroups } from '../../processes.ts';
import { Lines } from '../lines.ts';
import { readLine } from '../protocol.ts';
import type { ToAgent, Worker, WorkerEnd, WorkerListener } from '../worker.ts';
import type { LogTail } from './log-tail.ts';

export interface ProcessOptions {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly attemptId: string;
  readonly lineBytesMax: number;
  readonly outputBytesMax: number;
  readonly log: LogTail;
  /** Looks at its standard error. */
  readonly watchLog: (text: string) => void;
}

/** Waiting for an agent to read them. */
const QUEUED_BYTES_MAX = 1_048_576;
/** A pipe that a survivor holds open delays the end by no more. */
const OUTPUT_GRACE_MS = 100;
const NOT_RETRYABLE = /ENOENT|EACCES|ENOTDIR|ELOOP|ENAMETOOLONG|E2BIG/;

export class ProcessWorker implements Worker {
  readonly #command: Command;
  readonly #groups: ProcessGroups;
  readonly #listener: WorkerListener;
  readonly #options: ProcessOptions;
  #bytes = 0;
  #isClosed = false;
  readonly ended: Promise<WorkerEnd>;

  constructor(
    options: ProcessOptions,
    groups: ProcessGroups,
    clock: Clock,
    listener: WorkerListener,
  ) {
    this.#options = options;
    this.#groups = groups;
    this.#listener = listener;
    const { argv, cwd, env, lineBytesMax, log, watchLog } = options;
    const lines = new Lines(lineBytesMax, {
      line: (text, isWhole) => this.#line(text, isWhole),
      tooLong: () => listener.malformed(`it is longer than ${lineBytesMax} bytes`),
    });
    this.#command = new Command(
      {
        argv,
        cwd,
        env,
        hasInput: true,
        outputGraceMs: OUTPUT_GRACE_MS,
        stdout: {
          write: (chunk) => {
            if (this.#counts(chunk)) lines.write(chunk);
          },
          close: () => this.#isClosed || lines.close(),
        },
        stderr: {
          write: (chunk) => {
            log.write(chunk);
            watchLog(chunk.toString('latin1'));
            listener.seen();
          },
          close: () => log.trim(),
        },
      },
      clock,
    );
    this.ended = this.#command.ended.then(({ exitCode, signal, startFailure }) => ({
      exitCode,
      signal,
      startFailure: startFailure === null ? null : failureOf(startFailure),
    }));
  }

  get group(): number | null {
    return this.#command.group ?? null;
  }

  get startTicks(): string | null {
    return this.#command.startTicks ?? null;
  }

  send(line: ToAgent): void {
    const { stdin } = this.#command;
    if (stdin === null || stdin.destroyed || stdin.writableEnded) return;
    stdin.write(`${JSON.stringify(line)}\n`);
    if (stdin.writableLength > QUEUED_BYTES_MAX) this.#listener.exceeded('stdinBlocked');
  }

  closeInput(): void {
    this.#command.stdin?.end();
  }

  stop(_reason: StopReason, line: ToAgent): void {
    this.send(line);
    if (this.group !== null) this.#groups.signal(this.group, 'SIGTERM');
  }

  kill(): void {
    if (this.group !== null) this.#groups.signal(this.group, 'SIGKILL');
  }

  get isEmpty(): boolean {
    return this.group === null || this.#groups.isEmpty(this.group);
  }

  whenEmpty(then: () => void): Cancel {
    if (this.group !== null) return this.#groups.whenEmpty(this.group, then);
    then();
    return () => {};
  }

  pause(): void {
    this.#command.pause();
  }

  resume(): void {
    this.#command.resume();
  }

  release(): void {
    this.#isClosed = true;
    this.#command.release();
  }

  #counts({ length }: Buffer): boolean {
    if (this.#bytes > this.#options.outputBytesMax) return false;
    this.#bytes += length;
    if (this.#bytes <= this.#options.outputBytesMax) return true;
    this.#isClosed = true;
    this.#listener.exceeded('outputLimit');
    return false;
  }

  #line(text: string, isWhole: boolean): void {
    const read = readLine(text, isWhole, this.#options.attemptId);
    if (read.kind === 'blank') return;
    this.#listener.seen();
    if (read.kind === 'event') this.#listener.event(read.event);
    else if (read.kind === 'malformed') this.#listener.malformed(read.why);
    else {
      this.#options.log.write(`${text}\n`);
      this.#listener.stray(text);
    }
  }
}

export const failureOf = (
  error: string,
): { readonly error: string; readonly retryable: boolean } => ({
  error,
  retryable: !NOT_RETRYABLE.test(error),
});
