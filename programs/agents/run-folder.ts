/**
 * Folder of a run: what belongs to it and is no state. Its plan, its event log, what its attempts have printed, and
 * what humans have said that is still to be applied.
 *
 *   runs/<run>/plan.yml · origin.json · events.jsonl · logs/<attempt>.log · answers/<question>.json · commands/<id>.json
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { HumanAnswer } from '../../machines/agents/task/context.ts';
import { systemRandom } from '../../runtime/system/random.ts';
import { writeDurably, writeOnce } from '../runs.ts';

/** Where the plan of a run came from. */
export interface Origin {
  readonly file: string | null;
  readonly directory: string;
  readonly set: readonly string[];
}

export interface Command {
  readonly type: 'session.pause' | 'session.resumed' | 'run.drain';
}

export class RunFolder {
  readonly path: string;

  constructor(data: string, runId: string) {
    this.path = join(data, 'runs', runId);
  }

  make(): void {
    for (const name of ['logs', 'answers', 'commands'])
      mkdirSync(join(this.path, name), { recursive: true, mode: 0o700 });
  }

  get eventsPath(): string {
    return join(this.path, 'events.jsonl');
  }

  logPath(attemptId: string): string {
    return join(this.path, 'logs', `${attemptId}.log`);
  }

  checkpointPath(attemptId: string): string {
    return join(this.path, 'checkpoints', attemptId);
  }

  writePlan(text: string, origin: Origin): void {
    writeDurably(join(this.path, 'plan.yml'), text);
    writeDurably(join(this.path, 'origin.json'), JSON.stringify(origin));
  }

  readPlan(): { readonly text: string; readonly origin: Origin } {
    return {
      text: readFileSync(join(this.path, 'plan.yml'), 'utf8'),
      origin: JSON.parse(readFileSync(join(this.path, 'origin.json'), 'utf8')) as Origin,
    };
  }

  /** False where the question was answered before: the first answer stands. */
  writeAnswer(questionId: string, said: HumanAnswer): boolean {
    return writeOnce(join(this.path, 'answers', `${questionId}.json`), JSON.stringify(said));
  }

  hasAnswer(questionId: string): boolean {
    return existsSync(join(this.path, 'answers', `${questionId}.json`));
  }

  /** `damaged` gets the name of a file that cannot be read. */
  answers(
    damaged?: Damaged,
  ): ReadonlyArray<{ readonly questionId: string; readonly said: HumanAnswer }> {
    return jsonFilesIn(join(this.path, 'answers'), damaged).map(({ name, value }) => ({
      questionId: name,
      said: value as HumanAnswer,
    }));
  }

  /** False where the same one waits already. */
  writeCommand(command: Command): boolean {
    const waiting = this.commands().some(({ command: { type } }) => type === command.type);
    if (waiting) return false;
    const id = `${command.type}-${systemRandom().id()}`;
    return writeOnce(join(this.path, 'commands', `${id}.json`), JSON.stringify(command));
  }

  commands(damaged?: Damaged): ReadonlyArray<{ readonly id: string; readonly command: Command }> {
    return jsonFilesIn(join(this.path, 'commands'), damaged).map(({ name, value }) => ({
      id: name,
      command: value as Command,
    }));
  }

  removeCommand(id: string): void {
    rmSync(join(this.path, 'commands', `${id}.json`), { force: true });
  }
}

type Damaged = (file: string) => void;

function jsonFilesIn(
  path: string,
  damaged: Damaged = () => {},
): ReadonlyArray<{ readonly name: string; readonly value: unknown }> {
  const names = existsSync(path) ? readdirSync(path) : [];
  return names.flatMap((file) => {
    if (!file.endsWith('.json')) return [];
    const name = file.slice(0, -'.json'.length);
    try {
      return [{ name, value: JSON.parse(readFileSync(join(path, file), 'utf8')) as unknown }];
    } catch {
      damaged(join(path, file));
      return [];
    }
  });
}
