/**
 * Loads the machines of one release from a module file of the user's.
 *
 * The module is code and runs when it is loaded; what it exports is checked before
 * anything is done with it. Node caches modules by path, so two releases are two files.
 */

import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../runtime/errors.ts';
import { type RehearsedKinds, rehearsedKinds } from '../runtime/rehearsal-kinds.ts';
import { CommandFailure, EXIT } from './exit.ts';

const EXTENSIONS = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts']);

/** `side` is OLD or NEW, for messages. @throws {CommandFailure} that says what is wrong with the file. */
export async function loadRelease(side: string, path: string): Promise<RehearsedKinds> {
  const file = resolve(path);
  const refuse = (what: string, cause?: unknown): CommandFailure =>
    new CommandFailure(EXIT.badData, `${side} (${path}): ${what}`, { cause });
  // The operating system's own words say best why a file cannot be read.
  if (!statSync(file).isFile()) throw refuse('It is not a file.');
  if (!EXTENSIONS.has(extname(file))) throw refuse('A module is a .js, .mjs or .ts file.');
  let exported: unknown;
  try {
    exported = await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (thrown) {
    throw refuse(whyNotLoaded(file, thrown), thrown);
  }
  try {
    return rehearsedKinds(exported);
  } catch (thrown) {
    throw refuse(messageOf(thrown), thrown);
  }
}

function whyNotLoaded(file: string, thrown: unknown): string {
  const { code } = (thrown ?? {}) as { code?: unknown };
  const isTypeScript = /\.m?ts$/.test(file);
  if (isTypeScript && code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return 'This Node does not run TypeScript. Compile the module to JavaScript, or use Node 22.18 or newer.';
  if (isTypeScript && code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return `Node cannot run this TypeScript as it is: ${messageOf(thrown)} Compile the module to JavaScript.`;
  return `It cannot be loaded: ${messageOf(thrown)}`;
}
