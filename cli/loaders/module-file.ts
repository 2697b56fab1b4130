/**
 * Modules of the user's: handlers, kinds, the machines of a release.
 *
 * A module is code and runs when it is loaded; the caller checks what it exports. Node caches
 * modules by path, so two releases are two files.
 */

import { pathToFileURL } from 'node:url';
import { messageOf } from '../../runtime/base/errors.ts';

export type Exported = Readonly<Record<string, unknown>>;

/** @throws {Error} that says of the module why it cannot be loaded, and where where Node knows. */
export async function importModule(file: string): Promise<Exported> {
  try {
    return await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (thrown) {
    throw new Error(whyNotLoaded(file, thrown), { cause: thrown });
  }
}

function whyNotLoaded(file: string, thrown: unknown): string {
  const { code } = (thrown ?? {}) as { code?: unknown };
  const isTypeScript = /\.m?ts$/.test(file);
  if (isTypeScript && code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return 'This Node does not run TypeScript. Compile the module to JavaScript, or use Node 22.18 or newer.';
  if (isTypeScript && code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return `Node cannot run this TypeScript as it is: ${messageOf(thrown)} Compile the module to JavaScript.`;
  return `It cannot be loaded: ${messageOf(thrown)}${whereIn(file, thrown)}`;
}

/** Place of an error in a module. The line of a syntax error Node tells only to those who run the file. */
function whereIn(file: string, thrown: unknown): string {
  if (thrown instanceof SyntaxError) return `; "node --check ${file}" shows where`;
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  const place = stack.split(pathToFileURL(file).href)[1]?.match(/^:\d+:\d+/)?.[0];
  return place === undefined ? '' : `, at ${place.slice(1)}`;
}
