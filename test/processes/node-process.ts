/**
 * One node of a cluster as a process of its own: `escapement start …`, heard, stopped and killed.
 *
 * It is over when its output has been read to the end, not when the process is gone: what it said
 * before it was killed counts.
 */

import { StartedProcess } from '../kit/started-process.ts';
import type { LogBook } from './log-book.ts';

export interface NodeProcessOptions {
  readonly node: string;
  readonly role: 'gate' | 'manager' | 'worker';
  /** The compiled command line. */
  readonly program: string;
  readonly configuration: string;
  readonly book: LogBook;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Of what it printed outside of its log, for the message about an end that nobody wanted. */
const OUTPUT_LENGTH_MAX = 8_000;

export class NodeProcess {
  readonly node: string;
  /** Resolves with where it serves; rejects when it ends before. */
  readonly listening: Promise<string>;
  /** Resolves when it hosts its place; never, when it does not. */
  readonly hosting: Promise<void>;
  /** Resolves with how it ended: an exit code, or the name of a signal. */
  readonly over: Promise<number | string>;
  readonly #child: StartedProcess;
  #output = '';
  #isStopped = false;
  #isDeposed = false;
  #isWanted = true;

  constructor(options: NodeProcessOptions) {
    const { node, role, program, configuration, book, environment } = options;
    const argv = [program, 'start', role, '--config', configuration, '--exit-with-parent'];
    // Its standard input closes with this process: nobody is left behind.
    const child = new StartedProcess([process.execPath, ...argv], {
      env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...environment },
    });
    this.node = node;
    this.#child = child;
    const closed = child.exited.catch((thrown: Error) => thrown.message);
    child.child.stderr?.on('data', (text) => this.#keep(String(text)));
    this.over = closed.then((ending) => {
      this.#isDeposed = this.#isStopped && this.#isWanted && ending === 'SIGKILL';
      return ending;
    });
    const heard = (event: string): Promise<Readonly<Record<string, unknown>>> =>
      new Promise((resolve) => {
        const forget = book.read((record) => {
          if (record.node !== node || record.event !== event) return;
          forget();
          resolve(record.fields);
        });
        void closed.then(forget);
      });
    this.hosting = heard('node.hosting').then(() => undefined);
    this.listening = Promise.race([
      heard('node.listening').then(({ url }) => String(url)),
      closed.then((ending) => Promise.reject(this.unwanted(ending))),
    ]);
    // Anybody who waits for something else hears of the end there.
    this.listening.catch(() => {});
    child.hear((line) => {
      // Failures have an event too, and are what one wants to read.
      if (!book.take(node, line) || line.includes('"error":')) this.#keep(`${line}\n`);
    });
  }

  /** Nobody has asked for its end. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** A standby has killed it, because it stood still for longer than its lease. */
  get isDeposed(): boolean {
    return this.#isDeposed;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** As a power cut would: nothing is said and nothing is put in order. */
  kill(): void {
    this.#isWanted = false;
    this.#child.signal('SIGKILL');
  }

  /** In order, as an operator would. */
  terminate(): void {
    this.#isWanted = false;
    this.resume();
    this.#child.signal('SIGTERM');
  }

  /** Stands still, with all that it holds. */
  pause(): void {
    this.#isStopped = true;
    this.#child.signal('SIGSTOP');
  }

  resume(): void {
    this.#isStopped = false;
    this.#child.signal('SIGCONT');
  }

  /** The error for an end that nobody had asked for. */
  unwanted(ending: number | string): Error {
    return new Error(`${this.node} ended by itself (${ending}): ${this.#output.trim()}`);
  }

  #keep(text: string): void {
    this.#output = `${this.#output}${text}`.slice(-OUTPUT_LENGTH_MAX);
  }
}
