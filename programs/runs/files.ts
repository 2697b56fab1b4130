/**
 * Files of a run: written so that they outlive a crash of the machine, and read where a person has named them.
 */

import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { systemRandom } from '../../runtime/system/random.ts';
import { syncEntriesNow } from '../../stores/durable-files.ts';

export function writeDurably(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600, flush: true });
  syncDirectoryOf(path);
}

/** Creates a whole file or none. False where there is one already. */
export function writeOnce(path: string, text: string): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${systemRandom().id()}.part`;
  writeFileSync(temporary, text, { mode: 0o600, flush: true });
  try {
    linkSync(temporary, path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  } finally {
    rmSync(temporary, { force: true });
  }
  syncDirectoryOf(path);
  return true;
}

/** Puts another text into a file, in one piece; what it is a link to keeps its place and its permissions. */
export function replaceDurably(path: string, text: string): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  const mode = existsSync(path) ? statSync(target).mode & 0o777 : 0o600;
  const temporary = `${target}.new`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode, flush: true });
  chmodSync(temporary, mode);
  renameSync(temporary, target);
  syncDirectoryOf(target);
}

/** A new file is only there for sure once its folder says so. */
export function syncDirectoryOf(path: string): void {
  syncEntriesNow(dirname(path));
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
};

/** Text of a file that somebody has named; `refuse` gets why it cannot be read. */
export function readGiven(file: string, refuse: (why: string) => Error): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    throw refuse(UNREADABLE[code ?? ''] ?? message);
  }
}
