/**
 * Preload of the team's own tests: puts a mutant in the place of a machine as it is made, and notes which test files
 * step it.
 *
 * Every process of the team's runner begins with it. XState's class of machines is changed as it is loaded, so
 * that what it is made of comes by here first; no source of the team is touched. What to do stands in the
 * file that PLAN names, and what was seen goes into lines beside it, a file for each process.
 */

import { appendFileSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { env, kill, pid } from 'node:process';
import { isMainThread } from 'node:worker_threads';
import { GROUP, PLAN, type Plan } from './mutating-plan.ts';

/** How often a process looks whether its owner is there still. */
const LOOK_EVERY_MS = 1_000;
const HOOK = 'escapement.mutate';
const BEGINS = String.raw`class StateMachine \{\s*constructor\([^)]*?config, implementations\) \{`;
const FIRST = `\n    [config, implementations] = globalThis[Symbol.for('${HOOK}')]?.(config, implementations, StateMachine) ?? [config, implementations];`;

/** Text of a module that rewrites XState's as Node loads it; hooks of modules run beside the program. */
const LOADER = `
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (loaded.format !== 'module' || !url.includes('xstate') || loaded.source == null) return loaded;
  const source = String(loaded.source).replace(new RegExp(${JSON.stringify(BEGINS)}), (found) => found + ${JSON.stringify(FIRST)});
  return { ...loaded, source };
}`;

/** As it was before the tests: some replace what a process does to its files, or refuse it. */
const append = appendFileSync;

const path = env[PLAN];
if (path !== undefined) await begin(path);

async function begin(planPath: string): Promise<void> {
  const plan = JSON.parse(readFileSync(planPath, 'utf8')) as Plan;
  const notes = join(dirname(planPath), `seen-${pid}.txt`);
  if (isMainThread) setInterval(() => endWithout(plan.owner), LOOK_EVERY_MS).unref();
  const noted = new Set<string>();
  const note = (line: string): void => {
    if (noted.has(line)) return;
    noted.add(line);
    append(notes, `${line}\n`);
  };
  module.register(`data:text/javascript,${encodeURIComponent(LOADER)}`);
  rewriteRequired();
  // It imports XState itself, which has to come by the loader as well.
  const { mutating } = await import('./mutating-machines.ts');
  (globalThis as unknown as Record<symbol, unknown>)[Symbol.for(HOOK)] = mutating(plan, note);
}

/** Ends all of a run whose owner was killed before it could do so. */
function endWithout(owner: number): void {
  try {
    kill(owner, 0);
  } catch {
    const group = Number(env[GROUP]);
    kill(group > 0 ? -group : pid, 'SIGKILL');
  }
}

/** What is required and not imported is rewritten here. */
function rewriteRequired(): void {
  const { prototype } = module.Module as unknown as {
    readonly prototype: { _compile(content: string, file: string, ...rest: unknown[]): unknown };
  };
  const compile = prototype._compile;
  prototype._compile = function rewritten(content, file, ...rest) {
    const text = file.includes('xstate')
      ? content.replace(new RegExp(BEGINS), (found) => found + FIRST)
      : content;
    return compile.call(this, text, file, ...rest);
  };
}
