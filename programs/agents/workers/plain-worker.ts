/**
 * Plain worker: any program that takes a prompt and prints a text. Exit code 0 makes the text its result, any other a
 * failure; checkpoints are asked for through a file that it touches, or not at all.
 */

import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StopReason } from '../../../machines/agents/words.ts';
import type { Cancel, Clock } from '../../../runtime/ports/clock.ts';
import { Command, OutputText, type ProcessGroups } from '../../processes.ts';
import type { ToAgent, Worker, WorkerEnd, WorkerListener } from '../worker.ts';
import { failureOf, type ProcessOptions } from './process-worker.ts';

export interface PlainOptions extends ProcessOptions {
  readonly prompt: string;
  readonly isPromptArgument: boolean;
  /** File that it touches for a checkpoint; null: there are none. */
  readonly checkpointFile: string | null;
}

const OUTPUT_GRACE_MS = 100;
const LOOK_EVERY_MS = 100;
const STATUS_BYTES_MAX = 4_096;

export class PlainWorker implements Worker {
  readonly #command: Command;
  readonly #groups: ProcessGroups;
  readonly #clock: Clock;
  readonly #listener: WorkerListener;
  readonly #options: PlainOptions;
  readonly #text: OutputText;
  #request: string | null = null;
  #touchedAt = 0;
  #cancelLook: Cancel = () => {};
  #isStopped = false;
  readonly ended: Promise<WorkerEnd>;

  constructor(
    options: PlainOptions,
    groups: ProcessGroups,
    clock: Clock,
    listener: WorkerListener,
  ) {
    this.#options = options;
    this.#groups = groups;
    this.#clock = clock;
    this.#listener = listener;
    const { argv, cwd, prompt, isPromptArgument, checkpointFile, log, watchLog } = options;
    this.#text = new OutputText(options.outputBytesMax);
    const line = isPromptArgument ? argv.map((each) => each.replaceAll('{prompt}', prompt)) : argv;
    if (checkpointFile !== null)
      mkdirSync(dirname(checkpointFile), { recursive: true, mode: 0o700 });
    const variables = { ...options.env, ESCAPEMENT_PROMPT: isPromptArgument ? '' : prompt };
    const env = isPromptArgument || prompt.length > PROMPT_LENGTH_MAX ? options.env : variables;
    this.#command = new Command(
      {
        argv: line as [string, ...string[]],
        cwd,
        env: {
          ...env,
          ...(checkpointFile !== null && { ESCAPEMENT_CHECKPOINT_FILE: checkpointFile }),
        },
        hasInput: true,
        outputGraceMs: OUTPUT_GRACE_MS,
        stdout: {
          write: (chunk) => {
            this.#text.write(chunk);
            log.write(chunk);
            listener.seen();
          },
          close: () => this.#text.close(),
        },
        stderr: {
          write: (chunk) => {
            log.write(chunk);
            watchLog(chunk.toString('latin1'));
            listener.seen();
          },
          close: () => log.trim(),
        },
      },
      clock,
    );
    this.#command.stdin?.end(isPromptArgument ? '' : prompt);
    this.#look();
    this.ended = this.#command.ended.then(({ exitCode, signal, startFailure }) => {
      this.#cancelLook();
      this.#conclude(exitCode, startFailure);
      return {
        exitCode,
        signal,
        startFailure: startFailure === null ? null : failureOf(startFailure),
      };
    });
  }

  get group(): number | null {
    return this.#command.group ?? null;
  }

  get startTicks(): string | null {
    return this.#command.startTicks ?? null;
  }

  /** It reads nothing but its prompt; a request is what the file is watched for. */
  send({ type, requestId }: ToAgent): void {
    if (type === 'checkpoint.requested') this.#request = String(requestId);
  }

  closeInput(): void {
    this.#command.stdin?.end();
  }

  stop(_reason: StopReason, _line: ToAgent): void {
    this.#isStopped = true;
    if (this.group !== null) this.#groups.signal(this.group, 'SIGTERM');
  }

  kill(): void {
    this.#isStopped = true;
    if (this.group !== null) this.#groups.signal(this.group, 'SIGKILL');
  }

  get isEmpty(): boolean {
    return this.group === null || this.#groups.isEmpty(this.group);
  }

  whenEmpty(then: () => void): Cancel {
    if (this.group !== null) return this.#groups.whenEmpty(this.group, then);
    then();
    return () => {};
  }

  pause(): void {
    this.#command.pause();
  }

  resume(): void {
    this.#command.resume();
  }

  release(): void {
    this.#cancelLook();
    this.#command.release();
  }

  /** Its exit is its last line. */
  #conclude(exitCode: number, startFailure: string | null): void {
    if (startFailure !== null || this.#isStopped) return;
    const text = this.#text.text.trim();
    if (exitCode === 0) this.#listener.event({ type: 'result.reported', result: text });
    else {
      const error = `it exited with code ${exitCode}`;
      this.#listener.event({ type: 'failure.reported', error, retryable: true });
    }
  }

  #look(): void {
    const { checkpointFile } = this.#options;
    if (checkpointFile === null) return;
    this.#cancelLook = this.#clock.schedule(this.#clock.now() + LOOK_EVERY_MS, () => {
      this.#take(checkpointFile);
      this.#look();
    });
  }

  #take(file: string): void {
    let touchedAt = 0;
    let status = '';
    try {
      touchedAt = statSync(file).mtimeMs;
      status = readFileSync(file).subarray(0, STATUS_BYTES_MAX).toString().trim();
    } catch {
      // It was never touched.
    }
    if (touchedAt === this.#touchedAt) return;
    this.#touchedAt = touchedAt;
    const checkpoint = {
      status: status === '' ? 'at work' : status,
      completed: [],
      remaining: [],
      progressPercent: null,
      data: null,
    };
    const requestId = this.#request;
    this.#request = null;
    this.#listener.seen();
    this.#listener.event({ type: 'checkpoint.reported', requestId, checkpoint });
  }
}

/** As long as one variable may safely be. */
const PROMPT_LENGTH_MAX = 100_000;
