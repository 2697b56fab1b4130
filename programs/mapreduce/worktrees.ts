/**
 * Worktrees: a git worktree and a branch for each attempt, and what is kept of it when it ends.
 *
 * Changes that nobody committed are saved as a patch, a branch without commits is deleted, nothing is merged.
 * git locks the repository while it adds or removes one, so these follow each other.
 */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Plan } from './plan.ts';

const execute = promisify(execFile);
const OUTPUT_BYTES_MAX = 1 << 30;

let last: Promise<unknown> = Promise.resolve();

/** The repository of a directory and its commit; undefined outside of one. */
export async function findRepository(
  directory: string,
): Promise<{ readonly root: string; readonly head: string } | undefined> {
  try {
    const root = await git(directory, 'rev-parse', '--show-toplevel');
    return { root: root.trim(), head: (await git(directory, 'rev-parse', 'HEAD')).trim() };
  } catch {
    return undefined;
  }
}

export const worktreePath = (data: string, runId: string, agentId: string): string =>
  join(data, 'worktrees', runId, agentId);

/** Gives the branch. */
export function prepareWorktree(plan: Plan, data: string, agentId: string): Promise<string> {
  const { root, head } = repositoryOf(plan);
  const branch = branchOf(plan.runId, agentId);
  const path = worktreePath(data, plan.runId, agentId);
  return inTurn(async () => {
    await git(root, 'worktree', 'add', '--quiet', '-b', branch, path, head);
    return branch;
  });
}

export function removeWorktree(
  plan: Plan,
  data: string,
  agentId: string,
): Promise<{ readonly branch: string | null; readonly patch: string | null } | null> {
  const { root, head } = repositoryOf(plan);
  const branch = branchOf(plan.runId, agentId);
  const path = worktreePath(data, plan.runId, agentId);
  return inTurn(async () => {
    const patch = existsSync(path) ? await savePatch(plan, path, agentId) : null;
    if (existsSync(path)) await git(root, 'worktree', 'remove', '--force', '--force', path);
    await git(root, 'worktree', 'prune');
    const isThere = (await git(root, 'branch', '--list', branch)).trim() !== '';
    if (!isThere) return { branch: null, patch };
    const commits = (await git(root, 'rev-list', '--count', `${head}..${branch}`)).trim();
    if (commits !== '0') return { branch, patch };
    await git(root, 'branch', '--quiet', '-D', branch);
    return { branch: null, patch };
  });
}

async function savePatch({ folder }: Plan, path: string, agentId: string): Promise<string | null> {
  await git(path, 'add', '--all');
  const { stdout } = await execute('git', ['diff', '--cached', '--binary', 'HEAD'], {
    cwd: path,
    maxBuffer: OUTPUT_BYTES_MAX,
    encoding: 'buffer',
  });
  if (stdout.length === 0) return null;
  const file = join(folder.path, `${agentId}.patch`);
  await writeFile(file, stdout, { mode: 0o600 });
  return file;
}

function repositoryOf({ about }: Plan): { readonly root: string; readonly head: string } {
  if (about.git === null) throw new Error('the run has no repository');
  return about.git;
}

const branchOf = (runId: string, agentId: string): string => `escapement/${runId}/${agentId}`;

async function git(directory: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('git', args, { cwd: directory, maxBuffer: OUTPUT_BYTES_MAX });
  return stdout;
}

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work);
  last = mine.catch(() => {});
  return mine;
}
