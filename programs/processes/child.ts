/**
 * Child: a started program as a command sees it, from this process or from a launcher.
 *
 * `launchHere` starts it as a child of this process. What a start costs grows with the memory of the process that
 * forks: see launcher.ts for many of them.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface LaunchSpec {
  /** The program and its arguments; the first is looked up on PATH of `env`. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment: nothing of this process's own is added. */
  readonly env: Readonly<Record<string, string>>;
  /** True: its standard input is a pipe, `stdin`. Default: it reads nothing. */
  readonly hasInput?: boolean;
}

/** What a child tells: `started`, output and `exited`, `closed`; or `failed` alone, or `lost` at any moment. */
export interface ChildListener {
  started(pid: number): void;
  output(stream: 'out' | 'err', chunk: Buffer): void;
  exited(code: number | null, signal: string | null): void;
  /** Nobody has its pipes open any more. */
  closed(): void;
  /** It could not be started. */
  failed(error: Error): void;
  /** Nothing more will be known of it, though it may live. */
  lost(): void;
}

export interface Child {
  /** Null without one. */
  readonly stdin: Writable | null;
  /** Bytes of output that have come so far. */
  readonly bytesRead: number;
  /** Leaves what it prints on its standard output in the pipe, until `resume`. */
  pause(): void;
  resume(): void;
  /** Lets go of its pipes. */
  release(): void;
}

/** Starts a program as the leader of a process group of its own. Does not throw. */
export type Launch = (spec: LaunchSpec, listener: ChildListener) => Child;

export const launchHere: Launch = ({ argv, cwd, env, hasInput }, listener) => {
  const [program, ...args] = argv;
  const input = hasInput === true ? 'pipe' : 'ignore';
  let child: ChildProcess;
  try {
    child = spawn(program, args, { cwd, env, detached: true, stdio: [input, 'pipe', 'pipe'] });
  } catch (thrown) {
    listener.failed(thrown as Error);
    return NO_CHILD;
  }
  const { pid } = child;
  if (pid !== undefined) listener.started(pid);
  child.once('error', (error) => {
    // A signal that could not be sent is an error of a child too; it has ended by itself then.
    if (pid === undefined) listener.failed(error);
  });
  child.once('exit', (code, signal) => {
    listener.exited(code, signal);
    child.once('close', () => listener.closed());
  });
  pour(child.stdout, 'out', listener);
  pour(child.stderr, 'err', listener);
  // A program that has closed its end of the pipe does not read it.
  child.stdin?.on('error', () => {});
  return new OwnChild(child);
};

const NO_CHILD: Child = {
  stdin: null,
  bytesRead: 0,
  pause: () => {},
  resume: () => {},
  release: () => {},
};

class OwnChild implements Child {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  get stdin(): Writable | null {
    return this.#child.stdin;
  }

  get bytesRead(): number {
    return bytesRead(this.#child.stdout) + bytesRead(this.#child.stderr);
  }

  pause(): void {
    this.#child.stdout?.pause();
  }

  resume(): void {
    this.#child.stdout?.resume();
  }

  release(): void {
    this.#child.stdin?.destroy();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }
}

function bytesRead(stream: Readable | null): number {
  return (stream as (Readable & { readonly bytesRead?: number }) | null)?.bytesRead ?? 0;
}

function pour(from: Readable | null, stream: 'out' | 'err', listener: ChildListener): void {
  from?.on('data', (chunk: Buffer) => listener.output(stream, chunk));
  // A pipe that breaks has ended.
  from?.on('error', () => {});
}
