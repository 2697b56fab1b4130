/**
 * Failure files: a failing test case with the module and the machine that it belongs to, so that `test
 * replay` can play it again.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { LiveFailure } from '../../testing/model/live.ts';
import { CommandFailure, EXIT } from '../exit.ts';

const FORMAT = 'escapement.test-failure';
const VERSION = 1;

export interface FailureFile {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  /** Relative to the folder of the file. */
  readonly module: string;
  readonly driver: string | undefined;
  readonly machine: string;
  readonly failure: LiveFailure;
}

export interface FailureSource {
  readonly module: string;
  readonly driver: string | undefined;
  readonly machine: string;
}

/** Writes one file for each failure, and says where. */
export function writeFailures(
  folder: string,
  { module, driver, machine }: FailureSource,
  failures: readonly LiveFailure[],
): string[] {
  mkdirSync(folder, { recursive: true });
  return failures.map((failure, index) => {
    const path = join(folder, `${machine.replace(/[^\w.-]/g, '_')}-${index + 1}.json`);
    const file: FailureFile = {
      format: FORMAT,
      version: VERSION,
      module: relative(resolve(folder), resolve(module)),
      driver: driver === undefined ? undefined : relative(resolve(folder), resolve(driver)),
      machine,
      failure,
    };
    writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`);
    return path;
  });
}

/** @throws {CommandFailure} when it is no such file. */
export function readFailure(path: string): FailureFile & { readonly folder: string } {
  const text = readFileSync(path, 'utf8');
  let file: FailureFile;
  try {
    file = JSON.parse(text);
  } catch (thrown) {
    throw new CommandFailure(EXIT.badData, `${path}: It is not JSON.`, { cause: thrown });
  }
  const isOne = file?.format === FORMAT && Array.isArray(file.failure?.test?.steps);
  if (!isOne)
    throw new CommandFailure(EXIT.badData, `${path}: It is no failure that "test" has written.`);
  if (file.version !== VERSION)
    throw new CommandFailure(
      EXIT.badData,
      `${path}: It has version ${String(file.version)}; this release reads ${VERSION}.`,
    );
  return { ...file, folder: resolve(path, '..') };
}
