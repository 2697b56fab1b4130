/**
 * Process worker: a program in a group of its own that speaks JSON Lines on its standard streams.
 */

import type { StopReason } from '../../../machines/agents/words.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { ProcessGroups } from '../../processes.ts';
import { Lines } from '../lines.ts';
import { readLine } from '../protocol.ts';
import type { ToAgent, WorkerListener } from '../worker.ts';
import { CommandWorker, type CommandWorkerOptions } from './command-worker.ts';

export interface ProcessOptions extends CommandWorkerOptions {
  readonly attemptId: string;
  readonly lineBytesMax: number;
}

/** Waiting for an agent to read them. */
const QUEUED_BYTES_MAX = 1_048_576;

export class ProcessWorker extends CommandWorker {
  readonly #listener: WorkerListener;
  readonly #options: ProcessOptions;
  readonly #lines: Lines;
  #bytes = 0;
  /** Of the last line, from 1. */
  #number = 0;
  #isClosed = false;

  constructor(
    options: ProcessOptions,
    groups: ProcessGroups,
    clock: Clock,
    listener: WorkerListener,
  ) {
    super(options, groups, clock, listener);
    this.#options = options;
    this.#listener = listener;
    const { lineBytesMax } = options;
    this.#lines = new Lines(lineBytesMax, {
      line: (text, isWhole) => this.#line(text, isWhole),
      tooLong: (text) =>
        listener.malformed(`it is longer than ${lineBytesMax} bytes`, ++this.#number, text),
    });
  }

  send(line: ToAgent): void {
    const { stdin } = this.command;
    if (stdin === null || stdin.destroyed || stdin.writableEnded) return;
    stdin.write(`${JSON.stringify(line)}\n`);
    if (stdin.writableLength > QUEUED_BYTES_MAX) this.#listener.exceeded('stdinBlocked');
  }

  override stop(reason: StopReason, line: ToAgent): void {
    this.send(line);
    super.stop(reason, line);
  }

  override release(): Promise<void> {
    this.#isClosed = true;
    return super.release();
  }

  protected takeOutput(chunk: Buffer): void {
    if (this.#counts(chunk)) this.#lines.write(chunk);
  }

  protected closeOutput(): void {
    if (!this.#isClosed) this.#lines.close();
  }

  #counts({ length }: Buffer): boolean {
    if (this.#bytes > this.#options.outputBytesMax) return false;
    this.#bytes += length;
    if (this.#bytes <= this.#options.outputBytesMax) return true;
    this.#isClosed = true;
    this.#listener.exceeded('outputLimit');
    return false;
  }

  #line(text: string, isWhole: boolean): void {
    this.#number += 1;
    const read = readLine(text, isWhole, this.#options.attemptId);
    if (read.kind === 'blank') return;
    this.#listener.seen();
    if (read.kind === 'event') this.#listener.event(read.event);
    else if (read.kind === 'malformed') this.#listener.malformed(read.why, this.#number, text);
    else {
      this.#options.log.write(`${text}\n`);
      this.#listener.stray(text);
    }
  }
}
