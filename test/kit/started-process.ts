/**
 * Process that a test has started: what it says as it says it, how it ended, and none left behind.
 *
 * Guarantees: it has ended when all that it said has been read. A caller that waits for something is told when the
 * process ends before, with what it complained of. What is still there when the tests end is killed.
 */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Of lines that were handed on, for the message about an end that nobody wanted. */
const TAIL_CHARACTERS = 8_000;
const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

export class StartedProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<ProcessEnd>;
  readonly #waiting = new Set<() => void>();
  #out = '';
  #err = '';
  #isOver = false;
  #keptMax = Number.POSITIVE_INFINITY;

  constructor([program = '', ...args]: readonly string[], options: SpawnOptions = {}) {
    const child = spawn(program, args, options);
    this.child = child;
    alive.add(child);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#out = (this.#out + text).slice(-this.#keptMax);
      this.#look();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text;
      this.#look();
    });
    // A word to a process that has just been killed is no failure of the test.
    child.stdin?.on('error', () => {});
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => alive.delete(child));
      child.once('close', (code, signal) => {
        this.#isOver = true;
        resolve({ code, signal, out: this.#out, err: this.#err });
        this.#look();
      });
    });
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get isAlive(): boolean {
    return alive.has(this.child);
  }

  /** What it has printed so far; the end of it, where its lines are handed on. */
  get out(): string {
    return this.#out;
  }

  /** What it has said on standard error so far. */
  get err(): string {
    return this.#err;
  }

  /** Hands on each line that it prints. */
  hear(line: (line: string) => void): void {
    this.#keptMax = TAIL_CHARACTERS;
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (text) => {
      line(text);
      this.#look();
    });
  }

  /** Its exit code, or the name of the signal that ended it. */
  get exited(): Promise<number | string> {
    return this.ended.then(({ code, signal }) => code ?? signal ?? 'unknown');
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  kill(): Promise<ProcessEnd> {
    this.signal('SIGKILL');
    return this.ended;
  }

  /** In order. */
  stop(): Promise<ProcessEnd> {
    this.signal('SIGTERM');
    return this.ended;
  }

  /** Looks whenever it says something. @throws {Error} when the process ends before anything is found */
  until<T>(what: string, find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found === undefined && !this.#isOver) return;
        this.#waiting.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`It ended before ${what}: ${this.#err}${this.#out}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}
