/**
 * Loads the machines of one release from a module file of the user's.
 *
 * Its exports are checked before anything is done with them.
 */

import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { messageOf } from '../../runtime/base/errors.ts';
import { type RehearsedKinds, rehearsedKinds } from '../../runtime/rehearsal.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { kindsIn } from './kinds-module.ts';
import { importModule } from './module-file.ts';

const EXTENSIONS = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts']);

/** `side` is OLD or NEW, for messages. @throws {CommandFailure} that says what is wrong with the file. */
export async function loadRelease(side: string, path: string): Promise<RehearsedKinds> {
  const file = resolve(path);
  const refuse = (what: string, cause?: unknown): CommandFailure =>
    new CommandFailure(EXIT.badData, `${side} (${path}): ${what}`, { cause });
  // The operating system's own words say best why a file cannot be read.
  if (!statSync(file).isFile()) throw refuse('It is not a file.');
  if (!EXTENSIONS.has(extname(file))) throw refuse('A module is a .js, .mjs or .ts file.');
  const exported = await importModule(file).catch((thrown: unknown) => {
    throw refuse(messageOf(thrown), (thrown as Error).cause);
  });
  try {
    return rehearsedKinds(kindsIn(exported));
  } catch (thrown) {
    throw refuse(messageOf(thrown), thrown);
  }
}
