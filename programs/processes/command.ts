/**
 * Command: one program at work in a process group of its own, without a shell in between.
 *
 * It ends when its leader has exited and its pipes are closed; pipes that the group's other processes hold open
 * delay that by the output grace at most. Those processes are not stopped by that and can go on printing,
 * into nothing, until `release`: a pipe that closed under them would end them. What cannot be started ends
 * with the exit code a shell gives: 127 for a program that is not there, 126 for one that may not be run.
 */

import type { Writable } from 'node:stream';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import { type Child, type Launch, type LaunchSpec, launchHere } from './child.ts';
import type { OutputSink } from './output.ts';
import { readRow } from './process-table.ts';

export interface CommandOptions extends LaunchSpec {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  /** Default 200. */
  readonly outputGraceMs?: number;
}

export interface CommandEnd {
  readonly exitCode: number;
  /** Name of the signal that ended it. The exit code is 128 and its number then, as in a shell. */
  readonly signal: string | null;
  /** Reason for which it could not be started. */
  readonly startFailure: string | null;
  /** True where nobody knows how it ended, or whether it has: the process that had started it is gone. */
  readonly isLost: boolean;
}

const OUTPUT_GRACE_MS = 200;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const LOST: CommandEnd = { exitCode: 255, signal: null, startFailure: null, isLost: true };
const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

export class Command {
  /** Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Resolves with its group as soon as that is known; with nothing when it could not be started. */
  readonly begun: Promise<number | undefined>;
  readonly #child: Child;
  readonly #sinks: readonly OutputSink[];
  readonly #clock: Clock;
  readonly #outputGraceMs: number;
  #group: number | undefined;
  #startTicks: string | undefined;
  #hasExited = false;
  #released: Promise<void> | undefined;
  #hasEnded = false;
  #resolveBegun: (group: number | undefined) => void = () => {};
  #resolveEnded: (end: CommandEnd) => void = () => {};
  #cancelGrace: Cancel = () => {};

  constructor(options: CommandOptions, clock: Clock, launch: Launch = launchHere) {
    const { argv, cwd, env, stdout, stderr, hasInput = false } = options;
    this.#sinks = [stdout, stderr];
    this.#clock = clock;
    this.#outputGraceMs = options.outputGraceMs ?? OUTPUT_GRACE_MS;
    this.begun = new Promise((resolve) => {
      this.#resolveBegun = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    let end = LOST;
    this.#child = launch(
      { argv, cwd, env, hasInput },
      {
        started: (pid) => {
          this.#group = pid;
          this.#resolveBegun(pid);
        },
        output: (stream, chunk) => (stream === 'out' ? stdout : stderr).write(chunk),
        exited: (code, signal) => {
          const exitCode = code ?? 128 + (SIGNAL_NUMBERS[signal ?? ''] ?? 0);
          end = { exitCode, signal, startFailure: null, isLost: false };
          this.#exited(end);
        },
        closed: () => this.#end(end),
        failed: (error) => this.#end(notStarted(error, stderr)),
        lost: () => this.#end(LOST),
      },
    );
  }

  /** Pid of the leader, which is the id of the group; undefined until it is known. */
  get group(): number | undefined {
    return this.#group;
  }

  /** Start time of the leader, which tells it from a later process with its pid. Asked for while it is at work. */
  get startTicks(): string | undefined {
    if (this.#group !== undefined) this.#startTicks ??= readRow(this.#group)?.startTicks;
    return this.#startTicks;
  }

  /** Null without one, and where nothing was started. */
  get stdin(): Writable | null {
    return this.#child.stdin;
  }

  /** Leaves what it prints from now on in its pipe, until `resume` or its exit: it waits when that is full. */
  pause(): void {
    if (!this.#hasExited) this.#child.pause();
  }

  resume(): void {
    this.#child.resume();
  }

  /**
   * Lets go of its pipes, once what was printed before is read, which this process may have been too busy for. Called
   * when nothing of its group is left, or nobody cares. Idempotent.
   */
  release(): Promise<void> {
    this.#released ??= this.#letGo();
    return this.#released;
  }

  async #letGo(): Promise<void> {
    if (!this.#hasEnded) {
      this.#child.resume();
      await new Promise<void>((resolve) => whenDrained(this.#child, this.#clock, resolve));
      this.#closeSinks();
    }
    this.#child.release();
  }

  #exited(end: CommandEnd): void {
    this.#hasExited = true;
    // What was printed before is read to the end, also where it was held up.
    this.#child.resume();
    // It may still wait in the pipe, where this process was busy meanwhile.
    this.#cancelGrace = this.#clock.schedule(this.#clock.now() + this.#outputGraceMs, () =>
      whenDrained(this.#child, this.#clock, () => this.#end(end)),
    );
  }

  #end(end: CommandEnd): void {
    this.#hasEnded = true;
    this.#cancelGrace();
    this.#resolveBegun(this.#group);
    this.#closeSinks();
    this.#resolveEnded(end);
  }

  #closeSinks(): void {
    for (const sink of this.#sinks) sink.close();
  }
}

/** Rounds of I/O after which a pipe that others go on filling counts as read. */
const ROUNDS_LEFT = 16;

function whenDrained(child: Child, clock: Clock, then: () => void, roundsLeft = ROUNDS_LEFT): void {
  const before = child.bytesRead;
  clock.defer(() => {
    if (child.bytesRead === before || roundsLeft === 0) then();
    else whenDrained(child, clock, then, roundsLeft - 1);
  });
}

function notStarted(error: Error, stderr: OutputSink): CommandEnd {
  const isThere = (error as NodeJS.ErrnoException).code !== 'ENOENT';
  stderr.write(Buffer.from(`escapement: the command could not be started: ${error.message}\n`));
  return {
    exitCode: isThere ? NOT_EXECUTABLE : NOT_FOUND,
    signal: null,
    startFailure: error.message,
    isLost: false,
  };
}
