/**
 * Program of a launcher: starts commands for another process, and tells what they print and how they end.
 *
 * It is a process of little memory, so that forking it is cheap. It travels as the text of one class, which needs no
 * file and no package where it runs: nothing outside of it may be named in it but types. It decides nothing.
 *
 *   in, lines of JSON     {base: environment}, then {id, argv, cwd, env, unset} to start a command, {release: id}
 *   out, frames           kind, id, length of the rest (1, 4 and 4 bytes), and the rest:
 *                         ready · started: pid · out, err: bytes · exited, failed: JSON · closed
 *
 * A command that ends at once is told of by one frame. It ends when its input does, and leaves what runs alone.
 */

import type * as ChildProcesses from 'node:child_process';
import type * as Net from 'node:net';
import type * as Own from 'node:process';
import type * as Timers from 'node:timers';

/** A command as it is told to the launcher. `env` and `unset` are differences from the environment told first. */
export interface Order {
  readonly id: number;
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly unset: readonly string[];
}

export interface Exited {
  readonly pid: number;
  readonly code: number | null;
  readonly signal: string | null;
  /** True when its pipes are closed as well. */
  readonly isClosed: boolean;
}

export interface Failed {
  readonly message: string;
  readonly code: string | undefined;
}

export const FRAME_KINDS = [
  'ready',
  'started',
  'out',
  'err',
  'exited',
  'closed',
  'failed',
] as const;
export type FrameKind = (typeof FRAME_KINDS)[number];
export const FRAME_HEAD_BYTES = 9;

const SETTINGS = { kinds: FRAME_KINDS, startedToldAfterMs: 10, exitedToldAfterMs: 5 };

/** Text of a script that does all this. */
export function launcherScript(): string {
  // Some compilers name classes and functions by a helper of this name.
  const prelude = 'const __name = (named) => named;';
  return `${prelude} new (${LauncherProgram.toString()})(require, ${JSON.stringify(SETTINGS)}).run();`;
}

class LauncherProgram {
  readonly load: NodeJS.Require;
  readonly settings: typeof SETTINGS;
  readonly spawn: typeof ChildProcesses.spawn;
  readonly timers: typeof Timers;
  readonly output: Net.Socket;
  readonly children = new Map<number, ChildProcesses.ChildProcess>();
  base: Readonly<Record<string, string>> = {};
  isFull = false;

  constructor(load: NodeJS.Require, settings: typeof SETTINGS) {
    this.load = load;
    this.settings = settings;
    this.spawn = (load('node:child_process') as typeof ChildProcesses).spawn;
    this.timers = load('node:timers') as typeof Timers;
    const { Socket } = load('node:net') as typeof Net;
    this.output = new Socket({ fd: 1 });
  }

  run(): void {
    const own = this.load('node:process') as typeof Own;
    this.output.on('drain', () => this.pour(false));
    this.output.on('error', () => own.exit(0));
    // They are for the other process, which says what is to be stopped.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) own.on(signal, () => {});
    own.title = 'escapement-launcher';
    let text = '';
    own.stdin.setEncoding('utf8');
    own.stdin.on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.take(line);
    });
    own.stdin.on('end', () => own.exit(0));
    this.tell('ready', 0, '');
  }

  take(line: string): void {
    const order = JSON.parse(line) as Order & {
      readonly base?: Readonly<Record<string, string>>;
      readonly release?: number;
    };
    if (order.base !== undefined) this.base = order.base;
    else if (order.release === undefined) this.start(order);
    else {
      this.children.get(order.release)?.stdout?.destroy();
      this.children.get(order.release)?.stderr?.destroy();
    }
  }

  start({ id, argv, cwd, env, unset }: Order): void {
    const variables: Record<string, string> = { ...this.base, ...env };
    for (const name of unset) delete variables[name];
    const [program, ...args] = argv;
    const failed = (error: Error): void => {
      const { message, code } = error as NodeJS.ErrnoException;
      this.tell('failed', id, JSON.stringify({ message, code }));
    };
    try {
      const child = this.spawn(program, args, {
        cwd,
        env: variables,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const { pid } = child;
      child.once('error', (error) => {
        if (pid === undefined) failed(error);
      });
      if (pid !== undefined) this.follow(id, child, pid);
    } catch (thrown) {
      failed(thrown as Error);
    }
  }

  follow(id: number, child: ChildProcesses.ChildProcess, pid: number): void {
    const { timers, settings } = this;
    this.children.set(id, child);
    child.stdout?.on('data', (chunk: Buffer) => this.tell('out', id, chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.tell('err', id, chunk));
    child.stdout?.on('error', () => {});
    child.stderr?.on('error', () => {});
    if (this.isFull) this.pour(true);
    const number = Buffer.alloc(4);
    number.writeUInt32LE(pid);
    const started = timers.setTimeout(
      () => this.tell('started', id, number),
      settings.startedToldAfterMs,
    );
    let tellExit: ((isClosed: boolean) => void) | undefined;
    child.once('exit', (code, signal) => {
      timers.clearTimeout(started);
      const waiting = timers.setTimeout(() => tellExit?.(false), settings.exitedToldAfterMs);
      tellExit = (isClosed) => {
        timers.clearTimeout(waiting);
        tellExit = undefined;
        this.tell('exited', id, JSON.stringify({ pid, code, signal, isClosed }));
      };
    });
    child.once('close', () => {
      this.children.delete(id);
      if (tellExit === undefined) this.tell('closed', id, '');
      else tellExit(true);
    });
  }

  tell(kind: FrameKind, id: number, rest: string | Buffer): void {
    const bytes = typeof rest === 'string' ? Buffer.from(rest) : rest;
    const frame = Buffer.allocUnsafe(9 + bytes.length);
    frame[0] = this.settings.kinds.indexOf(kind);
    frame.writeUInt32LE(id, 1);
    frame.writeUInt32LE(bytes.length, 5);
    bytes.copy(frame, 9);
    if (!this.output.write(frame) && !this.isFull) this.pour(true);
  }

  /** A reader that is behind holds up what is read for it. */
  pour(isFull: boolean): void {
    this.isFull = isFull;
    const move = isFull ? 'pause' : 'resume';
    for (const { stdout, stderr } of this.children.values()) {
      stdout?.[move]();
      stderr?.[move]();
    }
  }
}
