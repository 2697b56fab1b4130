/**
 * The team's own tests, run against mutants: in processes of their own, and only the files whose tests step the
 * machine.
 *
 * The first run is of the machine as it is. It must pass, and says which files those are and how long they take;
 * a run of a mutant that takes much longer has not passed. Whatever ends this process ends the runs with all that
 * they have started.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process, { env, pid, platform, kill as signal } from 'node:process';
import { pathToFileURL } from 'node:url';
import type { AnyStateMachine } from 'xstate';
import { draftOf } from '../../testing/model/definition.ts';
import type { Mutant } from '../../testing/mutants/mutant.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { ownFile } from '../own-file.ts';
import { ENDING_SIGNALS, SIGNAL_EXITS } from '../signals.ts';
import { fingerprintOf } from './fingerprint.ts';
import { GROUP, PLAN, type Plan } from './mutating-plan.ts';

/** Longest first run, and how much longer than it a run of a mutant may take. */
const FIRST_MAX_MS = 30 * 60_000;
const SLOWER_MAX = 5;
const GRACE_MS = 20_000;
/** Characters of what a failed first run printed last that are shown. */
const TAIL = 1_500;

interface Run {
  readonly passed: boolean;
  /** It was ended because it took too long. */
  readonly isLate: boolean;
  readonly isChanged: boolean;
  readonly isMade: boolean;
  /** Test files that step the machine; one without a name where the runner does not say. */
  readonly files: readonly string[];
  readonly ms: number;
  readonly output: string;
}

export class TeamSuite {
  readonly #command: string;
  readonly #machine: AnyStateMachine;
  readonly #folder = mkdtempSync(join(tmpdir(), 'escapement-suite-'));
  readonly #running = new Set<ChildProcess>();
  readonly #late: string[] = [];
  readonly #givenLimitMs: number | undefined;
  #files: readonly string[] = [];
  #limitMs = FIRST_MAX_MS;
  #number = 0;

  /** `limitMs`: longest run against one mutant; default: five times the first run, and 20 s. */
  constructor(command: string, machine: AnyStateMachine, limitMs?: number) {
    this.#command = command;
    this.#machine = machine;
    this.#givenLimitMs = limitMs;
    process.on('exit', this.#endRuns);
    for (const name of ENDING_SIGNALS) process.on(name, endProcess);
  }

  /** Mutants that are killed because their runs took too long. */
  get late(): readonly string[] {
    return this.#late;
  }

  /** Files whose tests step the machine. */
  get files(): readonly string[] {
    return this.#files;
  }

  /** @throws {CommandFailure} when the tests fail as they are, or none of them knows the machine */
  async begin(): Promise<void> {
    const { passed, isMade, files, ms, output } = await this.#run(null);
    const said = `--suite "${this.#command}"`;
    if (!passed)
      throw new CommandFailure(
        EXIT.badData,
        `${said} fails before anything is changed. It printed last:\n${output.slice(-TAIL)}`,
      );
    if (!isMade)
      throw new CommandFailure(
        EXIT.badData,
        `${said}: None of its tests makes the machine "${this.#machine.id}", or XState is not loaded by Node itself but bundled.`,
      );
    if (files.length === 0)
      throw new CommandFailure(
        EXIT.badData,
        `${said}: Its tests load the machine "${this.#machine.id}", and none of them steps it.`,
      );
    this.#files = files.filter((file) => file !== '').sort();
    this.#limitMs = this.#givenLimitMs ?? SLOWER_MAX * ms + GRACE_MS;
  }

  /** True when some test fails; undefined where the tests do not make the part that the mutant changes. */
  async kills(mutant: Mutant): Promise<boolean | undefined> {
    const { passed, isChanged, isLate } = await this.#run(mutant.id);
    if (isLate) this.#late.push(mutant.id);
    if (!passed) return true;
    return isChanged ? false : undefined;
  }

  end(): void {
    this.#endRuns();
    process.off('exit', this.#endRuns);
    for (const name of ENDING_SIGNALS) process.off(name, endProcess);
  }

  readonly #endRuns = (): void => {
    for (const child of this.#running) kill(child);
    rmSync(this.#folder, { recursive: true, force: true });
  };

  async #run(mutant: string | null): Promise<Run> {
    const folder = join(this.#folder, String(this.#number++));
    mkdirSync(folder);
    const planPath = join(folder, 'plan.json');
    const fingerprint = fingerprintOf(draftOf(this.#machine));
    const plan: Plan = { owner: pid, id: this.#machine.id, fingerprint, mutant };
    writeFileSync(planPath, JSON.stringify(plan));
    const begunAt = performance.now();
    const { code, output, isLate } = await this.#started(mutant, planPath);
    const ms = performance.now() - begunAt;
    const lines = readdirSync(folder)
      .filter((name) => name.startsWith('seen-'))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
    const files = lines.flatMap((line) => /^file (.*)$/.exec(line)?.slice(1) ?? []);
    rmSync(folder, { recursive: true, force: true });
    return {
      passed: code === 0 && !isLate,
      isLate,
      isMade: lines.includes('made'),
      isChanged: lines.includes('changed'),
      files: [...new Set(files)],
      ms,
      output,
    };
  }

  #started(
    mutant: string | null,
    planPath: string,
  ): Promise<Pick<Run, 'output' | 'isLate'> & { readonly code: number | null }> {
    const isVitest = /\bvitest\b/.test(this.#command);
    const words = [
      this.#command,
      ...(isVitest && mutant !== null && !this.#command.includes('--bail') ? ['--bail=1'] : []),
      ...(isVitest ? this.#files.map((file) => JSON.stringify(file)) : []),
    ];
    const inGroup = platform === 'win32' ? '' : `export ${GROUP}=$$\n`;
    const child = spawn(inGroup + words.join(' '), {
      shell: true,
      // A group of its own, which is ended whole.
      detached: platform !== 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env, [PLAN]: planPath, NODE_OPTIONS: nodeOptions(), NO_COLOR: '1' },
    });
    this.#running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-20 * TAIL);
      });
    return new Promise((resolve) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        kill(child);
      }, this.#limitMs);
      const end = (code: number | null): void => {
        clearTimeout(timer);
        this.#running.delete(child);
        resolve({ code, output, isLate });
      };
      child.on('error', (error) => {
        output += error.message;
        end(null);
      });
      child.on('close', end);
    });
  }
}

/** Not once: a second signal, as of a terminal and of what watches this process, changes nothing. */
const endProcess = (name: NodeJS.Signals): void => process.exit(SIGNAL_EXITS[name]);

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    signal(platform === 'win32' ? child.pid : -child.pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** What each of their processes loads first; sources need what compiles them. */
function nodeOptions(): string {
  const file = ownFile('cli/machine-tests/mutating');
  const loads = [
    ...(file.endsWith('.ts') ? [import.meta.resolve('tsx')] : []),
    pathToFileURL(file).href,
  ];
  return [env.NODE_OPTIONS ?? '', ...loads.map((url) => `--import=${url}`)].join(' ').trim();
}
