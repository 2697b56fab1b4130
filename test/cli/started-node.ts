/**
 * `escapement start …` as a process of its own: what it logs as it logs it, and how it ended.
 *
 * Whatever is still there when the tests end is killed.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { compiledProgram } from '../kit/compiled.ts';

export interface NodeEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly err: string;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
  /** How many files it may open. */
  readonly descriptorsMax?: number;
}

type LogLine = Readonly<Record<string, unknown>>;

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class StartedNode {
  readonly lines: LogLine[] = [];
  readonly ended: Promise<NodeEnd>;
  readonly child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  #err = '';

  static async start(args: readonly string[], options: StartOptions = {}): Promise<StartedNode> {
    return new StartedNode(compiledProgram(), args, options);
  }

  /** Resolves once it serves. @throws what it complained of when it ends before. */
  static async serving(args: readonly string[], options?: StartOptions): Promise<StartedNode> {
    const node = await StartedNode.start(args, options);
    await node.said('node.listening');
    return node;
  }

  private constructor(program: string, args: readonly string[], options: StartOptions) {
    const { cwd, uid, env, descriptorsMax } = options;
    const shell = ['/bin/sh', '-c', `ulimit -n ${descriptorsMax}; exec "$@"`, 'sh'];
    const limited = descriptorsMax === undefined ? [] : shell;
    const [command = '', ...rest] = [...limited, process.execPath, program, 'start', ...args];
    this.child = spawn(command, rest, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...env },
      ...(cwd !== undefined && { cwd }),
      ...(uid !== undefined && { uid }),
    });
    running.add(this.child);
    const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => {
      this.lines.push(JSON.parse(line));
      this.#wake();
    });
    this.child.stderr?.on('data', (text) => {
      this.#err += text;
    });
    this.child.stdin?.on('error', () => {});
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject);
      this.child.on('close', (code, signal) => {
        running.delete(this.child);
        resolve({ code, signal, err: this.#err });
        this.#wake();
      });
    });
  }

  get url(): string {
    return String(this.lines.find(({ event }) => event === 'node.listening')?.url);
  }

  /** Where peers dial it. */
  get peerUrl(): string {
    return `${this.url.replace('http', 'ws')}/peers`;
  }

  /** The first line of this event, now or later; one that `matches`. */
  async said(event: string, matches: (line: LogLine) => boolean = () => true): Promise<LogLine> {
    for (;;) {
      const line = this.lines.find((one) => one.event === event && matches(one));
      if (line !== undefined) return line;
      if (!running.has(this.child))
        throw new Error(
          `It ended and never said ${event}: ${this.#err}${JSON.stringify(this.lines)}`,
        );
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** In order. */
  stop(): Promise<NodeEnd> {
    this.child.kill('SIGTERM');
    return this.ended;
  }

  kill(): Promise<NodeEnd> {
    this.child.kill('SIGKILL');
    return this.ended;
  }

  /** What its HTTP API answers. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(this.url + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
