/**
 * Command worker: base of the workers that run a program in a process group of its own.
 *
 * A subclass says what the program's output means and what is written to it; signals, standard error and the end
 * are the same for all.
 */

import type { StopReason } from '../../../machines/agents/words.ts';
import type { Cancel, Clock } from '../../../runtime/ports/clock.ts';
import { Command, type CommandEnd, type ProcessGroups } from '../../processes.ts';
import type { ToAgent, Worker, WorkerEnd, WorkerListener } from '../worker.ts';
import type { LogTail } from './log-tail.ts';

export interface CommandWorkerOptions {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly outputBytesMax: number;
  readonly log: LogTail;
  /** Looks at its standard error. */
  readonly watchLog: (text: string) => void;
}

/** A pipe that a survivor holds open delays the end by no more. */
const OUTPUT_GRACE_MS = 100;
const NOT_RETRYABLE = /ENOENT|EACCES|ENOTDIR|ELOOP|ENAMETOOLONG|E2BIG/;

export abstract class CommandWorker implements Worker {
  readonly ended: Promise<WorkerEnd>;
  protected readonly command: Command;
  readonly #groups: ProcessGroups;

  constructor(
    { argv, cwd, env, log, watchLog }: CommandWorkerOptions,
    groups: ProcessGroups,
    clock: Clock,
    listener: WorkerListener,
  ) {
    this.#groups = groups;
    this.command = new Command(
      {
        argv,
        cwd,
        env,
        hasInput: true,
        outputGraceMs: OUTPUT_GRACE_MS,
        stdout: { write: (chunk) => this.takeOutput(chunk), close: () => this.closeOutput() },
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
    this.ended = this.command.ended.then((end) => {
      this.conclude(end);
      return { ...end, startFailure: failureOf(end.startFailure) };
    });
  }

  get group(): number | null {
    return this.command.group ?? null;
  }

  get hasStarted(): boolean {
    return this.group !== null;
  }

  get startTicks(): string | null {
    return this.command.startTicks ?? null;
  }

  get isEmpty(): boolean {
    return this.group === null || this.#groups.isEmpty(this.group);
  }

  whenEmpty(then: () => void): Cancel {
    if (this.group !== null) return this.#groups.whenEmpty(this.group, then);
    then();
    return () => {};
  }

  abstract send(line: ToAgent): void;

  closeInput(): void {
    this.command.stdin?.end();
  }

  stop(_reason: StopReason, _line: ToAgent): void {
    this.#signal('SIGTERM');
  }

  kill(): void {
    this.#signal('SIGKILL');
  }

  pause(): void {
    this.command.pause();
  }

  resume(): void {
    this.command.resume();
  }

  release(): Promise<void> {
    return this.command.release();
  }

  protected abstract takeOutput(chunk: Buffer): void;

  protected abstract closeOutput(): void;

  /** Called once, before `ended` settles. */
  protected conclude(_end: CommandEnd): void {}

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.group !== null) this.#groups.signal(this.group, signal);
  }
}

function failureOf(error: string | null): WorkerEnd['startFailure'] {
  return error === null ? null : { error, retryable: !NOT_RETRYABLE.test(error) };
}
