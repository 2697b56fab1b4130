/**
 * Scenario files on disk: which of them are meant, and their text.
 *
 * Guarantees: every path is looked at before anything is read, in the order given, a directory's
 * files by name. A file's size is known before its text is in memory, and what is no text is refused.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SCENARIO_LIMITS } from '../../simulator/jobs/scenario/limits.ts';
import { CommandFailure, EXIT } from '../exit.ts';

const ENDING = /\.(yaml|yml|json)$/;

export interface ScenarioFiles {
  readonly files: readonly string[];
  /** One file was asked for, by its own name. */
  readonly isOne: boolean;
}

/** @throws {CommandFailure} for a directory without scenarios; whatever the file system says. */
export function findScenarioFiles(paths: readonly string[]): ScenarioFiles {
  const found = paths.map((path) => (statSync(path).isDirectory() ? filesIn(path) : [path]));
  return { files: found.flat(), isOne: paths.length === 1 && found[0]?.[0] === paths[0] };
}

/** @throws {CommandFailure} when it is too large or no text. */
export function readScenarioText(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile()) throw new CommandFailure(EXIT.badData, `${path}: is no file.`);
  // No character takes less than a byte.
  if (stats.size > SCENARIO_LIMITS.charactersMax)
    throw new CommandFailure(
      EXIT.badData,
      `${path}: has ${stats.size.toLocaleString('en-GB')} bytes, and a scenario has at most ${SCENARIO_LIMITS.charactersMax.toLocaleString('en-GB')}.`,
    );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new CommandFailure(EXIT.badData, `${path}: is no text in UTF-8.`);
  }
}

function filesIn(directory: string): readonly string[] {
  const names = readdirSync(directory)
    .filter((name) => ENDING.test(name))
    .sort();
  if (names.length > 0) return names.map((name) => join(directory, name));
  const what = `${directory}: has no scenario, which is a file that ends in .yaml, .yml or .json.`;
  throw new CommandFailure(EXIT.badData, what);
}
