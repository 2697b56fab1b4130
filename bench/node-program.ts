/**
 * A program that a field starts as a process of its own, and what it says: one JSON text on
 * each line of standard output.
 *
 * Guarantees: every line carries the moment it arrived here; a caller that waits for a line of a
 * program that has ended gets an error with the end of what it wrote to standard error; no
 * program outlives this process for long, because its standard input ends then. It runs the
 * compiled file as plain Node, without flags that it was not given.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Enough of standard error to say what went wrong. */
const PROBLEMS_MAX = 4_000;

interface Line {
  readonly text: string;
  readonly arrivedAt: number;
}

export interface Said<TWhat> {
  readonly what: TWhat;
  /** Moment by this process's `performance.now()`. */
  readonly arrivedAt: number;
}

export class NodeProgram {
  /** Just before the process was asked for, by `performance.now()`. */
  readonly startedAt: number;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #lines: Line[] = [];
  #rest = '';
  #problems = '';
  #failure: Error | undefined;
  #heard: () => void = () => {};

  /** `source` is what `import.meta.resolve` says of the program's source. */
  constructor(source: string, args: readonly string[], flags: readonly string[] = []) {
    const program = fileURLToPath(source).replace(/\.ts$/, '.js');
    this.startedAt = performance.now();
    const child = spawn(process.execPath, [...flags, program, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#problems = (this.#problems + text).slice(-PROBLEMS_MAX);
    });
    const killed = (): boolean => child.kill('SIGKILL');
    process.once('exit', killed);
    this.#ended = new Promise((resolve) => {
      const ended = (how: string): void => {
        process.off('exit', killed);
        this.#failure = new Error(`${program} ${how}:\n${this.#problems}`);
        this.#heard();
        resolve();
      };
      child.once('error', ({ message }) => ended(`did not start (${message})`));
      child.once('close', (code, signal) => ended(`ended (${signal ?? code})`));
    });
  }

  /** The next line it says. */
  async next<TWhat>(): Promise<Said<TWhat>> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined)
        return { what: JSON.parse(line.text) as TWhat, arrivedAt: line.arrivedAt };
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  /** Undefined when it did not start. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Has a program that serves commands (program-commands.ts) carry one out; resolves with its answer. */
  async ask<TAnswer>(command: string, argument: unknown = null): Promise<TAnswer> {
    this.#child.stdin?.write(`${JSON.stringify({ command, argument })}\n`);
    return (await this.next<TAnswer>()).what;
  }

  /** Ends it with SIGKILL; resolves when it is gone. */
  kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    return this.#ended;
  }

  #take(text: string): void {
    const arrivedAt = performance.now();
    const [first = '', ...others] = text.split('\n');
    this.#rest += first;
    for (const next of others) {
      this.#lines.push({ text: this.#rest, arrivedAt });
      this.#rest = next;
    }
    this.#heard();
  }
}

/** An empty directory below the working directory, so on the disk that the project is on. */
export function newDirectory(name: string): string {
  const parent = join(process.cwd(), 'node_modules', '.cache');
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, `escapement-bench-${name}-`));
}
