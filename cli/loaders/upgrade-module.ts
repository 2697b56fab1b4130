/**
 * Loads machines from a module file of the user's: to rehearse a release, or to draw them.
 *
 * Its exports are checked before anything is done with them.
 */

import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { AnyStateMachine } from 'xstate';
import { partsOf } from '../../runtime/actor.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import { type RehearsedKinds, rehearsedKinds } from '../../runtime/rehearsal.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { type FoundKinds, kindsIn } from './kinds-module.ts';
import { importModule } from './module-file.ts';

const EXTENSIONS = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts']);

/** `side` is OLD or NEW, for messages. @throws {CommandFailure} that says what is wrong with the file. */
export function loadRelease(side: string, path: string): Promise<RehearsedKinds> {
  return loadKindsFile(`${side} (${path})`, path, rehearsedKinds);
}

/** The machines of a module by kind, and the exports that are none. @throws {CommandFailure} */
export function loadMachines(path: string): Promise<{
  readonly machines: ReadonlyMap<string, AnyStateMachine>;
  readonly others: readonly string[];
}> {
  return loadKindsFile(path, path, ({ kinds, others }) => ({
    machines: new Map(
      Object.entries(kinds).map(([kind, entry]) => [kind, partsOf(kind, entry).machine]),
    ),
    others,
  }));
}

async function loadKindsFile<TResult>(
  label: string,
  path: string,
  read: (found: FoundKinds) => TResult,
): Promise<TResult> {
  const file = resolve(path);
  const refuse = (what: string, cause?: unknown): CommandFailure =>
    new CommandFailure(EXIT.badData, `${label}: ${what}`, { cause });
  // The operating system's own words say best why a file cannot be read.
  if (!statSync(file).isFile()) throw refuse('It is not a file.');
  if (!EXTENSIONS.has(extname(file))) throw refuse('A module is a .js, .mjs or .ts file.');
  const exported = await importModule(file).catch((thrown: unknown) => {
    throw refuse(messageOf(thrown), (thrown as Error).cause);
  });
  try {
    return read(kindsIn(exported));
  } catch (thrown) {
    throw refuse(messageOf(thrown), thrown);
  }
}
