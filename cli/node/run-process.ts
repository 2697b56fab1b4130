/**
 * Process in which a run of agents or of map-reduce is at work: the signals that stop it, and where its log goes.
 *
 * The first SIGINT or SIGTERM stops the run in order, so that it can be resumed; the second skips the grace.
 */

import type { Logger } from '../../runtime/base/limits.ts';
import type { Surroundings } from '../commands/commands.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { Output } from '../render/output.ts';

export class StopSignals {
  readonly #stopping = new AbortController();
  readonly #kill: (runId: string) => Promise<unknown>;
  #runId: string | undefined;
  #exitCode: ExitCode | undefined;

  /** `kill` ends a run without its grace. */
  constructor(process: Surroundings['host'], kill: (runId: string) => Promise<unknown>) {
    this.#kill = kill;
    process?.on('SIGINT', () => this.#take(EXIT.interrupted));
    process?.on('SIGTERM', () => this.#take(EXIT.terminated));
  }

  /** Aborted by the first. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Exit code that the first one asks for. */
  get exitCode(): ExitCode | undefined {
    return this.#exitCode;
  }

  /** Called when the run has a name. Its first programs may be at work before. */
  begun(runId: string): void {
    this.#runId = runId;
  }

  #take(exitCode: ExitCode): void {
    if (this.#exitCode !== undefined && this.#runId !== undefined)
      void this.#kill(this.#runId).catch(() => {});
    this.#exitCode ??= exitCode;
    this.#stopping.abort();
  }
}

/** A log that keeps what it is told until it is opened. */
interface HeldLogger extends Logger {
  open(): void;
}

/**
 * Warnings and errors, on standard error. It is opened when the directory of the run is: what goes wrong before that is
 * thrown, and told once.
 */
export function warningsOn(output: Output): HeldLogger {
  const held: string[] = [];
  let isOpen = false;
  const say = (level: string) => (fields: object, message: string) => {
    const line = `${level}: ${message} ${JSON.stringify(fields)}\n`;
    if (isOpen) output.complain(line);
    else held.push(line);
  };
  const open = (): void => {
    isOpen = true;
    for (const line of held.splice(0)) output.complain(line);
  };
  return { debug: () => {}, info: () => {}, warn: say('warning'), error: say('error'), open };
}
