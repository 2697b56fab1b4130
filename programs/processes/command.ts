/**
 * Command: one program at work in a process group of its own, without a shell in between.
 *
 * It ends when its leader has exited and its pipes are closed; pipes that the group's other processes hold open
 * delay that by the output grace at most. Those processes are not stopped by that and can go on printing,
 * into nothing, until `release`: a pipe that closed under them would end them. What cannot be started ends
 * with the exit code a shell gives: 127 for a program that is not there, 126 for one that may not be run.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { OutputSink } from './output.ts';
import { readRow } from './process-table.ts';

export interface CommandOptions {
  /** The program and its arguments; the first is looked up on PATH of `env`. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment: nothing of this process's own is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  /** Default 200. */
  readonly outputGraceMs?: number;
  /** True: its standard input is a pipe, `stdin`. Default: it reads nothing. */
  readonly hasInput?: boolean;
}

export interface CommandEnd {
  readonly exitCode: number;
  /** Name of the signal that ended it. The exit code is 128 and its number then, as in a shell. */
  readonly signal: string | null;
  /** Reason for which it could not be started. */
  readonly startFailure: string | null;
}

const OUTPUT_GRACE_MS = 200;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
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
  /** Pid of the leader, which is the id of the group; undefined when it could not be started. */
  readonly group: number | undefined;
  /** Start time of the leader, which tells it from a later process with its pid. */
  readonly startTicks: string | undefined;
  /** Never rejects. */
  readonly ended: Promise<CommandEnd>;
  readonly #child: ChildProcess | undefined;
  readonly #sinks: readonly OutputSink[];
  #isReleased = false;

  constructor(options: CommandOptions, clock: Clock) {
    const { argv, cwd, env, stdout, stderr } = options;
    this.#sinks = [stdout, stderr];
    const [program, ...args] = argv;
    let child: ChildProcess;
    try {
      const input = options.hasInput === true ? 'pipe' : 'ignore';
      child = spawn(program, args, { cwd, env, detached: true, stdio: [input, 'pipe', 'pipe'] });
    } catch (thrown) {
      this.ended = Promise.resolve(notStarted(thrown as Error, stderr));
      return;
    }
    this.#child = child;
    this.group = child.pid;
    this.startTicks = child.pid === undefined ? undefined : readRow(child.pid)?.startTicks;
    // A program that has closed its end of the pipe does not read it.
    child.stdin?.on('error', () => {});
    // What was printed before is read to the end, also where it was held up.
    child.once('exit', () => child.stdout?.resume());
    pour(child.stdout, stdout);
    pour(child.stderr, stderr);
    this.ended = endOf(child, clock, options.outputGraceMs ?? OUTPUT_GRACE_MS, stderr);
    void this.ended.then(() => this.#closeSinks());
  }

  /** Null without one, and where nothing was started. */
  get stdin(): Writable | null {
    return this.#child?.stdin ?? null;
  }

  /** Leaves what it prints from now on in its pipe, until `resume` or its exit: it waits when that is full. */
  pause(): void {
    if (this.#child?.exitCode === null && this.#child.signalCode === null)
      this.#child.stdout?.pause();
  }

  resume(): void {
    this.#child?.stdout?.resume();
  }

  /** Lets go of its pipes. Called when nothing of its group is left, or nobody cares. Idempotent. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#closeSinks();
    this.#child?.stdin?.destroy();
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
  }

  #closeSinks(): void {
    for (const sink of this.#sinks) sink.close();
  }
}

function endOf(
  child: ChildProcess,
  clock: Clock,
  outputGraceMs: number,
  stderr: OutputSink,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    let cancelGrace = (): void => {};
    child.once('error', (error) => {
      // A signal that could not be sent is an error of a child too; it has ended by itself then.
      if (child.pid === undefined) resolve(notStarted(error, stderr));
    });
    child.once('exit', (code, signal) => {
      const end = {
        exitCode: code ?? 128 + (SIGNAL_NUMBERS[signal ?? ''] ?? 0),
        signal,
        startFailure: null,
      };
      child.once('close', () => {
        cancelGrace();
        resolve(end);
      });
      // What was printed in time may still wait in the pipe, where this process was busy meanwhile.
      cancelGrace = clock.schedule(clock.now() + outputGraceMs, () =>
        whenDrained(child, clock, () => resolve(end)),
      );
    });
  });
}

/** Rounds of I/O after which a pipe that others go on filling counts as read. */
const ROUNDS_LEFT = 16;

function whenDrained(
  child: ChildProcess,
  clock: Clock,
  then: () => void,
  roundsLeft = ROUNDS_LEFT,
): void {
  const read = (): number => bytesRead(child.stdout) + bytesRead(child.stderr);
  const before = read();
  clock.defer(() => {
    if (read() === before || roundsLeft === 0) then();
    else whenDrained(child, clock, then, roundsLeft - 1);
  });
}

function bytesRead(stream: Readable | null): number {
  return (stream as (Readable & { readonly bytesRead?: number }) | null)?.bytesRead ?? 0;
}

function notStarted(error: Error, stderr: OutputSink): CommandEnd {
  const isThere = (error as NodeJS.ErrnoException).code !== 'ENOENT';
  stderr.write(Buffer.from(`escapement: the command could not be started: ${error.message}\n`));
  stderr.close();
  return {
    exitCode: isThere ? NOT_EXECUTABLE : NOT_FOUND,
    signal: null,
    startFailure: error.message,
  };
}

function pour(from: Readable | null, to: OutputSink): void {
  from?.on('data', (chunk: Buffer) => to.write(chunk));
  // A pipe that breaks has ended.
  from?.on('error', () => {});
}
