/** Options and readings that the commands of agent runs share. */

import { type Command, InvalidArgumentError } from 'commander';
import { readSetting } from '../../programs/agents/plan/limits.ts';
import {
  openStoredData,
  type StoredData,
  type StoredRun,
} from '../../programs/agents/stored-runs.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { printable } from '../render/output.ts';

const DEFAULT_DATA = '.escapement';

export interface DataOptions {
  readonly data: string;
  readonly json?: boolean;
}

export function withDataOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'directory of the runs', DEFAULT_DATA)
    .option('--json', 'print JSON');
}

/** Several values of one option. */
export const collect = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  text,
];

/** The same of settings, each checked. */
export function collectSetting(text: string, before?: readonly string[]): readonly string[] {
  try {
    readSetting(text);
  } catch (thrown) {
    throw new InvalidArgumentError(messageOf(thrown));
  }
  return collect(text, before);
}

/** What a person adds to a command that looks at the same directory. */
export const whereText = (data: string): string =>
  data === DEFAULT_DATA ? '' : ` --data ${printable(data)}`;

/** A text as it is, anything else as JSON. */
export const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Opens the data to be looked at, for as long as `read` takes. */
export async function looking<T>(
  data: string,
  read: (stored: StoredData) => T | Promise<T>,
): Promise<T> {
  const opened = await openStoredData(data);
  try {
    return await read(opened);
  } finally {
    await opened.close();
  }
}

/** The run of that name, or the last one that was begun. */
export function runOf({ stored }: StoredData, name: string | undefined): StoredRun {
  const run = name === undefined ? stored.runs().at(-1) : stored.named(name);
  if (run !== undefined) return run;
  const what = name === undefined ? 'There are no runs.' : `There is no run "${printable(name)}".`;
  throw new CommandFailure(EXIT.broken, what);
}
