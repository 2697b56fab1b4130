/**
 * Compaction: the hook that gets the checkpoints of a run when its context runs low.
 */

import type { Checkpoint } from '../../machines/agents/words.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { Command, OutputText, ProcessGroups } from '../processes.ts';
import type { Mark } from './marks.ts';

export interface CompactionInput {
  readonly runId: string;
  readonly checkpoints: ReadonlyArray<
    Checkpoint & { readonly taskId: string; readonly attemptId: string }
  >;
}

export interface Percentages {
  readonly context: number | null;
  readonly session: number | null;
}

const OUTPUT_BYTES_MAX = 65_536;

export interface Hook {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** By which what it has started is found. */
  readonly mark: Mark;
}

export class Compaction {
  readonly #groups: ProcessGroups;
  readonly #command: Command;
  readonly #mark: Mark;
  readonly #text = new OutputText(OUTPUT_BYTES_MAX);
  readonly #errors = new OutputText(OUTPUT_BYTES_MAX);

  constructor({ argv, cwd, env, mark }: Hook, input: CompactionInput, clock: Clock) {
    this.#groups = new ProcessGroups(clock);
    this.#mark = mark;
    const output = { stdout: this.#text, stderr: this.#errors, hasInput: true };
    const own = { ...env, [mark.name]: mark.value };
    this.#command = new Command({ argv, cwd, env: own, ...output }, clock);
    this.#command.stdin?.end(JSON.stringify(input));
  }

  /** What it printed. @throws {Error} when it failed */
  async finished(): Promise<Percentages> {
    const { exitCode, startFailure } = await this.#command.ended;
    if (startFailure !== null) throw new Error(startFailure);
    if (exitCode !== 0)
      throw new Error(`it exited with code ${exitCode}: ${this.#errors.text.trim().slice(-200)}`);
    return percentagesOf(this.#text.text);
  }

  async stop(): Promise<void> {
    const { group } = this.#command;
    if (group !== undefined && !this.#groups.isEmpty(group))
      await this.#groups.terminate(group, []);
    await this.#groups.killMarked(this.#mark);
    await this.#command.release();
  }
}

/** Whatever else it prints is no percentage. */
function percentagesOf(text: string): Percentages {
  try {
    const { contextRemainingPercent, sessionRemainingPercent } = JSON.parse(text) as Record<
      string,
      unknown
    >;
    return { context: percent(contextRemainingPercent), session: percent(sessionRemainingPercent) };
  } catch {
    return { context: null, session: null };
  }
}

const percent = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= 100 ? value : null;
