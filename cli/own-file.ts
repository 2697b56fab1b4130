/**
 * Files of this release that are started or loaded by their path: as sources, compiled one by one, or
 * built into few files, as the code that asks is.
 */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `path` from the top of the sources, without an extension: `cli/main`. */
export function ownFile(path: string): string {
  const own = fileURLToPath(import.meta.url);
  const file = path + (own.endsWith('.ts') ? '.ts' : '.js');
  for (let folder = dirname(own); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, file))) return join(folder, file);
  throw new Error(`This release has no file ${file}.`);
}
