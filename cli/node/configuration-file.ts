/**
 * Configuration file: read whole, parsed once, and every value with the place where it stands.
 *
 * Guarantees: a file over the limit is refused before it is read; what is wrong is told by line and
 * column. What a text may be is in reading/source.ts. It knows no settings.
 */

import { readFileSync, statSync } from 'node:fs';
import { positionsIn } from '../../reading/issues.ts';
import { readSource } from '../../reading/source.ts';
import { placesIn, plainOf, type SourceValue } from '../../reading/value.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { ConfigurationError, type Issue, type Origin } from './origin.ts';

const FILE_BYTES_MAX = 1024 * 1024;
export interface ConfigurationFile {
  readonly values: Readonly<Record<string, unknown>>;
  /** Origin of each value, by its path. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/** `path` is for reading, `file` is how messages call it. @throws {CommandFailure} */
export function readConfigurationFile(path: string, file: string = path): ConfigurationFile {
  return parseConfiguration(decode(readBounded(path, file), file), file);
}

/** @throws {ConfigurationError} */
function parseConfiguration(text: string, file: string): ConfigurationFile {
  const found: Issue[] = [];
  const position = positionsIn(text);
  const at = (offset: number): Origin => ({ from: 'file', file, ...position(offset) });
  const refuse = (): void => {
    if (found.length > 0) throw new ConfigurationError(found);
  };
  const source = readSource(text, {
    get any() {
      return found.length > 0;
    },
    add: (offset, path, what) => found.push({ path, what, origin: at(offset) }),
    throwIfAny: refuse,
  });
  refuse();
  if (source?.kind === 'scalar' && source.scalar === null)
    return { values: {}, origins: new Map() };
  if (source?.kind !== 'map') {
    found.push({ path: '', what: 'must be a map of settings', origin: at(source?.at ?? 0) });
    refuse();
  }
  const origins = Array.from(placesIn(source as SourceValue), ([path, offset]) => {
    return [path, at(offset)] as const;
  });
  return {
    values: plainOf(source as SourceValue) as Record<string, unknown>,
    origins: new Map(origins),
  };
}

function readBounded(path: string, file: string): Buffer {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw unreadable(file, 'it is a directory');
    if (!stat.isFile()) throw unreadable(file, 'it is not a file');
    if (stat.size > FILE_BYTES_MAX)
      throw unreadable(file, `it has ${stat.size} bytes, at most ${FILE_BYTES_MAX} are read`);
    return readFileSync(path);
  } catch (thrown) {
    if (thrown instanceof CommandFailure) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM')
      throw unreadable(file, 'it may not be read by this user', EXIT.noPermission);
    throw unreadable(file, code === 'ENOENT' ? 'there is no such file' : messageOf(thrown));
  }
}

function unreadable(
  file: string,
  reason: string,
  exitCode: typeof EXIT.configuration | typeof EXIT.noPermission = EXIT.configuration,
): CommandFailure {
  return new CommandFailure(exitCode, `${file}: the configuration cannot be read: ${reason}.`);
}

/** Without a byte order mark. */
function decode(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(file, 'it is not UTF-8');
  }
}
