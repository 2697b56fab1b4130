/**
 * Run of commands in a process that is to be killed, in a folder of its own: begun, killed, played to its end, and what
 * it has left behind.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartedProcess } from '../kit/started-process.ts';
import { ROOT } from '../project-files.ts';

export class MarkedRun {
  readonly folder: string;
  readonly #command: readonly string[];

  /** `program`: its path in the project; `words` are told to it, with the folder in them. */
  constructor(name: string, program: string, words: (folder: string) => readonly string[]) {
    this.folder = mkdtempSync(join(tmpdir(), `escapement-${name}-crash-`));
    const node = [process.execPath, '--import', 'tsx', join(ROOT, program)];
    this.#command = [...node, ...words(this.folder)];
  }

  file(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  /** Killed so long after it has told that it has begun. */
  async killed(afterMs: number): Promise<void> {
    const run = this.#start();
    run.child.stdout?.once('data', () => setTimeout(() => run.signal('SIGKILL'), afterMs));
    await run.ended;
  }

  async ended(): Promise<void> {
    await this.#start().ended;
  }

  /** Living processes with the mark of any attempt of the folder. */
  processesLeft(): number {
    const mark = `ESCAPEMENT_ATTEMPT_MARK=${this.folder}/`;
    return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isMarked(pid, mark)).length;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #start(): StartedProcess {
    return new StartedProcess(this.#command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  }
}

function isMarked(pid: string, mark: string): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark) &&
      !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    );
  } catch {
    return false;
  }
}
