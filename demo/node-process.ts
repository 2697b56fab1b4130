/**
 * Node process: one node of the demo as a child process: started, listened to, stopped, killed, paused.
 *
 * Guarantees: what the node logs is handed on record by record, and kept in a file of bounded size.
 * It holds the other end of the child's standard input, by which a node notices that
 * its parent is gone. A paused process goes on by itself when its time is over, even if this process
 * is killed meanwhile.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, existsSync, renameSync, type WriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { EXIT } from '../cli/exit.ts';
import type { NodePlan } from './topology.ts';

/** A line of a node's log. */
export interface LogRecord {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly msg: string;
  readonly event?: string;
  readonly [field: string]: unknown;
}

export interface NodeProcessSetup {
  readonly plan: NodePlan;
  /** Arguments that follow `node` on the command line. */
  readonly args: readonly string[];
  readonly logFile: string;
  onRecord(node: NodeProcess, record: LogRecord): void;
  onExit(node: NodeProcess, exit: NodeExit): void;
}

export interface NodeExit {
  /** It ended although nobody told it to. */
  readonly isUnexpected: boolean;
  /** For people: `exit code 78`, `SIGKILL`. */
  readonly how: string;
  /** Another process uses its data: one of a demo that was killed, and is about to end. */
  readonly isLocked: boolean;
  /** The end of what it said on standard error. */
  readonly complaint: string;
}

const LOG_BYTES_MAX = 16 * 1024 * 1024;
const COMPLAINT_LENGTH_MAX = 2_000;

export class NodeProcess {
  readonly plan: NodePlan;
  readonly #setup: NodeProcessSetup;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #isToldToEnd = false;
  #resume: (() => void) | undefined;
  /** It has started. */
  isUp = false;
  /** URL at which it listens; known from its log. */
  url: string | undefined;
  /** The fence under which it hosts; undefined while it does not. */
  fence: number | undefined;

  constructor(setup: NodeProcessSetup) {
    this.plan = setup.plan;
    this.#setup = setup;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** It was told to end and has not yet. */
  get isEnding(): boolean {
    return this.isRunning && this.#isToldToEnd;
  }

  get isPaused(): boolean {
    return this.#resume !== undefined;
  }

  /** Does nothing when it runs already. */
  start(): void {
    if (this.#child !== undefined) return;
    this.#isToldToEnd = false;
    const child = spawn(process.execPath, this.#setup.args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: childEnvironment(),
      // The terminal's Ctrl-C is for the supervisor, which tells the nodes itself, and once.
      detached: true,
    });
    this.#child = child;
    const log = new BoundedLog(this.#setup.logFile);
    // It may be gone before it has read what nobody writes.
    child.stdin?.on('error', () => {});
    if (child.stdout) createInterface(child.stdout).on('line', (line) => this.#take(line, log));
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-COMPLAINT_LENGTH_MAX);
      log.write(text);
    });
    this.#ended = new Promise((resolve) => {
      let isOver = false;
      const over = (how: string, isLocked = false): void => {
        if (isOver) return;
        isOver = true;
        this.#child = undefined;
        this.#resume?.();
        this.isUp = false;
        this.url = undefined;
        this.fence = undefined;
        log.end();
        resolve();
        const isUnexpected = !this.#isToldToEnd;
        this.#setup.onExit(this, { isUnexpected, how, isLocked, complaint });
      };
      child.on('error', (error) => over(error.message));
      child.on('close', (code, signal) =>
        over(signal ?? `exit code ${code}`, code === EXIT.locked),
      );
    });
  }

  /** Lets it finish in order, for as long as `patienceMs`; then it is killed. */
  async stop(patienceMs: number): Promise<void> {
    this.#resume?.();
    this.#signal('SIGTERM');
    const late = setTimeout(() => this.#signal('SIGKILL'), patienceMs);
    await this.#ended;
    clearTimeout(late);
  }

  /** Ends it without a chance to do anything. */
  kill(): Promise<void> {
    this.#signal('SIGKILL');
    return this.#ended;
  }

  /** Stops the process where it is; resolves when it goes on. */
  pause(lengthMs: number): Promise<void> {
    const pid = this.#child?.pid;
    if (pid === undefined || this.isPaused) return Promise.resolve();
    // A process of its own: the node must not stand still for ever because this one was killed.
    const seconds = (lengthMs / 1_000 + 1).toFixed(1);
    const wake = `sleep ${seconds}; kill -CONT ${pid}`;
    const keeper = spawn('sh', ['-c', wake], { stdio: 'ignore', detached: true });
    keeper.on('error', () => {});
    keeper.unref();
    process.kill(pid, 'SIGSTOP');
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#resume?.(), lengthMs);
      this.#resume = () => {
        clearTimeout(timer);
        this.#resume = undefined;
        // The whole group: the shell and its sleep.
        if (keeper.pid !== undefined) signalIfThere(-keeper.pid, 'SIGTERM');
        if (this.#child !== undefined) signalIfThere(pid, 'SIGCONT');
        resolve();
      };
    });
  }

  /** Ends a pause before its time. */
  resume(): void {
    this.#resume?.();
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#isToldToEnd = true;
    this.#child?.kill(signal);
  }

  #take(line: string, log: BoundedLog): void {
    log.write(`${line}\n`);
    const record = parseRecord(line);
    if (record === undefined) return;
    if (record.event === 'node.listening') {
      this.isUp = true;
      if (typeof record.url === 'string') this.url = record.url;
    }
    if (record.event === 'node.hosting' && typeof record.fence === 'number')
      this.fence = record.fence;
    // One that drains answers no more, also while it still has the lease.
    if (record.msg === 'no longer hosting' || record.event === 'node.draining')
      this.fence = undefined;
    this.#setup.onRecord(this, record);
  }
}

/** Undefined for what is no record: a warning of Node, say. */
function parseRecord(line: string): LogRecord | undefined {
  try {
    const record: unknown = JSON.parse(line);
    const { time, msg } = (record ?? {}) as { time?: unknown; msg?: unknown };
    if (typeof time !== 'number' || typeof msg !== 'string') return undefined;
    return record as LogRecord;
  } catch {
    return undefined;
  }
}

/** A node of the demo is what its file says: settings meant for another one stay out. */
function childEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('ESCAPEMENT_'));
  return Object.fromEntries(own);
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/** Keeps the log of the start before, and stops when the file is full. */
class BoundedLog {
  readonly #stream: WriteStream;
  #leftBytes = LOG_BYTES_MAX;

  constructor(file: string) {
    if (existsSync(file)) renameSync(file, `${file}.before`);
    this.#stream = createWriteStream(file);
    // A log that cannot be written must not end the demo.
    this.#stream.on('error', () => {});
  }

  write(text: string): void {
    if (this.#leftBytes <= 0) return;
    this.#leftBytes -= Buffer.byteLength(text);
    this.#stream.write(this.#leftBytes > 0 ? text : `${text}… the log is full\n`);
  }

  end(): void {
    this.#stream.end();
  }
}
