/** `escapement start …` as a process of its own: what it logs as it logs it, and how it ended. */

import { compiledProgram } from '../kit/compiled.ts';
import { StartedProcess } from '../kit/started-process.ts';

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
  /** How many files it may open. */
  readonly descriptorsMax?: number;
}

type LogLine = Readonly<Record<string, unknown>>;

export class StartedNode extends StartedProcess {
  readonly lines: LogLine[] = [];

  /** Resolves once it serves. @throws what it complained of when it ends before. */
  static async serving(args: readonly string[], options?: StartOptions): Promise<StartedNode> {
    const node = new StartedNode(args, options);
    await node.said('node.listening');
    return node;
  }

  constructor(args: readonly string[], options: StartOptions = {}) {
    const { descriptorsMax, env, ...others } = options;
    const shell = ['/bin/sh', '-c', `ulimit -n ${descriptorsMax}; exec "$@"`, 'sh'];
    const limited = descriptorsMax === undefined ? [] : shell;
    super([...limited, process.execPath, compiledProgram(), 'start', ...args], {
      ...others,
      env: { PATH: process.env.PATH, ...env },
    });
    this.hear((line) => this.lines.push(JSON.parse(line)));
  }

  get url(): string {
    return String(this.lines.find(({ event }) => event === 'node.listening')?.url);
  }

  /** Where peers dial it. */
  get peerUrl(): string {
    return `${this.url.replace('http', 'ws')}/peers`;
  }

  /** The first line of this event, now or later; one that `matches`. */
  said(event: string, matches: (line: LogLine) => boolean = () => true): Promise<LogLine> {
    return this.until(`it said ${event}`, () =>
      this.lines.find((one) => one.event === event && matches(one)),
    );
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
}
