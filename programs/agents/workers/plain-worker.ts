/**
 * Plain worker: any program that takes a prompt and prints a text. Exit code 0 makes the text its result, any other a
 * failure; checkpoints are asked for through a file that it touches, or not at all.
 */

import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StopReason } from '../../../machines/agents/words.ts';
import type { Cancel, Clock } from '../../../runtime/ports/clock.ts';
import { type CommandEnd, OutputText, type ProcessGroups } from '../../processes.ts';
import type { ToAgent, WorkerListener } from '../worker.ts';
import { CommandWorker, type CommandWorkerOptions } from './command-worker.ts';

export interface PlainOptions extends CommandWorkerOptions {
  readonly prompt: string;
  readonly isPromptArgument: boolean;
  /** File that it touches for a checkpoint; null: there are none. */
  readonly checkpointFile: string | null;
}

const LOOK_EVERY_MS = 100;
const STATUS_BYTES_MAX = 4_096;
/** As long as one variable may safely be. */
const PROMPT_LENGTH_MAX = 100_000;

export class PlainWorker extends CommandWorker {
  readonly #clock: Clock;
  readonly #listener: WorkerListener;
  readonly #options: PlainOptions;
  readonly #text: OutputText;
  #request: string | null = null;
  #touchedAt = 0;
  #cancelLook: Cancel = () => {};
  #isStopped = false;

  constructor(
    options: PlainOptions,
    groups: ProcessGroups,
    clock: Clock,
    listener: WorkerListener,
  ) {
    const { prompt, isPromptArgument, checkpointFile, outputBytesMax } = options;
    if (checkpointFile !== null)
      mkdirSync(dirname(checkpointFile), { recursive: true, mode: 0o700 });
    super({ ...options, ...commandOf(options) }, groups, clock, listener);
    this.#options = options;
    this.#clock = clock;
    this.#listener = listener;
    this.#text = new OutputText(outputBytesMax);
    this.command.stdin?.end(isPromptArgument ? '' : prompt);
    this.#look();
  }

  /** It reads nothing but its prompt; a request is what the file is watched for. */
  send({ type, requestId }: ToAgent): void {
    if (type === 'checkpoint.requested') this.#request = String(requestId);
  }

  override stop(reason: StopReason, line: ToAgent): void {
    this.#isStopped = true;
    super.stop(reason, line);
  }

  override kill(): void {
    this.#isStopped = true;
    super.kill();
  }

  override release(): Promise<void> {
    this.#cancelLook();
    return super.release();
  }

  protected takeOutput(chunk: Buffer): void {
    this.#text.write(chunk);
    this.#options.log.write(chunk);
    this.#listener.seen();
  }

  protected closeOutput(): void {
    this.#text.close();
  }

  /** Its exit is its last line. */
  protected override conclude({ exitCode, startFailure }: CommandEnd): void {
    this.#cancelLook();
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

/** Arguments and environment of its program, with the prompt in one of them unless it is too long. */
function commandOf({ argv, env, prompt, isPromptArgument, checkpointFile }: PlainOptions) {
  const line = isPromptArgument ? argv.map((each) => each.replaceAll('{prompt}', prompt)) : argv;
  const isVariable = !isPromptArgument && prompt.length <= PROMPT_LENGTH_MAX;
  return {
    argv: line as [string, ...string[]],
    env: {
      ...env,
      ...(isVariable && { ESCAPEMENT_PROMPT: prompt }),
      ...(checkpointFile !== null && { ESCAPEMENT_CHECKPOINT_FILE: checkpointFile }),
    },
  };
}
