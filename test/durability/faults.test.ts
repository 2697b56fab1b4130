/**
 * A disk that fails under a running node: errors put into its system calls, and a file system
 * that is really full.
 *
 * In every case: what was acknowledged is in the store afterwards and nothing else is, a failed
 * sync ends the process, and when there is only no room the node goes on as soon as there is.
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newFolder } from './folders.ts';
import { type CommitterResult, type CommitterRun, runCommitter, whyNotTraced } from './traced.ts';

const EXIT_IO = 74;
const FIRST_COMMITS = 3;
const COMMITS = 30;
const reason = whyNotTraced();

/**
 * How a process ends that may not go on. When a single page cannot be written the binding (3.5.6)
 * writes beyond a buffer of its own; where the C library notices, the process is gone at once.
 */
const ENDS: readonly unknown[] = [EXIT_IO, 'SIGABRT'];

/** A store with a few commits in it. */
async function newData(folder = newFolder('faults')): Promise<string> {
  const directory = join(folder, 'data');
  const { acknowledged } = await runCommitter({ directory, commits: FIRST_COMMITS });
  expect(acknowledged).toBe(FIRST_COMMITS);
  return directory;
}

/** Commits while `inject` makes calls on the data file fail; see strace on `inject=`. */
async function runFaulty(directory: string, inject: string): Promise<CommitterResult> {
  const file = join(directory, 'data.mdb');
  const calls = 'trace=pwrite64,writev,pwritev,fdatasync';
  return runCommitter({
    directory,
    commits: COMMITS,
    strace: ['-P', file, '-e', calls, '-e', `inject=${inject}`, '-o', '/dev/null'],
  });
}

/** What a process finds that opens the directory afterwards. */
async function countIn(directory: string): Promise<number> {
  const { found, exitCode, errors } = await runCommitter({ directory, commits: 0 });
  expect(exitCode, errors).toBe(0);
  return found;
}

/** Nothing lost and nothing made up: the store holds what was acknowledged. */
async function expectKept(directory: string, { acknowledged }: CommitterResult): Promise<void> {
  expect(await countIn(directory)).toBe(FIRST_COMMITS + acknowledged);
}

/** A refused send says so, may be repeated, and changed nothing that a reader sees. */
function expectRefusals({ lines }: CommitterResult): void {
  let count = FIRST_COMMITS;
  for (const [event, , ...words] of lines) {
    if (event === 'ack') count = Number(words[0]);
    if (event === 'refused') expect(words).toEqual(['COMMIT_REFUSED', 'true', `${count}`]);
  }
}

describe.skipIf(reason !== undefined)(`a disk that fails${because()}`, () => {
  test.each([
    ['a sync', 'fdatasync:error=EIO:when=8'],
    ['every sync from one on', 'fdatasync:error=EIO:when=8+'],
    ['a write', 'writev:error=EIO:when=8'],
    ['a write that is cut short', 'writev:retval=4096:when=8'],
  ])('ends the process: %s', async (_, inject) => {
    const directory = await newData();
    const result = await runFaulty(directory, inject);
    expect(result.exitCode).toBe(EXIT_IO);
    expect(result.errors).toMatch(/escapement: The store in .* has failed/);
    expect(result.acknowledged).toBeGreaterThan(0);
    expect(result.acknowledged).toBeLessThan(COMMITS);
    expect(result.refused).toEqual([]);
    await expectKept(directory, result);
  });

  test.each([
    ['a write', 'writev:error=ENOSPC:when=8'],
    ['writes for a while', 'writev:error=ENOSPC:when=8..10'],
    ['writes beyond a quota', 'writev:error=EDQUOT:when=8..9'],
    ['a write that has to be made later', 'fdatasync:error=ENOSPC:when=8'],
    ['a file system that has become read-only', 'writev:error=EROFS:when=8..9'],
  ])('refuses groups where there is no room, and goes on: %s', async (_, inject) => {
    const directory = await newData();
    const result = await runFaulty(directory, inject);
    expect(result.exitCode, result.errors).toBe(0);
    expect(result.refused.length).toBeGreaterThan(0);
    expect(result.acknowledged + result.refused.length).toBe(COMMITS);
    expect(result.lines.at(-2)?.[0]).toBe('ack');
    expectRefusals(result);
    await expectKept(directory, result);
  });

  test('ends the process: every write from one on', async () => {
    const directory = await newData();
    const result = await runFaulty(directory, 'pwrite64:error=EIO:when=8+');
    expect(ENDS).toContain(result.exitCode);
    expect(result.acknowledged).toBeLessThan(COMMITS);
    await expectKept(directory, result);
  });

  test('is the same whichever write it is', async () => {
    const directory = await newData();
    const codes = new Set<number | string>();
    let kept = FIRST_COMMITS;
    // Until the fault has hit pages of data and the page that makes a commit count.
    for (let when = 7; !codes.has(0) || !codes.has(EXIT_IO); when += 1) {
      const result = await runFaulty(directory, `pwrite64:error=ENOSPC:when=${when}`);
      codes.add(result.exitCode);
      const count = await countIn(directory);
      // When the page that makes a commit count cannot be written, it may count all the same.
      const isOpen = result.exitCode !== 0 && count === kept + result.acknowledged + 1;
      expect(isOpen ? count - 1 : count).toBe(kept + result.acknowledged);
      expect([0, ...ENDS]).toContain(result.exitCode);
      kept = count;
    }
  });
});

