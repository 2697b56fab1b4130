/**
 * Runs `committer.ts`, alone or under strace, and waits for what it says.
 *
 * strace may be missing, and tracing may be forbidden, as in some containers: then the tests that
 * need it are skipped. Where `CI` is `true` a missing strace is a failure.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { compiledProgram } from '../kit/compiled.ts';
import type { CommitterOptions } from './committer.ts';

const PROGRAM = 'test/durability/committer.ts';

/** Why nothing can be traced here; undefined when it can. @throws when strace has to be there and is not */
export function whyNotTraced(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'], {
    encoding: 'utf8',
  });
  if (error !== undefined && process.env['CI'] === 'true')
    throw new Error('strace is missing, and CI=true. Run node scripts/setup.mjs.');
  if (error !== undefined) return 'strace is missing: run node scripts/setup.mjs';
  return status === 0 ? undefined : `tracing is not permitted: ${stderr.trim()}`;
}

/** Written down by the trace of a commit, and what else shows that one is seen from outside. */
export const TRACED_CALLS =
  'openat,pwrite64,pwritev,writev,write,fdatasync,fsync,msync,sendmsg,mkdir,mkdirat,rename,renameat,renameat2,link,linkat';

export interface CommitterRun {
  readonly directory: string;
  readonly commits: number;
  readonly options?: CommitterOptions;
  /** Arguments for strace; without it the program runs alone. */
  readonly strace?: readonly string[];
  /** Called for each line, while it runs. */
  readonly heard?: (words: readonly string[], child: ChildProcess) => void;
}

export interface CommitterResult {
  readonly exitCode: number | string;
  /** What it found in the store. */
  readonly found: number;
  readonly acknowledged: number;
  /** Codes of the refused sends, in their order. */
  readonly refused: readonly string[];
  /** The line of each event, split at spaces. */
  readonly lines: ReadonlyArray<readonly string[]>;
  readonly errors: string;
}

/** Resolves when the process has ended, however it did. */
export function runCommitter(run: CommitterRun): Promise<CommitterResult> {
  const { directory, commits, options = {}, strace, heard } = run;
  const program = [compiledProgram(PROGRAM), directory, `${commits}`, JSON.stringify(options)];
  const [command = '', ...argv] =
    strace === undefined
      ? [process.execPath, ...program]
      : ['strace', '-f', ...strace, process.execPath, ...program];
  const child = spawn(command, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // One thread writes, so that counting calls means the same in every run.
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines: string[][] = [];
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const words = line.split(' ');
    lines.push(words);
    heard?.(words, child);
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      resolve({
        exitCode: code ?? signal ?? 'unknown',
        found: Number(lines.find(([event]) => event === 'ready')?.[1] ?? Number.NaN),
        acknowledged: lines.filter(([event]) => event === 'ack').length,
        refused: lines.filter(([event]) => event === 'refused').map(([, , code]) => code ?? ''),
        lines,
        errors,
      });
    });
  });
}
