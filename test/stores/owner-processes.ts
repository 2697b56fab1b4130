/**
 * Starts `owner-program.ts` in processes of its own and waits for what they tell.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { compiledProgram } from '../kit/compiled.ts';
import { ROOT } from '../project-files.ts';
import type { ProgramOptions } from './owner-program.ts';

/** Gives a process a network or pids of its own, like a container has; needs the rights of root. */
export const UNSHARE = 'unshare';

/** Starts it with few descriptors. */
export const FEW_DESCRIPTORS = ['/bin/sh', '-c', 'ulimit -n 128; exec "$@"', 'sh'];

const PROGRAM = 'test/stores/owner-program.ts';

export interface Told {
  readonly event: string;
  readonly pid?: number;
  readonly fence?: number;
  readonly code?: string;
  readonly message?: string;
  readonly isHeld?: boolean;
}

export type ProgramRole = 'lock' | 'lease' | 'idle' | 'cluster';

/** A directory that is gone after the test. */
export function testDirectory(): string {
  const parent = mkdtempSync(join(tmpdir(), 'escapement-owner-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true, maxRetries: 10 }));
  const directory = join(parent, 'data');
  mkdirSync(directory);
  return directory;
}

export class OwnerProcess {
  readonly told: Told[] = [];
  readonly exited: Promise<number | string>;
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  #errors = '';
  #ending: number | string | undefined;

  /** With `wrapper`, such as `unshare --net`, the process is started by that. */
  constructor(
    role: ProgramRole,
    directory: string,
    options: ProgramOptions = {},
    wrapper: readonly string[] = [],
  ) {
    const program = [process.execPath, compiledProgram(PROGRAM)];
    const [command = '', ...rest] = [...wrapper, ...program];
    this.#child = spawn(command, [...rest, role, directory, JSON.stringify(options)], {
      cwd: ROOT,
    });
    onTestFinished(() => {
      this.#child.kill('SIGKILL');
    });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.told.push(JSON.parse(line));
      this.#look();
    });
    this.#child.stderr?.on('data', (text) => {
      this.#errors += text;
    });
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

  events(): string[] {
    return this.told.map(({ event }) => event).filter((event) => event !== 'log');
  }

  /** The first, or `nth`, thing told that is called `event`. */
  async hears(event: string, nth = 1): Promise<Told> {
    return this.until(`${event} (${nth})`, () => this.#all(event)[nth - 1]);
  }

  /** The first message in the log that matches. */
  async logs(pattern: RegExp): Promise<Told> {
    return this.until(`a log of ${pattern}`, () =>
      this.#all('log').find(({ message = '' }) => pattern.test(message)),
    );
  }

  order(what: 'release' | 'exit' | 'exhaust'): void {
    this.#child.stdin?.write(`${what}\n`);
  }

  async kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.#child.kill(signal);
    if (signal === 'SIGKILL') await this.exited;
  }

  until<T>(what: string, find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = find();
        if (found === undefined && this.#ending === undefined) return;
        this.#waiting.delete(look);
        if (found !== undefined) resolve(found);
        else
          reject(new Error(`Ended with ${this.#ending} before it told ${what}: ${this.#errors}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  #all(event: string): Told[] {
    return this.told.filter((told) => told.event === event);
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}

export type OwnerFields = Record<string, unknown> & { readonly id: string; readonly pid: number };

export function ownerIn(directory: string): OwnerFields {
  return JSON.parse(readFileSync(join(directory, 'owner.json'), 'utf8'));
}

/** Puts a file in place that says what we like. */
export function writeOwner(directory: string, fields: Record<string, unknown>): void {
  writeFileSync(join(directory, 'owner.json'), JSON.stringify(fields));
}
