/**
 * Secrets and tokens, from files and from the environment.
 *
 * Guarantees: none of them is in what a configuration prints, and none can stand in the
 * configuration or on the command line: both are read by more people than a file of its own.
 * A file that everybody can read is told of, or refused where the configuration is strict.
 */

import { readFileSync, type Stats, statSync } from 'node:fs';
import { platform } from 'node:os';
import { messageOf } from '../../runtime/base/errors.ts';

export const SECRET_BYTES_MIN = 32;
const SECRET_FILE_BYTES_MAX = 4_096;
/** Permissions of everybody who is neither the owner nor of the group. */
const OTHERS = 0o007;

export interface SecretText {
  readonly text: string;
  /** Set when the file is open to everybody. */
  readonly warning: string | undefined;
}

/** @throws {Error} that says in words what is wrong with the file. */
export function readSecretFile(path: string, bytesMin: number): SecretText {
  const stat = readable(path, SECRET_FILE_BYTES_MAX);
  // An editor ends the file with a line break, which nobody means.
  const text = checkSecret(readFileSync(path, 'utf8').replace(/\r?\n$/, ''), path, bytesMin);
  const isOpen = platform() !== 'win32' && (stat.mode & OTHERS) !== 0;
  const mode = (stat.mode & 0o777).toString(8);
  const warning = isOpen ? `${path} is open to everybody (mode ${mode}); chmod 600 it` : undefined;
  return { text, warning };
}

/** @throws {Error} that says in words what is wrong with it, and nothing of what it is. */
export function checkSecret(text: string, name: string, bytesMin: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes < bytesMin)
    throw new Error(`${name} has ${bytes} bytes, at least ${bytesMin} are needed`);
  if (/[\0\r\n]/.test(text)) throw new Error(`${name} has more than one line`);
  return text;
}

/** A file that ends, and soon. @throws {Error} that says in words what is wrong with it. */
export function readable(path: string, bytesMax: number): Stats {
  const stat = statOf(path);
  if (!stat.isFile()) throw new Error(`${path} is not a file`);
  if (stat.size > bytesMax)
    throw new Error(`${path} has ${stat.size} bytes, at most ${bytesMax} are read`);
  return stat;
}

function statOf(path: string): Stats {
  try {
    return statSync(path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    throw new Error(code === 'ENOENT' ? `there is no file ${path}` : messageOf(thrown));
  }
}
