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

/** Warnings and errors, on standard error. */
export function warningsOn(output: Output): Logger {
  const say = (level: string) => (fields: object, message: string) =>
    output.complain(`${level}: ${message} ${JSON.stringify(fields)}\n`);
  return { debug: () => {}, info: () => {}, warn: say('warning'), error: say('error') };
}