describe('a data file that goes away under a running node', () => {
  const untilLost = async (lose: (directory: string) => void) => {
    const directory = await newData();
    const heard: CommitterRun['heard'] = ([event, turn]) => {
      if (event === 'ack' && turn === '5') lose(directory);
    };
    const options = { pauseMs: 5 };
    return runCommitter({ directory, commits: 2_000, options, heard });
  };

  test.each<[string, (directory: string) => void]>([
    ['deleted', (directory) => rmSync(join(directory, 'data.mdb'))],
    [
      'replaced',
      (directory) => {
        copyFileSync(join(directory, 'data.mdb'), join(directory, 'copy'));
        renameSync(join(directory, 'copy'), join(directory, 'data.mdb'));
      },
    ],
    ['moved away with its directory', (directory) => renameSync(directory, `${directory}-moved`)],
  ])('ends the process: %s', async (_, lose) => {
    const result = await untilLost(lose);
    expect(result.exitCode).toBe(EXIT_IO);
    expect(result.errors).toMatch(/data\.mdb was (deleted|replaced) while it was open/);
    // It is noticed at the next commit; one may have been under way.
    expect(result.acknowledged).toBeLessThan(100);
  });
});

test('a full file system refuses groups until there is room again', async (context) => {
  const mounted = mountSmall();
  if (mounted === undefined) return context.skip('a small file system cannot be mounted here');
  const filler = join(mounted, 'filler');
  writeFileSync(filler, Buffer.alloc(2 * 1024 ** 2));
  const directory = await newData(mounted);
  let isFreed = false;
  const result = await runCommitter({
    directory,
    commits: 140,
    options: { growBytes: 10_000 },
    heard: ([event]) => {
      if (event !== 'refused' || isFreed) return;
      isFreed = true;
      rmSync(filler);
    },
  });
  expect(result.exitCode, result.errors).toBe(0);
  const first = result.lines.findIndex(([event]) => event === 'refused');
  expect(first).toBeGreaterThan(0);
  expect(new Set(result.refused)).toEqual(new Set(['COMMIT_REFUSED']));
  expectRefusals(result);
  const after = result.lines.slice(first).filter(([event]) => event === 'ack');
  expect(after.length).toBeGreaterThan(10);
  await expectKept(directory, result);
  expect(statSync(join(directory, 'data.mdb')).size).toBeGreaterThan(1024 ** 2);
});

/** A file system of a few MiB; undefined where none may be mounted. */
function mountSmall(): string | undefined {
  const folder = newFolder('full');
  mkdirSync(folder, { recursive: true });
  const argv = ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder];
  if (process.getuid?.() !== 0 || spawnSync('mount', argv).status !== 0) return undefined;
  onTestFinished(() => {
    // Anybody who still has something open there does not keep it.
    spawnSync('umount', ['-l', folder]);
  });
  return folder;
}

function because(): string {
  return reason === undefined ? '' : ` (skipped: ${reason})`;
}
