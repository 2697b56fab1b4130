/**
 * `agents run` or `mapreduce run` with `--listen` as a process of its own: where its page is, and how it ended.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { compiledProgram } from '../../kit/compiled.ts';

export interface RunEnd {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class StartedRun {
  readonly child: ChildProcess;
  readonly ended: Promise<RunEnd>;
  readonly #listens: Promise<string>;
  #out = '';
  #err = '';

  constructor(args: readonly string[], cwd: string) {
    const all = [compiledProgram(), ...args, '--listen', '127.0.0.1:0', '--json'];
    this.child = spawn(process.execPath, all, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.on('data', (text) => {
      this.#out += text;
    });
    this.#listens = new Promise((resolve, reject) => {
      this.child.stderr?.on('data', (text) => {
        this.#err += text;
        const [, url] = /^listening on (\S+)$/m.exec(this.#err) ?? [];
        if (url !== undefined) resolve(url);
      });
      this.child.on('close', () => reject(new Error(`It never listened: ${this.#err}`)));
    });
    this.ended = new Promise((resolve) =>
      this.child.on('close', (code) => resolve({ code, out: this.#out, err: this.#err })),
    );
  }

  /** Address of the page, once it serves it. */
  async page(view = ''): Promise<string> {
    return `${await this.#listens}/inspector/${view}`;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.ended;
  }
}
