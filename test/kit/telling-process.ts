/**
 * A program of the tests in a process of its own, which tells what happens to it as lines of JSON.
 *
 * Guarantees: a caller that waits for something is told when the process ends before, with what it said last.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ROOT } from '../project-files.ts';
import { compiledProgram } from './compiled.ts';

export class TellingProcess<TTold> {
  readonly told: TTold[] = [];
  readonly exited: Promise<number | string>;
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  #errors = '';
  #ending: number | string | undefined;

  /** `program`: its path in the project. With `wrapper`, such as `unshare --net`, the process is started by that. */
  constructor(program: string, words: readonly string[], wrapper: readonly string[] = []) {
    const node = [process.execPath, compiledProgram(program)];
    const [command = '', ...rest] = [...wrapper, ...node, ...words];
    this.#child = spawn(command, rest, { cwd: ROOT });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.told.push(JSON.parse(line));
      this.#look();
    });
    this.#child.stderr?.on('data', (text) => {
      this.#errors += text;
    });
    // An order to a process that has just been killed is no failure of the test.
    this.#child.stdin?.on('error', () => {});
    this.exited = new Promise((resolve) => {
      this.#child.on('exit', (code, signal) => {
        this.#ending = code ?? signal ?? 'unknown';
        resolve(this.#ending);
        this.#look();
      });
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  get isAlive(): boolean {
    return this.#ending === undefined;
  }

  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Waits until it has ended where the signal is one that nobody survives. */
  async kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): Promise<void> {
    this.#child.kill(signal);
    if (signal === 'SIGKILL') await this.exited;
  }

  /** Looks after each line. @throws {Error} when the process ends before anything is found */
  until<T>(what: string, find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found === undefined && this.isAlive) return;
        this.#waiting.delete(look);
        if (found !== undefined) resolve(found);
        else
          reject(new Error(`Ended with ${this.#ending} before it told ${what}: ${this.#errors}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}
