/** The node that is fuzzed, seen from here: asked what has happened to it, and whether it lives. */

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { NodeStatus, Plant } from './node-program.ts';
import type { Urls } from './session.ts';

const ROOT = join(import.meta.dirname, '..');
const ANSWER_LIMIT_MS = 30_000;
const ERRORS_MAX = 4_000;

/** Finds the compiled form of a program of the project, by its path. */
export type Compiled = (path: string) => string;

/** Words for Node that start a program of the project: compiled, or its sources by tsx. */
export function wordsFor(path: string, compiled: Compiled | undefined): readonly string[] {
  return compiled === undefined ? ['--import', 'tsx', join(ROOT, path)] : [compiled(path)];
}

type Said = { readonly urls: Urls } | { readonly id: number; readonly status: NodeStatus };

export class NodeProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (status?: NodeStatus) => void>();
  #urls: Urls | undefined;
  #started: () => void = () => {};
  #asked = 0;
  #errors = '';
  #ending: string | undefined;

  private constructor(
    plant: Plant | undefined,
    words: readonly string[],
    compiled: Compiled | undefined,
  ) {
    const planted = plant === undefined ? [] : [`--plant=${plant}`];
    const node = [...wordsFor('fuzz/node-program.ts', compiled)];
    const program = node.pop() as string;
    this.#child = fork(program, [...planted, ...words], {
      execArgv: node,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const killed = (): boolean => this.#child.kill('SIGKILL');
    process.once('exit', killed);
    this.#child.stderr?.on('data', (text) => {
      this.#errors = `${this.#errors}${text}`.slice(-ERRORS_MAX);
    });
    this.#child.on('message', (said: Said) => this.#hear(said));
    this.#child.once('exit', (code, signal) => {
      process.off('exit', killed);
      this.#ending = `ended (${signal ?? code})`;
      for (const done of this.#waiting.values()) done();
      this.#started();
    });
  }

  /** @throws {Error} when it ends before it listens. */
  static async start(
    plant: Plant | undefined,
    words: readonly string[] = [],
    compiled?: Compiled,
  ): Promise<NodeProcess> {
    const node = new NodeProcess(plant, words, compiled);
    await new Promise<void>((resolve) => {
      node.#started = resolve;
    });
    if (node.#urls === undefined) throw new Error(`The node ${node.ending}`);
    return node;
  }

  get urls(): Urls {
    return this.#urls as Urls;
  }

  /** How it ended, with what it said last, if it has. */
  get ending(): string | undefined {
    return this.#ending === undefined ? undefined : `${this.#ending}\n${this.#errors}`.trim();
  }

  /** What has happened since it was asked last. Undefined when it has ended, or does not answer. */
  status(areDigestsWanted = false): Promise<NodeStatus | undefined> {
    if (this.#ending !== undefined) return Promise.resolve(undefined);
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve) => {
      const done = (status?: NodeStatus): void => {
        clearTimeout(late);
        this.#waiting.delete(id);
        resolve(status);
      };
      const late = setTimeout(done, ANSWER_LIMIT_MS);
      this.#waiting.set(id, done);
      this.#child.send({ id, areDigestsWanted }, () => {});
    });
  }

  async end(): Promise<void> {
    if (this.#ending !== undefined) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
  }

  #hear(said: Said): void {
    if ('id' in said) {
      this.#waiting.get(said.id)?.(said.status);
      return;
    }
    this.#urls = said.urls;
    this.#started();
  }
}
